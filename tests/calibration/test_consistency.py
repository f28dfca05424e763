"""Self-consistency: how far the runs of one judge agree, against counts by hand."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.calibration.consistency import NO_ITEMS, SINGLE_RUN, consistency, flips

A, B, C = "a", "b", "c"

# Three runs over four items; None is an unreadable verdict.
RUNS = {
    "w": (A, A, A),
    "x": (A, A, B),
    "y": (A, B, C),
    "z": (A, None, None),
}
ALONE = {item: item for item in RUNS}


def found(runs, k, conversations=None):
    return consistency(runs, k, (A, B, C), conversations or {i: i for i in runs}, seed=1)


def test_flips_by_hand():
    """Items that flip: x, y, z of four. Pairs of runs that differ: 0, 2, 3, 2 of 3 each: 7/12."""
    counted = flips(RUNS, 3)
    assert (counted.items, counted.runs, counted.undefined) == (4, 3, None)
    assert counted.flip_rate == 3 / 4
    assert counted.pairwise == 7 / 12
    assert counted.invalid == (0, 1, 1)


def test_alpha_over_runs_by_hand():
    """alpha = 1 - (N - 1)·Σd / (N² - Σn²), d = (m² - Σn²)/(m - 1) of each item.

    N = 12 verdicts: 7 a, 2 b, 1 c, 2 unreadable; Σn² = 49 + 4 + 1 + 4 = 58.
    d: (9-9)/2, (9-5)/2, (9-3)/2, (9-5)/2, in all 7. alpha = 1 - 11·7/86 = 9/86.
    """
    alpha = found(RUNS, 3, ALONE).alpha
    assert alpha.value == pytest.approx(9 / 86, abs=1e-12)
    assert (alpha.items, alpha.conversations, alpha.undefined) == (4, 4, None)
    assert alpha.interval.low <= alpha.value <= alpha.interval.high


def test_items_of_one_conversation_are_one_draw():
    together = found(RUNS, 3, {"w": 1, "x": 1, "y": 2, "z": 2})
    assert (together.alpha.items, together.alpha.conversations) == (4, 2)
    assert together.flips == flips(RUNS, 3)


def test_of_two_runs_both_rates_are_the_same():
    two = {item: said[:2] for item, said in RUNS.items()}  # y and z flip
    assert flips(two, 2).flip_rate == flips(two, 2).pairwise == 2 / 4


def test_a_judge_that_always_repeats_itself():
    steady = found({"w": (A,) * 4, "x": (B,) * 4, "y": (None,) * 4}, 4)
    assert (steady.flips.flip_rate, steady.flips.pairwise) == (0, 0)
    assert steady.flips.invalid == (1, 1, 1, 1)
    assert steady.alpha.value == 1


def test_one_label_throughout_leaves_alpha_undefined_and_the_rates_not():
    same = found({"w": (A, A), "x": (A, A)}, 2)
    assert (same.flips.flip_rate, same.flips.undefined) == (0, None)
    assert same.alpha.value is None
    assert same.alpha.undefined == "fewer than two labels in use"


def test_what_cannot_be_known_is_named():
    single = flips({"w": (A,), "x": (None,)}, 1)
    assert (single.flip_rate, single.pairwise, single.undefined) == (None, None, SINGLE_RUN)
    assert single.invalid == (1,)
    nothing = flips({}, 3)
    assert (nothing.flip_rate, nothing.pairwise, nothing.undefined) == (None, None, NO_ITEMS)
    assert nothing.invalid == (0, 0, 0)


def test_json_has_every_number_and_reason():
    written = found(RUNS, 3).as_dict()
    assert list(written) == [
        "items", "runs", "flip_rate", "pairwise", "invalid", "undefined", "alpha",
    ]  # fmt: skip
    assert written["invalid"] == [0, 1, 1]
    assert written["alpha"]["items"] == 4


verdicts = st.sampled_from([A, B, C, None])


@given(st.integers(2, 5).flatmap(lambda k: st.lists(st.tuples(*[verdicts] * k), min_size=1)))
def test_the_rates_are_those_of_all_pairs_of_runs(rows):
    k = len(rows[0])
    counted = flips({str(n): said for n, said in enumerate(rows)}, k)
    differing = [[one != other for one, other in combinations(said, 2)] for said in rows]
    assert counted.pairwise == pytest.approx(
        sum(map(sum, differing)) / (len(rows) * k * (k - 1) / 2)
    )
    assert counted.flip_rate == sum(map(any, differing)) / len(rows)
    assert counted.pairwise <= counted.flip_rate
