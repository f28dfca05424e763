"""Paired rates, sign flips, corrected differences and bounds: identities and published values."""

from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import bdtr
from scipy.stats import hypergeom

from annotator.measures.double_sample import Judged, Labelled, unseen_variance
from annotator.measures.interval import NORMAL_REACH, student_reach
from annotator.measures.mcnemar import mcnemar
from annotator.measures.misclassification import JudgeErrors
from annotator.measures.paired_difference import NONE_SHARED, difference_of, paired_difference
from annotator.measures.paired_rates import (
    LONE,
    NONE_DIFFERS,
    contrast,
    paired_rates,
    shared_conversations,
)
from annotator.measures.rate_bound import (
    Share,
    Side,
    bound_p,
    corrected_bound_p,
    judged_of_label,
    observed_share,
)
from annotator.measures.rate_difference import corrected_difference, two_sample_difference
from annotator.measures.sign_flip import sign_flip

GENUINE = np.array([1, 0])


def judged(hits, of, conversations=None):
    hits = np.array(hits, dtype=float)
    counts = np.column_stack([hits, np.broadcast_to(of, hits.shape) - hits])
    return Judged(counts, np.arange(len(hits)) if conversations is None else conversations)


def enumerated_p(differences):
    signs = np.array(list(product([1, -1], repeat=len(differences))))
    return float((np.abs(signs @ differences) >= abs(differences.sum()) - 1e-9).mean())


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 20))
def test_with_one_sample_each_the_sign_flips_are_mcnemars_exact_test(rises, falls, ties):
    one = judged([0] * rises + [1] * falls + [1] * ties + [0, 0], 1)
    other = judged([1] * rises + [0] * falls + [1] * ties + [0, 0], 1)
    found = paired_difference(one, other, GENUINE, seed=0)
    assert found.p == pytest.approx(mcnemar(falls, rises, len(one.counts)).p, rel=1e-9, abs=1e-14)
    assert found.differing == rises + falls
    assert found.exact


@pytest.mark.parametrize("step", [1, 4, 12])
def test_with_several_samples_every_flip_is_counted(step):
    rng = np.random.default_rng(step)
    for _ in range(10):
        differences = rng.integers(-step, step + 1, 9) / step
        found = sign_flip(differences, seed=0)
        assert found.exact
        assert found.p == pytest.approx(enumerated_p(differences), abs=1e-12)


def test_differences_without_a_common_step_are_flipped_at_random_and_p_is_never_0():
    differences = np.random.default_rng(3).normal(0.3, 1, 12)
    found = sign_flip(differences, seed=1)
    assert not found.exact
    assert found.p == pytest.approx(enumerated_p(differences), abs=0.015)
    assert found == sign_flip(differences, seed=1) != sign_flip(differences, seed=2)
    assert sign_flip(1 + np.random.default_rng(3).random(60), seed=1).p == 1 / 20_001


def test_a_p_beyond_double_precision_is_small_and_not_0():
    assert 0 < sign_flip(np.ones(500), seed=0).p < 1e-14


def test_only_shared_conversations_are_compared_whatever_their_order():
    one = judged([1, 0, 1], 1, np.array([7, 3, 5]))
    other = judged([2, 4], 4, np.array([3, 7]))
    first, second = shared_conversations([one, other])
    assert first.conversations.tolist() == second.conversations.tolist() == [3, 7]
    assert (first.counts[:, 0].tolist(), second.counts[:, 0].tolist()) == ([0, 1], [2, 4])
    found = paired_difference(one, other, GENUINE, seed=0)
    assert (found.conversations, found.first, found.second, found.value) == (2, 0.5, 0.75, 0.25)


def test_no_shared_conversation_is_named():
    found = paired_difference(judged([1], 1), judged([1], 1, np.array([9])), GENUINE, seed=0)
    assert (found.conversations, found.value, found.p) == (0, None, None)
    assert found.undefined == NONE_SHARED
    assert found.interval.method == f"none: {NONE_SHARED}"
    assert corrected_difference(found, JudgeErrors(0.9, 0.9, 0.01)).undefined == NONE_SHARED


def test_a_single_shared_conversation_has_a_value_but_no_test():
    found = paired_difference(judged([0], 1), judged([1], 1), GENUINE, seed=0)
    assert (found.value, found.p, found.standard_error, found.undefined) == (1.0, None, None, LONE)
    assert found.interval.low is None


def test_where_none_differs_p_is_1_and_the_interval_is_that_of_what_was_never_seen():
    same = judged([1, 0] * 25, 1)
    found = paired_difference(same, same, GENUINE, seed=0)
    assert (found.value, found.p, found.note) == (0.0, 1.0, NONE_DIFFERS)
    assert found.interval.high == pytest.approx(NORMAL_REACH * (2 * unseen_variance(50)) ** 0.5)
    assert found.interval.low == -found.interval.high


