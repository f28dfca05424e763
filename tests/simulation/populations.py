"""Populations whose true agreement is known exactly, and samples drawn from them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MARGINS = np.array([0.30, 0.20, 0.15, 0.12, 0.10, 0.08, 0.05])  # of seven labels, skewed
K = len(MARGINS)
KAPPA = 0.726
SIGMA = 2  # the first two labels count as genuine follow-ups

Labels = NDArray[np.int64]
Random = np.random.Generator


@dataclass(frozen=True)
class Judged:
    """Labels of n items by people and by a judge; items of one number share a conversation."""

    people: Labels
    judge: Labels
    conversations: Labels | None = None


def table_of(kappa: float) -> NDArray[np.float64]:
    """Shares of (people, judge), shape (K, K): as people with chance κ, else by the margins.

    Both have MARGINS, so that pe = Σm² and po = κ + (1 - κ)·pe: kappa is `kappa`.
    """
    return np.diag(MARGINS) * kappa + np.outer(MARGINS, MARGINS) * (1 - kappa)


def independent(random: Random, n: int, kappa: float = KAPPA) -> Judged:
    people = random.choice(K, size=n, p=MARGINS)
    agrees = random.random(n) < kappa
    return Judged(people, np.where(agrees, people, random.choice(K, size=n, p=MARGINS)))


def clustered(random: Random, conversations: int, each: int, alike: float = 0.3) -> Judged:
    """Conversations differ in how hard they are, and their items tend to have one label.

    A conversation's chance of agreement is Beta with mean κ and variance κ(1 - κ)/4; an item has
    its conversation's label with chance `alike`. Margins and mean are as for independent items and
    the chance is independent of the labels, so that kappa is κ still.
    """
    of_item = np.repeat(np.arange(conversations), each)
    chance = random.beta(3 * KAPPA, 3 * (1 - KAPPA), size=conversations)[of_item]
    n = len(of_item)
    shared = random.choice(K, size=conversations, p=MARGINS)[of_item]
    people = np.where(random.random(n) < alike, shared, random.choice(K, size=n, p=MARGINS))
    guess = random.choice(K, size=n, p=MARGINS)
    return Judged(people, np.where(random.random(n) < chance, people, guess), of_item)


def two_judges(random: Random, n: int, copied: float = 0.6) -> tuple[Labels, Labels, Labels]:
    """People and two judges with the same true kappa, whose errors have correlation `copied`.

    The second says what the first said with chance `copied`, else what it would say by itself.
    """
    one = independent(random, n)
    alone = np.where(random.random(n) < KAPPA, one.people, random.choice(K, size=n, p=MARGINS))
    return one.people, one.judge, np.where(random.random(n) < copied, one.judge, alone)


@dataclass(frozen=True)
class Stratified:
    """A sample with as many items of every label of the judge, and the design that it came by."""

    judged: Judged
    weights: NDArray[np.float64]
    strata: Labels


def stratified(random: Random, each: int, kappa: float = KAPPA) -> Stratified:
    """`each` items per label that the judge gave, of an unlimited population.

    Weights are the label's share of the population over its share of the sample.
    """
    people_given_judge = table_of(kappa) / MARGINS  # the judge's margins are MARGINS too
    judge = np.repeat(np.arange(K), each)
    people = np.concatenate(
        [random.choice(K, size=each, p=people_given_judge[:, label]) for label in range(K)]
    )
    return Stratified(Judged(people, judge), MARGINS[judge] * K, judge)


def several_runs(random: Random, n: int, runs: int, shift: float) -> tuple[Labels, Labels]:
    """People (n,) and a judge's runs (n, R): each run's kappa is off by a shift of its own.

    The shift has mean 0 and standard deviation `shift`; half of the items are judged the same way
    in all runs as far as the shift allows.
    """
    people = random.choice(K, size=n, p=MARGINS)
    chance = KAPPA + shift * random.standard_normal(runs)
    steady = random.random(n) < 0.5
    luck = np.where(steady[:, np.newaxis], random.random((n, 1)), random.random((n, runs)))
    guess = np.where(
        steady[:, np.newaxis],
        random.choice(K, size=(n, 1), p=MARGINS),
        random.choice(K, size=(n, runs), p=MARGINS),
    )
    return people, np.where(luck < chance, people[:, np.newaxis], guess)
