"""Sign flip: could the sign of every conversation's difference as well have been the other one?

It is the swap of the two conditions within a conversation, all 2^n of them. With one turn per
condition and conversation it is McNemar's exact test.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

LATTICE = 2**20  # points of an exact distribution, at most
FLIPS = 20_000  # random ones, where it would have more
LARGEST_DENOMINATOR = 1000
ROUNDING = 1e-9  # differences this close are one difference


@dataclass(frozen=True)
class SignFlip:
    """`p` is two-sided, `exact` where every flip counts. `differing` differences are not 0."""

    p: float
    differing: int
    exact: bool


def sign_flip(differences: NDArray[np.float64], *, seed: int) -> SignFlip:
    """P(|Σ ±d_q| ≥ |Σ d_q|) of differences (Q,) with fair signs; 1 where none differs.

    Exact where differences are multiples of one step, as means of a few samples are: the sum is
    one of binomials, and its distribution the product of their characteristic functions. Else
    by random flips, (hits + 1) / (flips + 1), so that it is never 0 (Phipson and Smyth 2010).

    >>> f"{sign_flip(np.array([1.0] * 12 + [-1.0] * 3 + [0.0] * 9), seed=0).p:.8f}"
    '0.03515625'
    """
    sizes = np.abs(differences)
    differing = int((sizes > ROUNDING).sum())
    if not differing:
        return SignFlip(1.0, 0, True)
    steps = _steps(sizes)
    if steps is None:
        return SignFlip(_by_random_flips(differences, seed), differing, False)
    values, times = np.unique(steps[steps > 0], return_counts=True)
    observed = abs(int(np.where(differences < 0, -steps, steps).sum()))
    # An unlikely p is no more exact than double precision, nor smaller than two of all the flips.
    p = max(_exact_p(values, times, observed), 2.0 ** (1 - differing))
    return SignFlip(min(1.0, p), differing, True)


def _steps(sizes: NDArray[np.float64]) -> NDArray[np.int64] | None:
    """The sizes as whole multiples of one step; None where there is none, or too small a one."""
    different = np.unique(sizes.round(12))
    fractions = [Fraction(value).limit_denominator(LARGEST_DENOMINATOR) for value in different]
    scale = lcm(*(of.denominator for of in fractions))
    if scale * float(sizes.sum()) > LATTICE:
        return None
    steps = np.rint(sizes * scale)
    if np.abs(sizes - steps / scale).max() > ROUNDING:
        return None
    return steps.astype(np.int64)


def _exact_p(values: NDArray[np.int64], times: NDArray[np.int64], observed: int) -> float:
    """Of X = Σ v · Bin(n_v, 1/2), how likely is |2X - Σ v n_v| ≥ `observed`?"""
    total = int(values @ times)
    angles = 2 * np.pi * np.arange(total + 1) / (total + 1)
    product = np.ones(total + 1, dtype=complex)
    for value, n in zip(values.tolist(), times.tolist(), strict=True):
        product *= ((1 + np.exp(1j * angles * value)) / 2) ** n
    chances = np.fft.fft(product).real / (total + 1)
    return float(chances[np.abs(2 * np.arange(total + 1) - total) >= observed].sum())


def _by_random_flips(differences: NDArray[np.float64], seed: int) -> float:
    generator = np.random.default_rng([seed, 4])
    moves = differences[np.abs(differences) > ROUNDING]
    observed, hits, done = abs(float(moves.sum())), 0, 0
    size = max(1, 2**22 // len(moves))
    while done < FLIPS:
        b = min(size, FLIPS - done)
        signs = 2 * generator.integers(2, size=(b, len(moves)), dtype=np.int8) - 1
        hits += int((np.abs(signs @ moves) >= observed - ROUNDING).sum())
        done += b
    return (hits + 1) / (FLIPS + 1)