def test_the_interval_of_a_paired_difference_as_agresti_has_it():
    """Approval of a prime minister, 1,600 people asked twice (Agresti 2002, table 10.1)."""
    first = np.repeat([1.0, 1, 0, 0], [794, 150, 86, 570])
    second = np.repeat([1.0, 0, 1, 0], [794, 150, 86, 570])
    found = difference_of(first, second, seed=0)
    assert found.value == pytest.approx(-0.04)
    assert found.standard_error == pytest.approx(0.0095, abs=1e-4)
    assert found.p == pytest.approx(3.715936e-05, rel=1e-6)
    assert (round(found.interval.low, 2), round(found.interval.high, 2)) == (-0.06, -0.02)


def test_few_that_differ_leave_room_for_as_many_more_as_were_not_seen():
    """Of the plain formula 80% of intervals hold a true difference of 3 in 100."""
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(400):
        second = (rng.random(100) < 0.03).astype(float)
        interval = difference_of(np.zeros(100), second, seed=0).interval
        held += interval.low <= 0.03 <= interval.high
    assert held >= 0.93 * 400


def test_rates_vary_together_and_their_difference_less_than_if_apart():
    rng = np.random.default_rng(2)
    ready = rng.random(80)
    one, other = (judged(rng.binomial(4, ready), 4) for _ in range(2))
    paired = paired_rates([one, other], GENUINE)
    away = (other.counts[:, 0] - one.counts[:, 0]) / 4
    found = contrast(paired, np.array([-1, 1]))
    assert found.estimate == pytest.approx(away.mean())
    assert found.standard_error == pytest.approx(away.std(ddof=1) / 80**0.5)
    apart = contrast(
        paired_rates([one, judged(other.counts[:, 0], 4, np.arange(80) + 80)], GENUINE),
        np.array([-1, 1]),
    )
    assert apart.standard_error > 1.3 * found.standard_error


def test_few_conversations_go_by_students_t():
    rng = np.random.default_rng(4)
    paired = paired_rates([judged(rng.binomial(4, p, 12), 4) for p in (0.4, 0.6)], GENUINE)
    found = contrast(paired, np.array([-1, 1]))
    assert found.interval.half_width == pytest.approx(student_reach(11) * found.standard_error)
    assert found.interval.method == "delta method, t(11)"


def test_a_rate_that_is_low_by_chance_is_not_taken_for_a_sure_one():
    """1 of 100 at T = 0 and 24 of 400 at T = 0.3: by the first's own variance p would be 0.0003."""
    paired = paired_rates([judged([1] + [0] * 99, 1), judged([0] * 76 + [1] * 24, 4)], GENUINE)
    found = contrast(paired, np.array([-1, 1]))
    assert abs(found.estimate / found.standard_error) > 2.9
    assert found.p > 0.02
    assert paired_rates([judged([0] * 9, 1)] * 2, GENUINE).covariance[0, 0] == unseen_variance(9)


def test_a_contrast_without_any_variance_is_named():
    half = paired_rates([judged([2] * 40, 4), judged([2] * 40, 4)], GENUINE)
    found = contrast(half, np.array([-1, 1]))
    assert (found.estimate, found.p, found.note) == (0.0, 1.0, NONE_DIFFERS)
    risen = contrast(paired_rates([judged([1] * 40, 4), judged([3] * 40, 4)], GENUINE),
                     np.array([-1, 1]))  # fmt: skip
    assert risen.note == "all conversations differ alike"
    assert risen.interval.low < 0.5 < risen.interval.high
    assert risen.p < 0.001
    lone = contrast(paired_rates([judged([1], 4), judged([3], 4)], GENUINE), np.array([-1, 1]))
    assert (lone.p, lone.interval.low, lone.note) == (None, None, LONE)


def test_no_interval_of_a_contrast_is_wider_than_what_rates_can_do():
    few = [judged([0, 1, 0], 1), judged([1, 0, 1], 1)]
    found = contrast(paired_rates(few, GENUINE), np.array([-1.0, 1.0]))
    assert (found.interval.low, found.interval.high) == (-1.0, 1.0)


def test_a_condition_without_turns_is_refused():
    with pytest.raises(ValueError, match="every condition needs a turn"):
        paired_rates([judged([1], 1), judged([], 1)], GENUINE)


def test_of_two_samples_each_adds_its_own_variance():
    one = judged([1] * 3 + [0] * 7, 1)
    other = judged([1] * 14 + [0] * 6, 1, np.arange(10, 30))
    found = two_sample_difference(one, other, GENUINE, seed=0)
    assert (found.conversations, found.first, found.second) == (30, 0.3, 0.7)
    assert found.value == pytest.approx(0.4)
    drawn = np.arange(18)  # of the 17 hits, in the second sample
    as_far = np.abs(drawn / 20 - (17 - drawn) / 10) >= 0.4 - 1e-9
    exact = float(hypergeom(30, 17, 20).pmf(drawn[as_far]).sum())
    assert found.p == pytest.approx(exact, abs=4 * (exact / 20_000) ** 0.5)
    variance = 0.3 * 0.7 / 9 + 0.7 * 0.3 / 19  # of the mean of each
    assert found.standard_error**2 == pytest.approx(variance, rel=0.2)
    assert found.interval.low < 0.4 < found.interval.high


