"""A/B on the numbers: published correlated kappas, and what must hold of any two judges."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.calibration.comparison.comparison import Comparison, compare_ratings
from judge.calibration.comparison.ratings import Ratings
from judge.calibration.measures.agreement import table_agreement
from judge.calibration.measures.optimism import selection_optimism

# McKenzie et al. 1996 (J Psychiatr Res 30:483), as in Vanbelle and Albert 2008: people, A, B.
MCKENZIE = {"000": 33, "001": 2, "010": 1, "011": 1, "100": 2, "101": 4, "111": 7}


def rows_of(counts: dict[str, int]) -> np.ndarray:
    return np.array([[int(c) for c in said] for said, n in counts.items() for _ in range(n)])


def compared(rows: np.ndarray, conversations=None, categories: int = 2, **options) -> Comparison:
    """Compare the columns after the first with each other, held to the first; labels are sigma."""
    outcomes = rows[:, 1:, np.newaxis]
    own = list(range(len(rows)))
    ratings = Ratings(
        labels=rows[:, 0],
        label_outcomes=outcomes,
        sigmas=np.minimum(rows[:, 0], 1),
        sigma_outcomes=np.minimum(outcomes, 1),
        categories=categories,
        conversations=own if conversations is None else conversations,
    )
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
    assert (one.fixed, one.broken) == (other.broken, other.fixed)
    assert (one.right_labels.only_a, one.right_labels.only_b) == (
        other.right_labels.only_b,
        other.right_labels.only_a,
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
    assert challenge.right_labels.p == 1.0
    if challenge.labels.permutation:
        assert challenge.labels.permutation.p == 1.0
    assert challenge.labels.verdict == "inconclusive"


def test_fixed_and_broken_items_are_those_that_one_alone_has_right():
    rows = np.array([[0, 0, 1], [1, 0, 1], [0, 1, 0], [1, 1, 1], [0, 1, 1]])
    (challenge,) = compared(rows).challenges
    assert (challenge.fixed, challenge.broken) == ((1, 2), (0,))


def test_turns_of_one_conversation_are_drawn_together():
    """Every item five times: as many conversations, as wide an interval, as large an error."""
    rows = noisy(60, 5, (0.3, 0.15))
    often = np.repeat(rows, 5, axis=0)
    (one,) = compared(rows, categories=7).challenges
    found = compared(often, np.repeat(np.arange(60), 5).tolist(), categories=7)
    (five,) = found.challenges
    assert (found.n, found.units, found.clustered) == (300, 60, True)
    assert five.labels.estimate.interval == one.labels.estimate.interval
    assert five.labels.standard_error == pytest.approx(one.labels.standard_error)
    assert five.labels.permutation.p == pytest.approx(one.labels.permutation.p)
    assert five.right_labels.p < one.right_labels.p  # McNemar's knows of no conversations


def test_several_challengers_share_resamples_and_pay_for_being_many():
    rows = noisy(200, 6, (0.3, 0.15, 0.3))
    better, same = compared(rows, categories=7).challenges
    alone = compared(rows[:, :3], categories=7).challenges[0]
    assert better.labels.estimate.value == alone.labels.estimate.value
    assert better.labels.verdict == "better"
    assert better.labels.adjusted_p == pytest.approx(2 * better.labels.estimate.two_sided_p)
    assert same.labels.verdict == "inconclusive"


def test_a_label_with_few_positives_is_not_tested():
    rows = noisy(80, 7, (0.3, 0.15))
    (challenge,) = compared(rows, categories=7).challenges
    for change in challenge.by_label:
        tested = change.support >= 10
        assert (change.p is not None) == (change.adjusted_p is not None) == tested
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
