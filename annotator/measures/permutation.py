"""Swap permutation: is a difference between two judges more than their labels on a coin would give?

Under the hypothesis that the two are exchangeable, what they said of any conversation could as
well have been said by the other one.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.measures.replicates import CHUNK, RESAMPLES, Sums
from annotator.measures.units import Units

ENUMERATED = 12  # up to so many discordant units every one of the 2^d swaps is tried
ROUNDING = 1e-12  # values this close are one value


@dataclass(frozen=True)
class Permutation:
    """`p` is two-sided; `exact` where every swap was tried. `discordant` units can be swapped."""

    p: float
    discordant: int
    exact: bool


def swap_permutation(
    units: Units,
    first: Callable[[Sums], NDArray[np.float64]],
    second: Callable[[Sums], NDArray[np.float64]],
    statistic: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    *,
    seed: int,
    permutations: int = RESAMPLES,
) -> Permutation | None:
    """Test of statistic(second) - statistic(first) = 0 by swapping within units.

    `first` and `second` pick each judge's block of the features, of equal shape. Of random swaps
    p = (hits + 1) / (permutations + 1), so that it is never 0 (Phipson and Smyth 2010). None where
    the observed difference is undefined. A swap that leaves it undefined counts as extreme.
    """
    units = units.merged_runs
    one, other = first(units.total), second(units.total)
    observed = float(statistic(other) - statistic(one))
    if np.isnan(observed):
        return None
    rows = units.rows[:, 0]
    moves = (second(rows) - first(rows)).reshape(len(rows), -1)
    discordant = moves.any(axis=1)
    moves, times = moves[discordant], units.times[discordant]
    d = int(times.sum())
    exact = d <= ENUMERATED
    hits = tried = 0
    swaps = _every_swap(times) if exact else _random_swaps(times, seed, permutations)
    for swapped in swaps:
        moved = (swapped @ moves).reshape(len(swapped), *one.shape)
        values = statistic(other - moved) - statistic(one + moved)
        hits += int((np.isnan(values) | (np.abs(values) >= abs(observed) - ROUNDING)).sum())
        tried += len(values)
    return Permutation(hits / tried if exact else (hits + 1) / (tried + 1), d, exact)


def _every_swap(times: NDArray[np.int64]) -> Iterator[NDArray[np.float64]]:
    d = int(times.sum())
    single = (np.arange(2**d)[:, np.newaxis] >> np.arange(d)) & 1
    of_row = np.repeat(np.arange(len(times)), times)
    counts = np.zeros((2**d, len(times)))
    for position, row in enumerate(of_row):
        counts[:, row] += single[:, position]
    yield counts


def _random_swaps(
    times: NDArray[np.int64], seed: int, permutations: int
) -> Iterator[NDArray[np.float64]]:
    """How many units of every row are swapped. A row of one unit takes a bit, not a binomial."""
    generator = np.random.default_rng([seed, 3])
    often = np.flatnonzero(times > 1)
    size = max(1, CHUNK // len(times))
    for start in range(0, permutations, size):
        b = min(size, permutations - start)
        octets = generator.integers(256, size=(b, -(-len(times) // 8)), dtype=np.uint8)
        counts = np.unpackbits(octets, axis=1, count=len(times)).astype(np.float64)
        if len(often):
            counts[:, often] = generator.binomial(times[often], 0.5, size=(b, len(often)))
        yield counts