def test_two_samples_of_few_conversations_are_as_unsure_as_they_are_few():
    """Known truth: nothing differs; a lone conversation has neither interval nor p."""
    many_of_one, lone = judged([1] * 4 + [0] * 36, 1), judged([1], 1, np.array([40]))
    found = two_sample_difference(many_of_one, lone, GENUINE, seed=0)
    assert (found.value, found.p, found.interval.low) == (0.9, None, None)
    assert found.undefined == LONE
    generator, holds, false, runs = np.random.default_rng(3), 0, 0, 100
    for _ in range(runs):
        first, second = (judged(generator.binomial(1, 0.5, n), 1, np.arange(n)) for n in (40, 3))
        found = two_sample_difference(first, second, GENUINE, seed=0)
        holds += found.interval.low <= 0 <= found.interval.high
        false += found.p < 0.05
    assert holds >= 0.93 * runs
    assert false <= 0.08 * runs


def test_a_corrected_difference_has_the_judges_uncertainty_in_it():
    first, second = np.repeat([0.0, 1], [180, 20]), np.repeat([0.0, 1], [120, 80])
    found = difference_of(first, second, seed=0)
    sure = corrected_difference(found, JudgeErrors(0.85, 0.95, 0.0))
    unsure = corrected_difference(found, JudgeErrors(0.85, 0.95, 0.05))
    assert sure.value == unsure.value == pytest.approx(0.3 / 0.8)
    assert sure.standard_error == pytest.approx(found.standard_error / 0.8)
    spread = found.standard_error**2 + (0.375 * 0.05) ** 2
    assert unsure.standard_error == pytest.approx(spread**0.5 / 0.8)
    assert unsure.interval.low < 0.375 < unsure.interval.high


def test_a_difference_is_not_corrected_by_a_judge_that_may_tell_nothing_apart():
    found = difference_of(np.zeros(50), np.repeat([0.0, 1], 25), seed=0)
    refused = corrected_difference(found, JudgeErrors(0.6, 0.5, 0.06))
    assert refused.value is None
    assert refused.undefined == "sensitivity 0.60 + specificity 0.50 is not surely above 1"
    assert (
        corrected_difference(found, None).undefined == "no labelled items tell the judge's errors"
    )


def test_the_bound_of_a_share_is_the_exact_binomial_test():
    assert bound_p(Share(0.03, 100), 0.05, Side.BELOW) == pytest.approx(bdtr(3, 100, 0.05))
    assert bound_p(Share(0.11, 100), 0.05, Side.ABOVE) == pytest.approx(1 - bdtr(10, 100, 0.05))
    assert bound_p(Share(0.0, 90), 0.05, Side.ABOVE) == 1.0
    assert bound_p(Share(1.0, 90), 0.05, Side.BELOW) == 1.0


def test_the_melded_bound_of_two_shares_is_fishers_exact_test():
    """As Fay, Proschan and Brittain show; a true rate below 0 is a judged one below the alarms."""
    hits, alarms, n = 2, 9, 20
    table = comb(2 * n, hits + alarms)
    fisher = sum(comb(n, x) * comb(n, hits + alarms - x) for x in range(hits + 1)) / table
    found = corrected_bound_p(
        Share(hits / n, n), Share(0.8, 50), Share(alarms / n, n), 0, Side.BELOW
    )
    assert found == pytest.approx(fisher, rel=1e-4)


def test_with_a_judge_known_to_be_right_the_corrected_bound_is_the_plain_one():
    right, never = Share(1.0, 1e7), Share(0.0, 1e7)
    for share in (Share(0.02, 200), Share(0.0, 80), Share(0.12, 150)):
        for side in Side:
            plain = bound_p(share, 0.05, side)
            assert corrected_bound_p(share, right, never, 0.05, side) == pytest.approx(
                plain, rel=1e-3
            )


def test_clustered_turns_and_weighted_labels_count_as_fewer():
    alike = judged([4] * 10 + [0] * 30, 4)
    assert observed_share(alike, GENUINE).n == pytest.approx(39, abs=0.5)
    assert observed_share(judged([0] * 40, 4), GENUINE) == Share(0.0, 40.0)
    labelled = Labelled(
        np.array([0, 0, 0, 1]), np.eye(2)[[0, 0, 1, 1]], np.array([3.0, 1, 1, 9]), np.arange(4)
    )
    assert judged_of_label(labelled, 0).turns == pytest.approx(25 / 11)
    assert judged_of_label(labelled, 0).shares.tolist() == pytest.approx([0.8, 0.2])


def test_less_than_one_false_alarm_is_melded_as_it_is_and_not_as_more():
    """Beta(0.2, 21): its quantiles by the inverse, not by distances, where its density is ∞."""
    rare, sure = Share(0.01, 20.0), Share(1.0, 1e9)
    alarms = np.random.default_rng(0).beta(0.2, 20.8, 400_000)
    drawn = float(((1 - 0.05 - 0.95 * alarms) ** 200).mean())
    found = corrected_bound_p(Share(0.0, 200.0), sure, rare, 0.05, Side.BELOW)
    assert found == pytest.approx(drawn, rel=0.02)
