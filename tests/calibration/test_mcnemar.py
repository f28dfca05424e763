"""McNemar's exact test on published and recomputed counts (statistics: SAS, scipy)."""

import pytest

from annotator.measures.mcnemar import NONE_DISCORDANT, mcnemar


@pytest.mark.parametrize(
    ("only_a", "only_b", "p"), [(86, 150, 3.715936e-05), (3, 12, 0.03515625), (0, 11, 0.0009765625)]
)
def test_exact_p(only_a, only_b, p):
    assert mcnemar(only_a, only_b, 400).p == pytest.approx(p, rel=1e-6)
    assert mcnemar(only_b, only_a, 400).p == mcnemar(only_a, only_b, 400).p


def test_no_discordant_items_is_no_evidence_and_says_so():
    found = mcnemar(0, 0, 30)
    assert (found.p, found.note, found.difference) == (1.0, NONE_DISCORDANT, 0.0)


def test_the_difference_is_the_challengers_share_less_the_baselines():
    assert mcnemar(2, 5, 50).difference == pytest.approx(0.06)
    assert mcnemar(0, 0, 0).difference is None


def test_a_tie_has_p_1():
    assert mcnemar(4, 4, 20).p == 1.0
