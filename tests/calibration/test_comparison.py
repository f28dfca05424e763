"""A/B on the numbers: published correlated kappas, and what must hold of any two judges."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotator.measures.agreement import table_agreement
from annotator.measures.coefficients import kappas
from annotator.measures.estimate import Estimate, estimates
from annotator.measures.interval import BCA, Interval, no_interval
from annotator.measures.optimism import selection_optimism
from annotator.measures.permutation import swap_permutation
from judge.calibration.comparison.comparison import Comparison, compare_ratings
from judge.calibration.comparison.difference import Difference, kappa_difference, paired_error
from judge.calibration.comparison.ratings import Ratings, rating_units

# McKenzie et al. 1996 (J Psychiatr Res 30:483), as in Vanbelle and Albert 2008: people, A, B.
MCKENZIE = {"000": 33, "001": 2, "010": 1, "011": 1, "100": 2, "101": 4, "111": 7}


def rows_of(counts: dict[str, int]) -> np.ndarray:
    return np.array([[int(c) for c in said] for said, n in counts.items() for _ in range(n)])


def rated(rows: np.ndarray, conversations=None, categories: int = 2, **design) -> Ratings:
    """The columns after the first as judges held to the first; sigma is whether the label is 0."""
    outcomes = rows[:, 1:, np.newaxis]
    own = list(range(len(rows)))
    return Ratings(
        labels=rows[:, 0],
        label_outcomes=outcomes,
        sigmas=np.minimum(rows[:, 0], 1),
        sigma_outcomes=np.minimum(outcomes, 1),
        categories=categories,
        conversations=own if conversations is None else conversations,
        **design,
    )


def compared(rows: np.ndarray, conversations=None, categories: int = 2, **options) -> Comparison:
    ratings = rated(rows, conversations, categories)
    names = [f"judge {k}" for k in range(rows.shape[1] - 1)]
    return compare_ratings(
        ratings, names, [str(k) for k in range(categories)], **{"seed": 1} | options
    )


def noisy(n: int, seed: int, wrong: tuple[float, ...], shared: float = 0.6) -> np.ndarray:
    """References in seven classes and judges that err with these chances, partly together."""
    chance = np.random.default_rng(seed)
    truth = chance.choice(7, size=n, p=[0.30, 0.20, 0.15, 0.12, 0.10, 0.08, 0.05])
    common, other = chance.random(n), chance.integers(1, 7, size=n)
    columns = [truth]
    for share in wrong:
        own, elsewhere = chance.random(n), chance.integers(1, 7, size=n)
        together = chance.random(n) < shared
        errs = np.where(together, common, own) < share
        columns.append((truth + errs * np.where(together, other, elsewhere)) % 7)
    return np.column_stack(columns)


class TestMcKenzie:
    def test_kappas_and_their_difference(self):
        found = compared(rows_of(MCKENZIE))
        (challenge,) = found.challenges
        assert found.baseline.labels.value == pytest.approx(0.538106, abs=5e-7)
        assert challenge.challenger.labels.value == pytest.approx(0.746450, abs=5e-7)
        assert challenge.labels.estimate.value == pytest.approx(0.208344, abs=5e-7)

    def test_the_error_is_the_paired_one(self):
        """.138952; taking the two for independent gives .176833."""
        (challenge,) = compared(rows_of(MCKENZIE)).challenges
        assert challenge.labels.standard_error == pytest.approx(0.138952, abs=5e-7)
        error = [
            table_agreement(np.array(c.confusion.counts)[:, :2]).standard_error
            for c in (compared(rows_of(MCKENZIE)).baseline, challenge.challenger)
        ]
        assert np.hypot(*error) == pytest.approx(0.176833, abs=5e-7)

    def test_interval_and_p(self):
        """Of 200,000 percentile resamples: [-.060, .501], p near .130; swap permutation .171."""
        (challenge,) = compared(rows_of(MCKENZIE)).challenges
        difference = challenge.labels
        assert difference.estimate.interval.low == pytest.approx(-0.05, abs=0.025)
        assert difference.estimate.interval.high == pytest.approx(0.51, abs=0.025)
        assert difference.estimate.two_sided_p == pytest.approx(0.13, abs=0.03)
        assert (difference.permutation.exact, difference.permutation.discordant) == (True, 7)
        assert difference.permutation.p == pytest.approx(0.171875)
        assert difference.verdict == "inconclusive"
        assert difference.detectable == pytest.approx(2.8016 * 0.138952, abs=1e-4)


def test_exchanging_the_two_turns_the_sign_and_nothing_else():
    rows = noisy(120, 3, (0.3, 0.15))
    (one,), (other,) = (compared(r, categories=7).challenges for r in (rows, rows[:, [0, 2, 1]]))
    assert one.labels.estimate.value == -other.labels.estimate.value
    assert one.labels.standard_error == pytest.approx(other.labels.standard_error)
    interval, turned = one.labels.estimate.interval, other.labels.estimate.interval
    assert (interval.low, interval.high) == pytest.approx((-turned.high, -turned.low), abs=0.02)
    assert one.labels.permutation.p == pytest.approx(other.labels.permutation.p, abs=0.01)
    assert (one.labels.verdict, other.labels.verdict) == ("better", "worse")
    assert (one.fixed, one.broken) == (other.broken, other.fixed)
    assert (one.right_labels.test.only_a, one.right_labels.test.only_b) == (
        other.right_labels.test.only_b,
        other.right_labels.test.only_a,
    )


def test_the_order_of_items_does_not_matter():
    rows = noisy(90, 4, (0.3, 0.2))
    (one,), (other,) = (compared(r, categories=7).challenges for r in (rows, rows[::-1]))
    assert one.labels.as_dict() == other.labels.as_dict()
    assert [c.as_dict() for c in one.by_label] == [c.as_dict() for c in other.by_label]


@settings(max_examples=5)
@given(st.integers(0, 10_000), st.integers(5, 60))
def test_a_judge_against_itself_is_no_different(seed, n):
    rows = noisy(n, seed, (0.3,))
    (challenge,) = compared(rows[:, [0, 1, 1]], categories=7).challenges
    assert challenge.labels.estimate.value in (0.0, None)
    assert (challenge.fixed, challenge.broken) == ((), ())
    assert challenge.right_labels.test.p == 1.0
    if challenge.labels.permutation:
        assert challenge.labels.permutation.p == 1.0
    assert challenge.labels.verdict == "inconclusive"


def test_fixed_and_broken_items_are_those_that_one_alone_has_right():
    rows = np.array([[0, 0, 1], [1, 0, 1], [0, 1, 0], [1, 1, 1], [0, 1, 1]])
    (challenge,) = compared(rows).challenges
    assert (challenge.fixed, challenge.broken) == ((1, 2), (0,))


def test_turns_of_one_conversation_are_drawn_together():
    """Every item five times: as many conversations, as wide an interval, as large an error.

    The error has Q/(Q - 1) as soon as turns share conversations.
    """
    rows = noisy(60, 5, (0.3, 0.15))
    often = np.repeat(rows, 5, axis=0)
    (one,) = compared(rows, categories=7).challenges
    found = compared(often, np.repeat(np.arange(60), 5).tolist(), categories=7)
    (five,) = found.challenges
    assert (found.n, found.units, found.clustered) == (300, 60, True)
    assert five.labels.estimate.interval == one.labels.estimate.interval
    assert five.labels.standard_error == pytest.approx(one.labels.standard_error * (60 / 59) ** 0.5)
    assert five.labels.permutation.p == pytest.approx(one.labels.permutation.p)
    # McNemar's knows of no conversations; exchanging whole ones gives what the items alone do.
    assert five.right_labels.test.p < one.right_labels.test.p
    assert one.right_labels.swapped is None
    assert five.right_labels.swapped.p == pytest.approx(one.right_labels.test.p, abs=0.01)
    share = five.right_labels.share
    assert share.value == pytest.approx(five.right_labels.test.difference)
    assert share.interval == one.right_labels.share.interval


def test_several_challengers_share_resamples_and_pay_for_being_many():
    rows = noisy(200, 6, (0.3, 0.15, 0.3))
    better, same = compared(rows, categories=7).challenges
    alone = compared(rows[:, :3], categories=7).challenges[0]
    assert better.labels.estimate.value == alone.labels.estimate.value
    assert better.labels.verdict == "better"
    assert better.labels.adjusted_p == pytest.approx(2 * better.labels.estimate.two_sided_p)
    assert same.labels.verdict == "inconclusive"


def test_the_error_of_a_stratified_sample_is_the_jackknifes():
    """Both take each stratum around its own mean; pooled, the error would be a quarter larger."""
    rows = np.vstack([noisy(150, 8, (0.1, 0.02)), noisy(50, 9, (0.3, 0.9))])
    strata, weights = np.repeat([0, 1], [150, 50]), np.repeat([1.0, 4.0], [150, 50])
    units, blocks = rating_units(rated(rows, categories=7, strata=strata, weights=weights))
    first, second = blocks.labels(0), blocks.labels(1)
    found = estimates(units, [kappa_difference("d", first, second)], seed=1, resamples=200)["d"]
    error = paired_error(units, first, second)
    assert error == pytest.approx(found.standard_error, rel=0.02)
    pooled, _ = rating_units(rated(rows, categories=7, weights=weights))
    assert paired_error(pooled, first, second) > 1.2 * error


def test_equal_judges_are_told_apart_in_one_study_of_twenty():
    """100 studies of 100 items at 5%: the binomial gives 1 to 12 false alarms with chance .99."""
    alarms = swapped = 0
    for study in range(100):
        units, blocks = rating_units(rated(noisy(100, 500 + study, (0.25, 0.25)), categories=7))
        first, second = blocks.labels(0), blocks.labels(1)
        measure = kappa_difference("d", first, second)
        found = estimates(units, [measure], seed=study, resamples=300)["d"]
        permutation = swap_permutation(units, first, second, kappas, seed=study, permutations=299)
        alarms += found.two_sided_p <= 0.05
        swapped += permutation.p <= 0.05
    assert 1 <= alarms <= 12
    assert 1 <= swapped <= 12


@pytest.mark.parametrize(
    ("low", "high", "p", "verdict"),
    [
        (0.02, 0.30, 0.03, "better"),
        (-0.30, -0.02, 0.03, "worse"),
        (-0.01, 0.30, 0.03, "inconclusive"),  # of few items p can pass while the interval holds 0
        (0.02, 0.30, 0.06, "inconclusive"),  # Holm's p, of several challengers
        (0.02, 0.30, None, "inconclusive"),
    ],
)
def test_a_verdict_needs_both_p_and_interval(low, high, p, verdict):
    estimate = Estimate("d", (low + high) / 2, Interval(low, high, BCA), 0.1, no_interval(""), 50)
    assert Difference(estimate, 0.1, no_interval(""), None, p).verdict == verdict


@pytest.mark.parametrize(("better", "verdict"), [(2, "better"), (1, "worse")])
def test_where_all_resamples_are_the_same_the_swaps_decide(better, verdict):
    """One judge always right, one that knows a single label: kappa 1 and 0 in every resample."""
    rows = np.zeros((20, 3), dtype=np.int64)
    rows[:, 0] = rows[:, better] = np.arange(20) % 7
    (challenge,) = compared(rows, categories=7).challenges
    difference = challenge.labels
    assert abs(difference.estimate.value) == 1
    assert difference.estimate.interval.low is None
    assert (difference.p_method, difference.p) == ("swap permutation", difference.permutation.p)
    assert (difference.standard_error, difference.detectable) == (0.0, None)
    assert difference.verdict == verdict
    assert difference.large_sample.low is None


def test_a_label_with_few_positives_is_not_tested():
    rows = noisy(80, 7, (0.3, 0.15))
    (challenge,) = compared(rows, categories=7).challenges
    for change in challenge.by_label:
        tested = change.support >= 10
        assert (change.p is not None) == (change.adjusted_p is not None) == tested
        assert (change.difference.interval.low is not None) == tested
        assert change.difference.value == pytest.approx(change.after - change.before)
    tested = [change for change in challenge.by_label if change.p is not None]
    assert 0 < len(tested) < 7
    assert all(change.adjusted_p >= change.p for change in tested)


def test_one_class_is_undefined_and_named():
    rows = np.zeros((20, 3), dtype=np.int64)
    (challenge,) = compared(rows).challenges
    assert challenge.labels.estimate.value is None
    assert challenge.labels.estimate.undefined == "a kappa is undefined"
    assert challenge.labels.permutation is None
    assert challenge.labels.verdict == "inconclusive"


@pytest.mark.parametrize(
    ("n", "prompts", "simulated"),
    [(50, 10, 0.091), (100, 10, 0.066), (100, 30, 0.088), (200, 10, 0.047), (200, 30, 0.063)],
)
def test_selection_optimism_is_what_simulation_gave(n, prompts, simulated):
    """Prompts of true kappa .70 on the same items: what they do not share has SE .43/√n."""
    assert selection_optimism(0.43 / n**0.5, prompts) == pytest.approx(simulated, rel=0.05)
