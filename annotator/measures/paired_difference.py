"""The difference of two rates, paired by conversation."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.measures.double_sample import Judged, delta_interval, unseen_variance
from annotator.measures.interval import Interval, no_interval
from annotator.measures.paired_rates import LONE, NONE_DIFFERS, shared_conversations
from annotator.measures.rate_difference import RateDifference, shares_of
from annotator.measures.sign_flip import sign_flip

NONE_SHARED = "no shared conversation"


@dataclass(frozen=True, kw_only=True)
class PairedDifference(RateDifference):
    """The mean, over the conversations that both have, of the second's rate less the first's.

    `differing` of the conversations differ. `p` is that of all sign flips, or of random ones where
    it is not `exact`; there is none where nothing is shared, or one conversation alone.
    """

    differing: int
    exact: bool


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
        return PairedDifference(
            conversations=0,
            differing=0,
            first=None,
            second=None,
            value=None,
            standard_error=None,
            interval=no_interval(NONE_SHARED),
            p=None,
            exact=False,
            undefined=NONE_SHARED,
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
