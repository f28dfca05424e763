"""The difference of two rates: of two samples, as judged, and corrected for the judge's errors."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.measures.double_sample import (
    Judged,
    delta_interval,
    score_interval,
    unseen_variance,
)
from annotator.measures.group_permutation import group_permutation
from annotator.measures.interval import NORMAL_REACH, ROUNDING, Interval, no_interval
from annotator.measures.misclassification import JudgeErrors
from annotator.measures.paired_rates import LONE


@dataclass(frozen=True, kw_only=True)
class RateDifference:
    """The `value` is the `second` rate less the `first`, of so many `conversations` in all.

    `p` is two-sided. `undefined` says why there is none; where there is no rate, there is no value.
    """

    conversations: int
    first: float | None
    second: float | None
    value: float | None
    standard_error: float | None
    interval: Interval
    p: float | None
    note: str | None = None
    undefined: str | None = None


@dataclass(frozen=True)
class CorrectedDifference:
    """A difference of true rates, -1 to 1, or the reason why there is none."""

    value: float | None
    standard_error: float | None
    interval: Interval
    undefined: str | None = None


def two_sample_difference(
    first: Judged, second: Judged, positive: NDArray[np.int64], *, seed: int
) -> RateDifference:
    """Of the shares of turns whose outcome is `positive` (J,), 1 or 0; conversations count once.

    p by permuting conversations between the samples, the interval from the score intervals of the
    two shares (Newcombe 1998, Stat Med 17:873), and the standard error from its width. Without an
    interval or p where either sample is a single conversation. Raises ValueError for one without a
    turn.
    """
    one, two = shares_of(first, positive), shares_of(second, positive)
    p = group_permutation(one, two, seed=seed)
    value, n = float(two.mean() - one.mean()), len(one) + len(two)
    if min(len(one), len(two)) < 2:
        return RateDifference(
            conversations=n,
            first=float(one.mean()),
            second=float(two.mean()),
            value=value,
            standard_error=None,
            interval=no_interval(LONE),
            p=None,
            undefined=LONE,
        )
    interval = _between(value, *map(_share_reach, (one, two)))
    return RateDifference(
        conversations=n,
        first=float(one.mean()),
        second=float(two.mean()),
        value=value,
        standard_error=(interval.high - interval.low) / (2 * NORMAL_REACH),
        interval=interval,
        p=p,
    )


def corrected_difference(
    difference: RateDifference, errors: JudgeErrors | None
) -> CorrectedDifference:
    """d / (Se + Sp - 1), V = [Var d + diff² · Var(Se + Sp)] / (Se + Sp - 1)², diff that quotient.

    It assumes that the judge errs alike in both conditions. None where the 95% interval of Se + Sp
    reaches 1, since the judge may then tell nothing apart.
    """
    if difference.value is None or difference.standard_error is None:
        return _uncorrected(difference.undefined or LONE)
    if errors is None:
        return _uncorrected("no labelled items tell the judge's errors")
    informed = errors.sensitivity + errors.specificity - 1
    if informed - NORMAL_REACH * errors.standard_error <= 0:
        return _uncorrected(
            f"sensitivity {errors.sensitivity:.2f} + specificity {errors.specificity:.2f} is not "
            "surely above 1"
        )
    value = difference.value / informed
    spread = difference.standard_error**2 + value**2 * errors.standard_error**2
    error = spread**0.5 / informed
    value = min(1.0, max(-1.0, value))  # and its interval around that
    interval = delta_interval(value, error, difference.conversations)
    return CorrectedDifference(value, error, interval.within((-1.0, 1.0)))


def shares_of(judged: Judged, positive: NDArray[np.int64]) -> NDArray[np.float64]:
    """(Q,) the share of each conversation's turns whose outcome is `positive` (J,)."""
    return (judged.counts @ positive) / judged.counts.sum(axis=1)


@dataclass(frozen=True)
class _Reach:
    """How far a share's interval reaches below and above it."""

    below: float
    above: float


def _share_reach(shares: NDArray[np.float64]) -> _Reach:
    """Of the mean of the shares (n,) of conversations, two or more."""
    n, mean = len(shares), float(shares.mean())
    spread = float(shares.var(ddof=1)) / n
    found = score_interval(mean, spread if spread > ROUNDING else unseen_variance(n), n)
    return _Reach(mean - found.low, found.high - mean)


def _between(value: float, first: _Reach, second: _Reach) -> Interval:
    return Interval(
        value - (second.below**2 + first.above**2) ** 0.5,
        value + (second.above**2 + first.below**2) ** 0.5,
        "Newcombe's, from score intervals by conversation",
    )


def _uncorrected(reason: str) -> CorrectedDifference:
    return CorrectedDifference(None, None, no_interval(reason), reason)
