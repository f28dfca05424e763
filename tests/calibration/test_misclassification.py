"""Rates corrected for the judge's errors: published values, identities, coverage."""

import numpy as np
import pytest

from annotator.measures.double_sample import (
    Judged,
    Labelled,
    score_interval,
    unseen_variance,
)
from annotator.measures.interval import wilson
from annotator.measures.misclassification import (
    PROJECTED,
    invert,
    judge_errors,
    rogan_gladen,
    simplex_projection,
)
from annotator.measures.poststratification import (
    post_strata,
    poststratify,
    representativeness,
)

GENUINE = 0  # in the tables of several labels


def labelled(people, judged, *, outcomes=2, weights=None, conversations=None) -> Labelled:
    people = np.asarray(people, dtype=np.int64)
    return Labelled(
        people,
        np.eye(outcomes)[np.asarray(judged, dtype=np.int64)],
        np.ones(len(people)) if weights is None else np.asarray(weights, dtype=float),
        -1 - np.arange(len(people)) if conversations is None else np.asarray(conversations),
    )


def turns(judged, *, outcomes=2, conversations=None) -> Judged:
    """One turn each, in conversations of its own unless said."""
    rows = np.eye(outcomes)[np.asarray(judged, dtype=np.int64)]
    if conversations is None:
        return Judged(rows, np.arange(len(rows)))
    numbers, of = np.unique(conversations, return_inverse=True)
    counts = np.zeros((len(numbers), outcomes))
    np.add.at(counts, of, rows)
    return Judged(counts, numbers)


def sample(a: int, b: int, c: int, d: int) -> Labelled:
    """People 1: a judged 1 and b judged 0; people 0: c judged 1 and d judged 0."""
    return labelled([1] * (a + b) + [0] * (c + d), [1] * a + [0] * b + [1] * c + [0] * d)


def run(positive: int, n: int) -> Judged:
    return turns([1] * positive + [0] * (n - positive))


def test_both_sources_of_error_are_in_the_rogan_gladen_interval() -> None:
    # statistics.md 2.8: a=85 b=15 c=10 d=90, 330 of 1,000 (Lee et al., arXiv 2511.21140).
    found = rogan_gladen(sample(85, 15, 10, 90), run(330, 1000))
    assert found.value == pytest.approx(0.306667, abs=1e-6)
    assert found.standard_error == pytest.approx(0.037086, abs=1e-6)
    assert found.sampling_error == pytest.approx(0.019826, abs=1e-6)
    assert found.judge_error == pytest.approx(0.031342, abs=1e-6)
    assert found.interval.low == pytest.approx(0.233979, abs=1e-6)
    assert found.interval.high == pytest.approx(0.379354, abs=1e-6)


@pytest.mark.parametrize(
    ("se", "sp", "positive", "n", "theta"),
    # R23, epiR's rows: .22, and -4/100 with a warning.
    [(0.96, 0.89, 45, 150, 0.223529), (0.964, 0.927, 6, 151, -0.037334)],
)
def test_a_rate_below_nought_is_shown_as_estimated_and_clipped(se, sp, positive, n, theta) -> None:
    a, d = round(1000 * se), round(1000 * sp)
    found = rogan_gladen(sample(a, 1000 - a, 1000 - d, d), run(positive, n))
    assert found.value == pytest.approx(theta, abs=1e-6)
    assert found.as_dict()["unclipped"] == found.value
    assert found.as_dict()["value"] == found.clipped == max(0.0, found.value)


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ((50, 50, 50, 50), "may tell nothing apart"),
        ((20, 80, 90, 10), "may tell nothing apart"),
        ((4, 3, 3, 4), "may tell nothing apart"),  # above 1, but not surely
        ((0, 0, 10, 90), "no labelled item has sigma 1"),
        ((80, 20, 0, 0), "no labelled item has sigma 0"),
    ],
)
def test_a_judge_that_may_tell_nothing_apart_is_not_inverted(cells, reason) -> None:
    found = rogan_gladen(sample(*cells), run(330, 1000))
    assert found.value is None
    assert reason in found.undefined
    assert (found.interval.low, found.standard_error) == (None, None)


def test_a_judge_that_was_never_wrong_still_has_an_interval() -> None:
    inverted = rogan_gladen(sample(20, 0, 0, 100), run(300, 1000))
    assert inverted.value == pytest.approx(0.3)
    assert inverted.standard_error > inverted.sampling_error > 0
    assert inverted.notes
    items = sample(20, 0, 0, 100)
    (stratified,) = poststratify(items, run(300, 1000), items.people[:, np.newaxis])
    assert stratified.value == pytest.approx(0.3)
    assert stratified.judge_error > 0
    assert stratified.notes


