"""The difference of two rates, paired by conversation, as judged and corrected."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.measures.double_sample import Judged, delta_interval, unseen_variance
from annotator.measures.interval import NORMAL_REACH, Interval, no_interval
from annotator.measures.misclassification import JudgeErrors
from annotator.measures.paired_rates import LONE, NONE_DIFFERS, shared_conversations
from annotator.measures.sign_flip import sign_flip

NONE_SHARED = "no shared conversation"


@dataclass(frozen=True)
class PairedDifference:
    """The second rate less the first, as the mean over `conversations` that have both.

    `first` and `second` are the rates over these; `differing` of the conversations differ. `p` is
    that of all sign flips, or of random ones where it is not `exact`. `undefined` says why there
    is no p: nothing is shared (then there is no value either), or one conversation alone.
    """

    conversations: int
    differing: int
    first: float | None
    second: float | None
    value: float | None
    standard_error: float | None
    interval: Interval
    p: float | None
    exact: bool
    note: str | None = None
    undefined: str | None = None


@dataclass(frozen=True)
class CorrectedDifference:
    """A difference of true rates, -1 to 1, or the reason why there is none."""

    value: float | None
    standard_error: float | None
    interval: Interval
    undefined: str | None = None


def paired_difference(
    first: Judged, second: Judged, positive: NDArray[np.int64], *, seed: int
) -> PairedDifference:
    """Of the shares of turns whose outcome is `positive` (J,), 1 or 0.

    Each conversation counts once, with the mean of its own samples in each condition. The interval
    adds half a conversation that differs wholly to either side, since few may differ at all
    (Agresti and Min 2005, Stat Med 24:729); it is that of `unseen_variance` where none does.
    """
    one, other = (shares_of(of, positive) for of in shared_conversations([first, second]))
    return difference_of(one, other, seed=seed)


def difference_of(
    first: NDArray[np.float64], second: NDArray[np.float64], *, seed: int
) -> PairedDifference:
    """Of two shares (Q,) of each conversation, be they of two conditions or of two labels."""
    q = len(first)
    if not q:
        none = no_interval(NONE_SHARED)
        return PairedDifference(
            0, 0, None, None, None, None, none, None, False, undefined=NONE_SHARED
        )
    away = second - first
    found = sign_flip(away, seed=seed)
    error, interval = _spread(away, found.differing)
    return PairedDifference(
        conversations=q,
        differing=found.differing,
        first=float(first.mean()),
        second=float(second.mean()),
        value=float(away.mean()) if found.differing else 0.0,
        standard_error=error if q > 1 else None,
        interval=interval,
        p=found.p if q > 1 else None,
        exact=found.exact,
        note=None if found.differing else NONE_DIFFERS,
        undefined=None if q > 1 else LONE,
    )


def corrected_difference(
    difference: PairedDifference, errors: JudgeErrors | None
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


def shares_of(judged: Judged, positive: NDArray[np.int64]) -> NDArray[np.float64]:
    """(Q,) the share of each conversation's turns whose outcome is `positive` (J,)."""
    return (judged.counts @ positive) / judged.counts.sum(axis=1)


def _spread(differences: NDArray[np.float64], differing: int) -> tuple[float, Interval]:
    q = len(differences)
    if not differing:
        error = (2 * unseen_variance(q)) ** 0.5
        return error, delta_interval(0.0, error, q)
    total = float(differences.sum())
    centre = total / (q + 2)
    squares = float(differences @ differences) + 1 - (q + 2) * centre**2
    error = squares**0.5 / (q + 2)
    return error, delta_interval(centre, error, q).within((-1.0, 1.0))
