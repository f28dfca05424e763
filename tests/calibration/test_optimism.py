"""Selection optimism: what the best of several equally good prompts gains by chance."""

import numpy as np
import pytest

from annotator.measures.optimism import expected_maximum, selection_optimism
from annotator.measures.sample_size import MARGINS, error_per_item
from rubrics import InputError


@pytest.mark.parametrize(
    ("m", "expected"),
    # Harter 1961 (Biometrika 48:151), expected values of normal order statistics, five decimals.
    [(1, 0), (2, 0.56419), (3, 0.84628), (5, 1.16296), (10, 1.53875), (30, 2.04276)],
)
def test_expected_maxima_are_the_published_ones(m, expected):
    assert expected_maximum(m) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(
    ("n", "m", "optimism"),
    # Simulated: m prompts of kappa .70 judged on the same n items.
    [(50, 10, 0.091), (100, 10, 0.066), (100, 30, 0.088), (200, 10, 0.047), (200, 30, 0.063)],
)
def test_one_error_per_item_gives_all_simulated_values(n, m, optimism):
    """Hence it depends on n and m as it should; what prompts share is no part of the error.

    The whole error of a kappa, which takes them for independent, is an upper bound.
    """
    assert selection_optimism(0.43 / np.sqrt(n), m) == pytest.approx(optimism, abs=0.003)
    whole = error_per_item(kappa=0.70, margins=MARGINS) / np.sqrt(n)
    assert optimism < selection_optimism(whole, m) < 1.35 * optimism


def test_what_prompts_have_in_common_cannot_be_chosen():
    """Prompts of one correlation: a part that all share, and one of their own."""
    rng = np.random.default_rng(3)
    shared, own = rng.normal(size=(20_000, 1)), rng.normal(size=(20_000, 8))
    best = (np.sqrt(0.6) * shared + np.sqrt(0.4) * own).max(axis=1).mean()
    assert selection_optimism(1.0, 8, correlation=0.6) == pytest.approx(best, abs=0.03)
    assert selection_optimism(1.0, 8, correlation=1.0) == 0


def test_a_single_prompt_and_no_error_give_none():
    assert selection_optimism(0.05, 1) == pytest.approx(0, abs=1e-12)
    assert selection_optimism(0.0, 10) == 0


@pytest.mark.parametrize(
    ("error", "prompts", "correlation"), [(0.1, 0, 0), (-0.1, 2, 0), (0.1, 2, 1.1)]
)
def test_senseless_questions_are_refused(error, prompts, correlation):
    with pytest.raises(InputError, match="expected 1 prompt or more"):
        selection_optimism(error, prompts, correlation=correlation)
