"""The swap permutation against its definition: every exchange of two judges, tried by hand."""

from itertools import product

import numpy as np
import pytest

from annotator.measures.coefficients import kappas, observed
from annotator.measures.layout import Layout, pair_tables
from annotator.measures.mcnemar import mcnemar
from annotator.measures.permutation import ENUMERATED, Permutation, swap_permutation
from annotator.measures.units import gather, patterns

K = 3
TWO = Layout({"first": (K, K), "second": (K, K)})


def first(sums):
    return TWO.pick(sums, "first")


def second(sums):
    return TWO.pick(sums, "second")


def permuted(rows: np.ndarray, conversations=None, statistic=kappas, **options) -> Permutation:
    """Test of the columns (reference, first, second) of rows."""
    found = patterns(rows)
    tables = {
        "first": pair_tables(found.rows[:, 0], found.rows[:, 1], K, K),
        "second": pair_tables(found.rows[:, 0], found.rows[:, 2], K, K),
    }
    units = gather(TWO.pack(tables), found.of_item, clusters=conversations)
    return swap_permutation(units, first, second, statistic, **{"seed": 1} | options)


def by_hand(rows: np.ndarray, conversations: np.ndarray) -> float:
    """Share of all 2^Q exchanges whose |difference of kappas| is no smaller than the observed."""

    def difference(said: np.ndarray) -> float:
        tables = np.zeros((2, K, K))
        for judge in (1, 2):
            np.add.at(tables[judge - 1], (said[:, 0], said[:, judge]), 1)
        return float(kappas(tables[1]) - kappas(tables[0]))

    observed_size = abs(difference(rows))
    names = np.unique(conversations)
    hits = 0
    for swaps in product((False, True), repeat=len(names)):
        exchanged = np.isin(conversations, names[np.array(swaps)])[:, np.newaxis]
        said = np.where(exchanged, rows[:, [0, 2, 1]], rows)
        hits += abs(difference(said)) >= observed_size - 1e-12
    return hits / 2 ** len(names)


def ratings(n: int, seed: int, wrong: tuple[float, float] = (0.5, 0.2)) -> np.ndarray:
    chance = np.random.default_rng(seed)
    truth = chance.integers(0, K, n)
    said = [(truth + (chance.random(n) < w) * chance.integers(1, K, n)) % K for w in wrong]
    return np.column_stack([truth, *said])


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_few_discordant_items_are_enumerated(seed):
    rows = ratings(10, seed)
    found = permuted(rows)
    assert found.exact
    assert found.discordant == (rows[:, 1] != rows[:, 2]).sum()
    assert found.p == pytest.approx(by_hand(rows, np.arange(10)))


@pytest.mark.parametrize("seed", [4, 5])
def test_turns_of_a_conversation_are_exchanged_together(seed):
    rows, conversations = ratings(24, seed), np.repeat(np.arange(8), 3)
    found = permuted(rows, conversations)
    assert found.exact
    assert found.discordant <= 8
    assert found.p == pytest.approx(by_hand(rows, conversations))


def test_of_independent_items_the_share_of_right_ones_gives_mcnemars_test():
    """3 against 9: both are the sign test of the twelve discordant items."""
    rows = np.array([[0, 1, 0]] * 9 + [[0, 0, 1]] * 3 + [[1, 1, 1]] * 20)
    found = permuted(rows, statistic=observed)
    assert (found.exact, found.discordant) == (True, ENUMERATED)
    assert found.p == pytest.approx(mcnemar(3, 9, 32).p)


def test_many_discordant_items_are_swapped_at_random():
    """3 against 12, exact p .03515625: thirteen and more are drawn, 10,000 times."""
    rows = np.array([[0, 1, 0]] * 12 + [[0, 0, 1]] * 3 + [[1, 1, 1]] * 20)
    found = permuted(rows, statistic=observed)
    assert (found.exact, found.discordant) == (False, 15)
    assert found.p == pytest.approx(0.03515625, abs=0.006)  # three standard errors of 10,000
    assert found == permuted(rows[::-1], statistic=observed)
    assert found != permuted(rows, statistic=observed, seed=2)


def test_single_conversations_are_swapped_at_random_too():
    """Conversations that all differ take another way to be drawn; their p is that of the items."""
    rows = ratings(200, 6, (0.3, 0.2))
    once = permuted(rows)
    pairs = permuted(np.repeat(rows, 2, axis=0), np.repeat(np.arange(200), 2))
    assert (once.exact, pairs.exact) == (False, False)
    assert pairs.p == pytest.approx(once.p, abs=0.02)
    unlike = ratings(120, 7, (0.4, 0.3))
    together = permuted(unlike, np.repeat(np.arange(40), 3), permutations=4000)
    assert 20 < together.discordant <= 40
    assert 0.02 < together.p < 1.0


def test_a_random_p_is_never_0():
    rows = np.array([[0, 1, 0], [1, 2, 1], [2, 0, 2]] * 30)
    found = permuted(rows, permutations=999)
    assert found.p == pytest.approx(1 / 1000)


def test_items_on_which_both_say_the_same_are_not_swapped():
    rows = ratings(10, 2)
    same = rows[rows[:, 1] == rows[:, 2]]
    assert permuted(np.vstack([rows, same])).discordant == permuted(rows).discordant
    assert permuted(rows[:, [0, 1, 1]]) == Permutation(1.0, 0, True)


def test_exchanging_the_judges_changes_nothing():
    rows = ratings(11, 3)
    assert permuted(rows) == permuted(rows[:, [0, 2, 1]])


def test_an_undefined_difference_is_not_tested():
    assert permuted(np.zeros((8, 3), dtype=np.int64)) is None