def test_two_labels_are_inverted_to_rogan_and_gladens_rate() -> None:
    items, judged = sample(85, 15, 10, 90), run(330, 1000)
    binary, (_, one) = rogan_gladen(items, judged), invert(items, judged, 2)
    assert one.value == pytest.approx(binary.value)
    for error in ("standard_error", "sampling_error", "judge_error"):
        assert getattr(one, error) == pytest.approx(getattr(binary, error))


def test_several_labels_are_recovered_from_what_a_judge_makes_of_them() -> None:
    matrix = np.array([[0.8, 0.1, 0.05, 0.05], [0.1, 0.8, 0.1, 0.0], [0.1, 0.2, 0.6, 0.1]])
    truth = np.array([0.5, 0.2, 0.3])
    people = np.repeat([0, 1, 2], 100)
    said = np.concatenate([np.repeat(range(4), (100 * row).astype(int)) for row in matrix])
    q = np.repeat(range(4), np.round(10_000 * truth @ matrix).astype(int))
    found = invert(labelled(people, said, outcomes=4), turns(q, outcomes=4), 3)
    assert [share.value for share in found] == pytest.approx(truth.tolist(), abs=1e-9)
    assert not any(share.notes for share in found)


def test_shares_below_nought_are_projected_and_said_to_be() -> None:
    people = np.repeat([0, 1, 2], 50)
    said = [0] * 40 + [1] * 10 + [1] * 45 + [0] * 5 + [2] * 50
    q = [0] * 2 + [1] * 58 + [2] * 40
    found = invert(labelled(people, said, outcomes=3), turns(q, outcomes=3), 3)
    assert found[0].value == 0
    assert found[0].interval.high is not None
    assert found[0].interval.high + found[0].interval.low < 0  # centred on the share before
    assert all(PROJECTED in share.notes for share in found)
    assert sum(share.value for share in found) == pytest.approx(1)


def test_a_label_that_no_turn_was_given_is_as_unsure_as_a_share_of_0() -> None:
    """A perfect judge of three labels: the third's interval is that of 0 of 50."""
    truth = np.repeat([0, 1, 2], 40)
    items = labelled(truth, truth, outcomes=3)
    third = invert(items, turns([0] * 25 + [1] * 25, outcomes=3), 3)[2]
    assert third.sampling_error == pytest.approx(unseen_variance(50) ** 0.5)
    assert third.interval.high > 0.04


def test_the_projection_is_the_nearest_point_of_the_simplex() -> None:
    rng = np.random.default_rng(1)
    for shares in rng.normal(0.2, 0.4, (20, 5)):
        nearest = simplex_projection(shares)
        assert nearest.sum() == pytest.approx(1)
        others = rng.dirichlet(np.ones(5), 500)
        assert ((others - shares) ** 2).sum(axis=1).min() >= ((nearest - shares) ** 2).sum()


@pytest.mark.parametrize(
    ("people", "said", "reason"),
    [
        ([0] * 20 + [1] * 4, [0] * 20 + [1] * 4, "1 of 2 labels have fewer than 5"),
        ([0] * 20 + [1] * 20, ([0] * 10 + [1] * 10) * 2, "does not tell all labels apart"),
    ],
)
def test_labels_that_cannot_be_inverted_have_a_reason(people, said, reason) -> None:
    for share in invert(labelled(people, said), run(30, 100), 2):
        assert share.value is None
        assert reason in share.undefined


def test_independent_items_have_the_published_variance_of_post_stratification() -> None:
    a, b, c, d = 70, 20, 15, 95  # people 1: judged 1, 0; people 0: judged 1, 0
    items, n = sample(a, b, c, d), 2000
    (found,) = poststratify(items, run(700, n), items.people[:, np.newaxis])
    q, ppv, missed = 700 / n, a / (a + c), b / (b + d)
    theta = q * ppv + (1 - q) * missed
    judge = q**2 * ppv * (1 - ppv) / (a + c) + (1 - q) ** 2 * missed * (1 - missed) / (b + d)
    chance = (ppv - missed) ** 2 * q * (1 - q) / n
    assert found.value == pytest.approx(theta)
    assert found.judge_error == pytest.approx(judge**0.5)
    assert found.sampling_error == pytest.approx(chance**0.5)
    assert found.standard_error == pytest.approx((judge + chance) ** 0.5)


