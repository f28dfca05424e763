"""What must hold for every table."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from lone_items import alone, kappa_of_tables

from annotator.measures.agreement import influence, kappas, table_agreement
from annotator.measures.confusion import collapsing, parseable, tally

LETTERS = "abcd"
pairs = st.lists(st.tuples(st.sampled_from(LETTERS), st.sampled_from(LETTERS)), max_size=40)
extended = st.lists(
    st.tuples(st.sampled_from(LETTERS), st.sampled_from([*LETTERS, "invalid"])),
    min_size=1,
    max_size=40,
)


def table(rows, judge_only=()):
    return tally(rows, LETTERS, judge_only).table


@given(pairs)
def test_kappa_is_symmetric(rows):
    forward = table_agreement(table(rows))
    backward = table_agreement(table([(b, a) for a, b in rows]))
    assert forward.kappa == backward.kappa
    assert forward.standard_error == pytest.approx(backward.standard_error, abs=1e-12)


@given(pairs, st.randoms())
def test_the_order_of_rows_does_not_matter(rows, random):
    shuffled = list(rows)
    random.shuffle(shuffled)
    assert tally(shuffled, LETTERS) == tally(rows, LETTERS)


@given(extended, st.permutations(LETTERS))
def test_the_names_of_labels_do_not_matter(rows, names):
    renamed = dict(zip(LETTERS, names, strict=True)) | {"invalid": "invalid"}
    moved = [(renamed[a], renamed[b]) for a, b in rows]
    assert (
        table_agreement(table(rows, ["invalid"])).kappa
        == table_agreement(table(moved, ["invalid"])).kappa
    )


@given(extended, st.integers(2, 5))
def test_duplicated_data_leave_kappa_and_shrink_its_error(rows, times):
    once = table_agreement(table(rows, ["invalid"]))
    often = table_agreement(table(rows * times, ["invalid"]))
    if once.kappa is None:
        assert often.kappa is None
    else:
        assert often.kappa == pytest.approx(once.kappa, abs=1e-12)
    if once.standard_error is not None:
        assert often.standard_error == pytest.approx(once.standard_error / times**0.5, abs=1e-9)


@given(extended)
def test_kappa_is_bounded_and_one_only_without_disagreement(rows):
    found = table_agreement(table(rows, ["invalid"]))
    assume(found.kappa is not None)
    assert -1 <= found.kappa <= 1
    assert (found.kappa == 1) == all(a == b for a, b in rows)


@given(extended)
def test_an_interval_contains_its_estimate(rows):
    items = alone(table(rows, ["invalid"]))
    found = kappa_of_tables(items, resamples=300)
    if found.interval.low is None:
        assert found.interval.high is None
        assert found.interval.method.startswith("none: ")
    else:
        assert -1 <= found.interval.low <= found.value <= found.interval.high <= 1


@given(extended)
def test_influence_is_centred_and_gives_the_variance_of_fleiss_cohen_everitt(rows):
    counts = table(rows, ["invalid"])
    found = table_agreement(counts)
    assume(found.kappa is not None)
    psi, n = influence(counts), found.n
    assert (counts * psi).sum() == pytest.approx(0, abs=1e-9 * n)
    # The formula as Fleiss, Cohen and Everitt print it, on the table made square.
    p = np.vstack([counts, np.zeros(5)]) / n
    row, column, k = p.sum(axis=1), p.sum(axis=0), found.kappa
    weight = np.eye(5) - (1 - k) * (column[:, None] + row[None, :])
    variance = (p * weight**2).sum() - (k - found.expected * (1 - k)) ** 2
    variance /= n * (1 - found.expected) ** 2
    assert (counts * psi**2).sum() / n**2 == pytest.approx(variance, abs=1e-12)


@given(extended, st.permutations([0, 0, 1, 1]))
def test_views_keep_or_drop_what_they_say(rows, groups):
    counts = table(rows, ["invalid"])
    collapsed = collapsing(groups)(counts)
    assert collapsed.shape == (2, 3)
    assert collapsed.sum() == counts.sum()
    assert collapsed[:, 2].sum() == counts[:, 4].sum()
    assert parseable(counts).sum() == counts[:, :4].sum()
    again = tally(
        [(str(groups[LETTERS.index(a)]), b if b == "invalid" else str(groups[LETTERS.index(b)]))
         for a, b in rows],
        "01",
        ["invalid"],
    )  # fmt: skip
    assert (again.table == collapsed).all()


@given(st.lists(extended, min_size=1, max_size=5))
def test_kappas_of_many_tables_are_those_of_each(many):
    tables = np.stack([table(rows, ["invalid"]) for rows in many])
    for found, counts in zip(kappas(tables), tables, strict=True):
        expected = table_agreement(counts).kappa
        assert np.isnan(found) if expected is None else found == expected
