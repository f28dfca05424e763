"""Paired rates: of several conditions over the same conversations, and contrasts of them.

Conditions are temperatures, models, perturbations, runs: what is asked about the same conversations
is alike, so rates vary together, and a difference varies less than either of its sides.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, stdtr

from annotator.measures.double_sample import (
    Judged,
    covariance,
    delta_interval,
    effective_number,
    unseen_variance,
)
from annotator.measures.interval import FEW, ROUNDING, Interval, no_interval

LONE = "a single conversation"
NONE_DIFFERS = "no conversation differs"


@dataclass(frozen=True)
class PairedRates:
    """`rates` (m,) of m conditions and their `covariance` (m, m) by conversation.

    `turns` and `effective` (m,) are each condition's turns, and how many conversations of equal
    weight they come from; `conversations` is how many there are in all.
    """

    rates: NDArray[np.float64]
    covariance: NDArray[np.float64]
    turns: NDArray[np.float64]
    effective: NDArray[np.float64]
    conversations: int

    def covariance_if_equal(self, compared: NDArray[np.bool_]) -> NDArray[np.float64]:
        """(m, m), if the `compared` conditions had one rate, that of all their turns.

        A variance goes with p(1 - p): a rate that is low by chance looks surer than it is.
        """
        pooled = float(np.average(self.rates, weights=self.turns * compared))
        own = self.rates * (1 - self.rates)
        seen = own > ROUNDING
        scale = np.sqrt(np.divide(pooled * (1 - pooled), own, out=np.zeros_like(own), where=seen))
        alone = np.where(seen, 0.0, pooled * (1 - pooled) / self.effective)
        return self.covariance * np.outer(scale, scale) + np.diag(alone)


@dataclass(frozen=True)
class Contrast:
    """A weighted sum of rates; `p` is two-sided, for its being 0.

    `note` says what was done beyond the formula, or why there is neither an interval nor a p.
    """

    estimate: float
    standard_error: float | None
    interval: Interval
    p: float | None
    note: str | None = None


def shared_conversations(judged: Sequence[Judged]) -> tuple[Judged, ...]:
    """Each condition's turns of the conversations that all have; with none, arrays of length 0."""
    common = reduce(np.intersect1d, (of.conversations for of in judged))
    found = []
    for of in judged:
        kept = np.isin(of.conversations, common)
        order = np.argsort(of.conversations[kept], kind="stable")
        found.append(Judged(of.counts[kept][order], of.conversations[kept][order]))
    return tuple(found)


def paired_rates(judged: Sequence[Judged], positive: NDArray[np.int64]) -> PairedRates:
    """The share of each condition's turns whose outcome is `positive` (J,), 1 or 0.

    The variance of a share of 0 or 1 is Agresti and Coull's, as if that condition stood alone.
    Raises ValueError for a condition without a turn.

    >>> a = Judged(np.array([[1.0, 0], [0, 1], [1, 0]]), np.arange(3))
    >>> found = paired_rates([a, a], np.array([1, 0]))
    >>> found.rates.round(3).tolist(), contrast(found, np.array([1, -1])).note
    ([0.667, 0.667], 'no conversation differs')
    """
    m = len(judged)
    if not all(of.turns for of in judged):
        raise ValueError("every condition needs a turn")
    rates = np.array([float(of.shares @ positive) for of in judged])
    effective = np.array(
        [effective_number(of.counts.sum(axis=1), of.conversations) for of in judged]
    )
    parts = []
    for number, of in enumerate(judged):
        moves = np.zeros((len(of.conversations), m))
        moves[:, number] = of.share_influence() @ positive
        parts.append((moves, of.conversations))
    several = m > 1 or any(of.counts.sum(axis=1).max() > 1 + 1e-9 for of in judged)
    unseen = [
        unseen_variance(n) if min(rate, 1 - rate) < ROUNDING else 0.0
        for rate, n in zip(rates, effective, strict=True)
    ]
    return PairedRates(
        rates,
        covariance(parts, shared=several) + np.diag(unseen),
        np.array([of.turns for of in judged]),
        effective,
        len(np.unique(np.concatenate([conversations for _, conversations in parts]))),
    )


def contrast(paired: PairedRates, weights: NDArray[np.float64]) -> Contrast:
    """Σ w_c · rate_c with SE = √(wᵀ Cov w), normal, or Student's t with few conversations.

    `weights` (m,) sum to 0. The p goes by the larger of two standard errors: that one, so that it
    is never against the interval, and the one of equal rates, as in a score test. Where no
    variance is left, all conversations having moved alike, it is twice that of a share of 0 in as
    many, by as much as the contrast can be.
    """
    estimate, units = float(weights @ paired.rates), paired.conversations
    if units < 2:
        return Contrast(estimate, None, no_interval(LONE), None, LONE)
    spread = float(weights @ paired.covariance @ weights)
    largest = float(np.abs(weights).sum()) / 2
    limits = (-largest, largest)
    if spread > (ROUNDING * largest) ** 2:
        error = spread**0.5
        if_equal = float(weights @ paired.covariance_if_equal(weights != 0) @ weights) ** 0.5
        p = two_sided_p(estimate / max(error, if_equal), units)
        interval = delta_interval(estimate, error, units).within(limits)
        return Contrast(estimate, error, interval, p)
    error = largest * (2 * unseen_variance(units)) ** 0.5
    none = abs(estimate) < ROUNDING * largest
    return Contrast(
        0.0 if none else estimate,
        error,
        delta_interval(estimate, error, units).within(limits),
        1.0 if none else two_sided_p(estimate / error, units),
        NONE_DIFFERS if none else "all conversations differ alike",
    )


def tail_p(z: float, units: int) -> float:
    """P(Z ≤ z), of Student's t(units - 1) with few conversations."""
    return float(ndtr(z) if units >= FEW else stdtr(units - 1, z))


def two_sided_p(z: float, units: int) -> float:
    return min(1.0, 2 * tail_p(-abs(z), units))