def test_post_stratification_is_prediction_powered_inference_at_its_best_lambda() -> None:
    # statistics.md 2.8: PPI++ (Angelopoulos, Duchi and Zrnic 2023), lambda = cov/var/(1 + n/N).
    rng = np.random.default_rng(3)
    y = rng.random(200) < 0.3
    j = np.where(y, rng.random(200) < 0.85, rng.random(200) < 0.1)
    rest = rng.random(3000) < 0.32
    items = labelled(y, j)
    (found,) = poststratify(items, turns(np.concatenate([j, rest])), y[:, np.newaxis] * 1.0)
    best = np.cov(y, j, ddof=0)[0, 1] / j.var() / (1 + len(y) / len(rest))
    assert found.value == pytest.approx(y.mean() + best * (rest.mean() - j.mean()))


def test_a_design_weight_counts_like_so_many_items() -> None:
    people, said, weights = [1, 0, 1, 0, 1, 0], [1, 1, 0, 0, 1, 0], [3, 1, 1, 2, 1, 4]
    weighted = labelled(people, said, weights=weights)
    repeated = labelled(np.repeat(people, weights), np.repeat(said, weights))
    one, many = (
        poststratify(items, run(30, 100), items.people[:, np.newaxis])[0]
        for items in (weighted, repeated)
    )
    assert one.value == pytest.approx(many.value)
    assert one.standard_error > many.standard_error
    assert judge_errors(weighted).sensitivity == pytest.approx(judge_errors(repeated).sensitivity)


@pytest.mark.parametrize("corrected", ["post-stratified", "inverted"])
def test_copies_in_the_same_conversation_tell_nothing_new(corrected) -> None:
    people, said = [1] * 40 + [0] * 60, [1] * 35 + [0] * 5 + [1] * 6 + [0] * 54
    main = [1] * 80 + [0] * 120

    def error(times: int) -> float:
        items = labelled(
            np.repeat(people, times),
            np.repeat(said, times),
            conversations=np.repeat(1000 + np.arange(100), times),
        )
        judged = turns(np.repeat(main, times), conversations=np.repeat(np.arange(200), times))
        if corrected == "inverted":
            return rogan_gladen(items, judged).standard_error
        return poststratify(items, judged, items.people[:, np.newaxis])[0].standard_error

    assert error(5) == pytest.approx(error(1) * (300 / 299) ** 0.5)


