"""How many more labels: scaled from what was seen, or planned where that says nothing."""

import numpy as np
import pytest
from lone_items import alone, kappa_of_tables

from annotator.measures.agreement import table_agreement
from annotator.measures.sample_size import (
    ENOUGH_TO_SCALE,
    KAPPA,
    MARGINS,
    items_for_half_width,
    labels_needed,
)

PLANNED = items_for_half_width(0.10, kappa=KAPPA, margins=MARGINS)


def needed(table) -> int | None:
    items = alone(table)
    return labels_needed(kappa_of_tables(items, seed=1))


def test_the_planned_number_is_that_of_the_literature():
    """Kappa .726 at seven skewed margins: tau = .5109, hence 101 items for ±0.10."""
    margins = np.array([0.30, 0.20, 0.15, 0.12, 0.10, 0.08, 0.05])
    table = 1e6 * (np.outer(margins, margins) * 0.274 + np.diag(margins) * 0.726)
    table = table.round().astype(np.int64)
    tau = table_agreement(table).standard_error * np.sqrt(table.sum())
    assert tau == pytest.approx(0.5109, abs=5e-5)
    assert np.ceil((1.959964 * tau / 0.10) ** 2) == PLANNED


def test_the_observed_width_is_scaled():
    table = np.array([[30, 10], [10, 10]])
    more = needed(table)
    total = table.sum() + more
    # Drawing that many with the same shares comes out at the wanted width.
    larger = np.round(table * total / table.sum()).astype(np.int64)
    found = kappa_of_tables(alone(larger), seed=2).interval
    assert found.half_width == pytest.approx(0.10, abs=0.005)


def test_enough_is_enough():
    assert needed([[200, 20], [20, 200]]) == 0


def test_few_labels_are_not_scaled():
    assert needed([[3, 1], [1, 3]]) == PLANNED - 8
    assert ENOUGH_TO_SCALE > 8


def test_no_interval_takes_the_planning_value():
    assert needed([[50, 0], [0, 0]]) == PLANNED - 50
    assert needed([[0, 0], [0, 0]]) == PLANNED


def test_as_many_as_planned_and_still_no_interval_gives_no_number():
    assert needed([[150, 0], [30, 0]]) is None


def test_items_that_share_conversations_need_more():
    table = np.array([[30, 10], [10, 10]])
    in_pairs = alone(table) * 2
    found = labels_needed(kappa_of_tables(in_pairs, seed=1))
    assert found == pytest.approx(2 * needed(table), abs=4)


def test_few_conversations_are_not_scaled():
    in_fours = alone([[5, 2], [2, 5]]) * 4
    kappa = kappa_of_tables(in_fours, seed=1)
    assert kappa.agreement.n > ENOUGH_TO_SCALE > kappa.conversations
    assert labels_needed(kappa) == PLANNED - 56
