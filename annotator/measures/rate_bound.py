"""Rate bound: is a rate shown to lie below, or above, a bound such as 5%?

Near 0 a normal approximation errs: nothing seen has no variance, and a judge's false alarms are
few. Here every share has beta limits at its effective number of items, as Clopper and Pearson's
interval has (complex samples: Korn and Graubard 1998, Survey Methodology 24:193), and a rate that
follows from several shares has all their limits melded (Fay, Proschan and Brittain 2015,
Biometrics 71:146).
"""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv, betaln

from annotator.measures.double_sample import Judged, Labelled, effective_number, quantile, variance
from annotator.measures.interval import NORMAL_REACH, ROUNDING

NODES, FEW_NODES = leggauss(64), leggauss(12)
_FAR = 1e-14  # chance beyond which a beta's tail is left out


class Side(StrEnum):
    BELOW = "below"
    ABOVE = "above"


@dataclass(frozen=True)
class Share:
    """A share as n independent items would show it; n need not be whole."""

    value: float
    n: float


def observed_share(judged: Judged, positive: NDArray[np.int64]) -> Share:
    """The share of `positive` (J,) outcomes, n = share · (1 - share) / V, V by conversation.

    Few conversations tell V badly: n is then less by (z / t)², as Korn and Graubard have it, and
    a single one counts as one item.
    """
    value = float(judged.shares @ positive)
    q = len(np.unique(judged.conversations))
    if min(value, 1 - value) < ROUNDING:
        n = effective_number(judged.counts.sum(axis=1), judged.conversations)
        value = float(round(value))
    else:
        moves = (judged.share_influence() @ positive)[:, np.newaxis]
        spread = float(variance([(moves, judged.conversations)], shared=True)[0])
        n = judged.turns if spread <= 0 else min(value * (1 - value) / spread, judged.turns)
    return Share(value, n * (NORMAL_REACH / quantile(q)[0]) ** 2 if q > 1 else min(n, 1.0))


def judged_of_label(labelled: Labelled, label: int) -> Judged:
    """What the judge said of the items that people gave one label, each by its weight."""
    those = labelled.people == label
    weights = labelled.weights[those]
    weights = weights * (weights.sum() / (weights @ weights)) if len(weights) else weights
    counts = weights[:, np.newaxis] * labelled.judged[those]
    return Judged(counts, labelled.conversations[those])


def bound_p(share: Share, bound: float, side: Side) -> float:
    """One-sided, exact of independent items: small where the share lies on that side of `bound`.

    >>> round(bound_p(Share(0.0, 59), 0.05, Side.BELOW), 4)  # 0.95 ** 59
    0.0485
    """
    return float(_beyond(share, np.array(bound), side))


def corrected_bound_p(
    judged: Share, sensitivity: Share, false_alarms: Share, bound: float, side: Side
) -> float:
    """The same of the true rate behind a judged one, where these tell the judge's errors.

    The rate is below `bound` where judged < bound · Se + (1 - bound) · FA, FA = 1 - Sp. Each share
    takes its limit on the side that speaks against it; the p is the chance that they do not show
    it. Conservative: false alarms of .05 and 200 to 400 labels give 1% to 2% where 2.5% is meant.
    """
    other = Side.ABOVE if side is Side.BELOW else Side.BELOW
    alarms, of_alarms = _limits(false_alarms, other, *NODES)
    found, of_found = _limits(sensitivity, other, *FEW_NODES)
    least = bound * found[:, np.newaxis] + (1 - bound) * alarms
    return float(of_found @ _beyond(judged, least, side) @ of_alarms)


def _beyond(share: Share, bound: NDArray[np.float64], side: Side) -> NDArray[np.float64]:
    """P(limit ≥ bound) of the upper limit where the side is below, P(limit ≤ bound) of the lower

    where it is above.
    """
    hits, others = share.value * share.n, (1 - share.value) * share.n
    if side is Side.BELOW:
        return betainc(others, hits + 1, 1 - bound) if others > 0 else np.ones_like(bound)
    return betainc(hits, others + 1, bound) if hits > 0 else np.ones_like(bound)


def _limits(
    share: Share, side: Side, nodes: NDArray[np.float64], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Upper limits where the side is below, else lower ones: values and chances, 1 in all."""
    hits, others = share.value * share.n, (1 - share.value) * share.n
    a, b = (hits + 1, others) if side is Side.BELOW else (hits, others + 1)
    if a <= 0 or b <= 0:
        return np.array([0.0 if a <= 0 else 1.0]), np.ones(1)
    if min(a, b) < 1:  # the density has a pole: equal chances instead of equal distances
        return betaincinv(a, b, (nodes + 1) / 2), weights / weights.sum()
    low, high = betaincinv(a, b, _FAR), 1 - betaincinv(b, a, _FAR)
    values = low + (high - low) * (nodes + 1) / 2
    chances = np.exp((a - 1) * np.log(values) + (b - 1) * np.log1p(-values) - betaln(a, b))
    chances *= weights
    return values, chances / chances.sum()