def test_the_error_is_that_of_leaving_out_one_conversation_after_the_other() -> None:
    """The grouped jackknife knows of no formula, only of conversations with their items."""
    rng = np.random.default_rng(17)
    conversation = np.arange(800) // 4
    y = (rng.random(800) < rng.beta(0.6, 1.4, 200)[conversation]).astype(np.int64)
    said = (rng.random(800) < np.where(y, 0.8, 0.15)).astype(np.int64)
    weights = rng.integers(1, 4, 800)
    drawn = rng.random(800) < 0.4

    def corrected(kept):
        of = drawn & kept
        items = labelled(y[of], said[of], weights=weights[of], conversations=conversation[of])
        judged = turns(said[kept], conversations=conversation[kept])
        (stratified,) = poststratify(items, judged, y[of, np.newaxis] * 1.0)
        several = invert(items, judged, 2)[1]
        return stratified, rogan_gladen(items, judged), several

    without = np.array(
        [[found.value for found in corrected(conversation != left)] for left in range(200)]
    )
    jackknife = np.sqrt(199 / 200 * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
    errors = [found.standard_error for found in corrected(conversation >= 0)]
    assert errors == pytest.approx(jackknife.tolist(), rel=0.03)


def test_few_conversations_are_said_and_widen_the_interval() -> None:
    items = sample(8, 2, 1, 9)
    (found,) = poststratify(items, run(300, 1000), items.people[:, np.newaxis])
    assert "t(19)" in found.interval.method
    assert "t(19)" in rogan_gladen(items, run(400, 1000)).interval.method


def test_the_score_interval_of_independent_items_is_wilsons() -> None:
    for hits, n in ((3, 50), (40, 80), (199, 200)):
        share = hits / n
        found = score_interval(share, share * (1 - share) / n, n)
        assert (found.low, found.high) == pytest.approx(wilson(hits, n))


def test_small_post_strata_are_merged_first_with_those_of_the_same_sigma() -> None:
    counts, sigmas = np.array([2.0, 50, 30, 1, 3, 0]), (1, 0, 0, 0, 0, 0)
    strata = post_strata(counts, sigmas)
    assert len({strata[3], strata[4], strata[5]}) == 1
    sizes = np.bincount(strata, counts)
    assert sizes.min() >= 5
    assert post_strata(np.array([6.0, 3, 50]), (1, 0, 0)).tolist() == [0, 1, 1]
    assert post_strata(np.array([1.0, 2.0]), (1, 0)).tolist() == [0, 0]
    assert post_strata(np.array([5.0, 200.0]), (1, 0)).tolist() == [0, 1]


def test_a_sample_like_the_turns_passes_and_another_does_not() -> None:
    rng = np.random.default_rng(5)
    conversation = np.arange(3000) // 3
    # Turns of a conversation are much alike, which an ordinary chi-square takes for a difference.
    said = (rng.random(1000)[conversation] < 0.4).astype(int)
    judged = turns(said, conversations=conversation)
    rejected = 0
    for _ in range(200):
        whole = rng.choice(1000, 60, replace=False)
        drawn = np.flatnonzero(np.isin(conversation, whole))
        items = labelled(said[drawn], said[drawn], conversations=conversation[drawn])
        rejected += representativeness(items, judged).p < 0.05
    assert 2 <= rejected <= 22
    biased = np.flatnonzero(said)[:60]
    few = np.concatenate([biased, np.flatnonzero(said == 0)[:20]])
    items = labelled(said[few], said[few], conversations=conversation[few])
    assert representativeness(items, judged).p < 1e-4


def test_there_is_no_test_where_every_turn_is_labelled() -> None:
    said = np.arange(40) % 2
    items = labelled(said, said, conversations=np.arange(40))
    assert representativeness(items, turns(said)).undefined == "every turn has a labelled item"


@pytest.mark.parametrize(
    ("theta", "se", "sp", "n", "size"),
    [(0.3, 0.85, 0.90, 200, 3000), (0.02, 0.8, 0.99, 200, 3000), (0.1, 0.99, 0.995, 100, 1000)],
)
def test_post_stratified_intervals_hold_the_true_rate(theta, se, sp, n, size) -> None:
    rng, held, sims = np.random.default_rng(7), 0, 300
    for _ in range(sims):
        y = (rng.random(size) < theta).astype(np.int64)
        said = (rng.random(size) < np.where(y, se, 1 - sp)).astype(np.int64)
        items = labelled(y[:n], said[:n], conversations=np.arange(n))
        strata = post_strata(items.counts, (0, 1))
        items, judged = items.regrouped(strata), turns(said).regrouped(strata)
        (found,) = poststratify(items, judged, y[:n, np.newaxis] * 1.0)
        held += found.interval.low <= theta <= found.interval.high
    assert 0.92 <= held / sims <= 1.0


def test_intervals_hold_the_true_rate_where_turns_of_a_conversation_are_alike() -> None:
    rng, sims, conversations, each, n = np.random.default_rng(11), 300, 150, 5, 200
    conversation = np.arange(conversations * each) // each
    held = {"post-stratified": 0, "inverted": 0}
    for _ in range(sims):
        chance = rng.beta(0.6, 1.4, conversations)[conversation]  # mean .3
        y = (rng.random(len(conversation)) < chance).astype(np.int64)
        said = (rng.random(len(y)) < np.where(y, 0.85, 0.1)).astype(np.int64)
        drawn = rng.choice(len(y), n, replace=False)
        items = labelled(y[drawn], said[drawn], conversations=conversation[drawn])
        judged = turns(said, conversations=conversation)
        (stratified,) = poststratify(items, judged, y[drawn, np.newaxis] * 1.0)
        for name, found in (
            ("post-stratified", stratified),
            ("inverted", rogan_gladen(items, judged)),
        ):
            held[name] += found.interval.low <= 0.3 <= found.interval.high
    assert all(0.91 <= count / sims <= 0.985 for count in held.values()), held


def test_the_genuine_labels_share_is_the_rate_of_sigma() -> None:
    rng = np.random.default_rng(13)
    y, said = rng.integers(0, 4, 300), rng.integers(0, 5, 300)
    items = labelled(y, said, outcomes=5, weights=rng.integers(1, 9, 300))
    outcomes = np.column_stack([np.eye(4)[y], y == GENUINE])
    *shares, sigma = poststratify(items, turns(rng.integers(0, 5, 999), outcomes=5), outcomes)
    assert shares[GENUINE].as_dict() == sigma.as_dict()
    assert sum(share.value for share in shares) == pytest.approx(1)
