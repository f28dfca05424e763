"""The difference of two rates: of two samples, as judged, and corrected for the judge's errors."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.measures.double_sample import Judged, delta_interval
from annotator.measures.interval import NORMAL_REACH, Interval, no_interval
from annotator.measures.misclassification import JudgeErrors
from annotator.measures.paired_rates import LONE, contrast, paired_rates


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
    first: Judged, second: Judged, positive: NDArray[np.int64]
) -> RateDifference:
    """Of the shares of turns whose outcome is `positive` (J,), 1 or 0: each with its own chance.

    A conversation that is in both samples counts once, with its covariance.
    Raises ValueError for a sample without a turn.
    """
    rates = paired_rates([first, second], positive)
    of = contrast(rates, np.array([-1.0, 1.0]))
    one, two = rates.rates.tolist()
    return RateDifference(
        conversations=rates.conversations,
        first=one,
        second=two,
        value=of.estimate,
        standard_error=of.standard_error,
        interval=of.interval,
        p=of.p,
        note=of.note,
        undefined=None if of.p is not None else of.note,
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


def _uncorrected(reason: str) -> CorrectedDifference:
    return CorrectedDifference(None, None, no_interval(reason), reason)
