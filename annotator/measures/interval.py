"""Intervals: bias-corrected and accelerated, percentile, Wilson's, and why there is none."""

from dataclasses import asdict, dataclass, replace
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

LEVEL = 0.95  # two-sided coverage of every interval
BCA = "BCa bootstrap"
PERCENTILE = "percentile bootstrap"
WILSON = "Wilson bound, each conversation as one item: an estimate at its end resamples to itself"
FEW = 30  # units, below which an interval tends to be too narrow
FEW_NOTE = f"fewer than {FEW} conversations, and an interval then tends to be too narrow"
ROUNDING = 1e-12  # shares, or values of a statistic, this close are equal
_NORMAL = NormalDist()
NORMAL_REACH = _NORMAL.inv_cdf((1 + LEVEL) / 2)  # 1.96


@dataclass(frozen=True)
class Interval:
    """A two-sided 95% interval. `low` and `high` are None where `method` says why there is none.

    `undefined` counts resamples in which the statistic had no value; they are no part of it.
    """

    low: float | None
    high: float | None
    method: str
    undefined: int = 0

    @property
    def half_width(self) -> float | None:
        if self.low is None or self.high is None:
            return None
        return (self.high - self.low) / 2

    def within(self, limits: tuple[float, float]) -> "Interval":
        """The part that the statistic can take; what runs add to the spread knows no limits."""
        if self.low is None or self.high is None:
            return self
        return replace(self, low=max(self.low, limits[0]), high=min(self.high, limits[1]))

    def notes(self, units: int) -> tuple[str, ...]:
        """What makes it less telling than it looks, coming from so many conversations."""
        return (FEW_NOTE,) if self.low is not None and units < FEW else ()

    def as_dict(self) -> dict[str, object]:
        return asdict(self)


def no_interval(reason: str, undefined: int = 0) -> Interval:
    return Interval(None, None, f"none: {reason}", undefined)


def expanded_reach(units: int, strata: int, degrees: float) -> float:
    """How far out in a normal spread of replicates the ends are, for units in so many strata.

    √(n/(n - strata))·t(degrees): the bootstrap's variance is short by the inverse of the former,
    and itself an estimate (the expanded percentile interval of Hesterberg 2015, Am Stat 69:371).
    """
    return (units / max(1, units - strata)) ** 0.5 * student_reach(degrees)


def bootstrap_interval(
    estimate: float,
    replicates: NDArray[np.float64],
    acceleration: float | None,
    reach: float = NORMAL_REACH,
) -> Interval:
    """BCa (Efron 1987, JASA 82:171) from replicates; NaN among them, the undefined, is counted.

    Percentile where the correction is not defined: without an acceleration, or with the estimate
    beyond all replicates. `reach` is in normal standard errors. The interval contains the estimate:
    a skewed small sample's limits can pass it.
    """
    defined = np.sort(replicates[~np.isnan(replicates)])
    undefined = len(replicates) - len(defined)
    if not len(defined) or defined[0] == defined[-1]:
        return no_interval("every resample gives the same value", undefined)
    tails, method = (_NORMAL.cdf(-reach), _NORMAL.cdf(reach)), PERCENTILE
    # Halves of the ties, of which small samples have many; rounding must not tell them apart.
    near = ROUNDING * max(1.0, abs(estimate))
    below = np.searchsorted(defined, estimate - near, "left")
    up_to = np.searchsorted(defined, estimate + near, "right")
    share = (below + up_to) / 2 / len(defined)
    if acceleration is not None and 0 < share < 1:
        tails, method = _corrected(share, acceleration, reach), BCA
    low, high = np.quantile(defined, tails).tolist()
    return Interval(min(low, estimate), max(high, estimate), method, undefined)


def acceleration(left_out: NDArray[np.float64], times: NDArray[np.int64]) -> float | None:
    """BCa's acceleration from the statistic without each different unit, weighted by its times.

    None where the statistic has no value without some unit, or does not depend on any.
    """
    if np.isnan(left_out).any():
        return None
    away = np.average(left_out, weights=times) - left_out
    spread = float(times @ away**2)
    # A spread that is only rounding says nothing of skew.
    if spread <= 1e-24 * max(1.0, float(np.abs(left_out).max(initial=0.0)) ** 2) * len(left_out):
        return None
    return float(times @ away**3) / (6 * spread**1.5)


def large_sample_interval(
    estimate: float,
    standard_error: float | None,
    units: int,
    limits: tuple[float, float] = (-np.inf, np.inf),
    degrees: float | None = None,
) -> Interval:
    """Estimate ± t·SE within `limits`, by Student's t with `degrees` of freedom, else units - 1."""
    if not standard_error:
        return no_interval("no standard error" if standard_error is None else "standard error 0")
    degrees = units - 1 if degrees is None else degrees
    reach = student_reach(degrees) * standard_error
    found = Interval(estimate - reach, estimate + reach, f"large-sample, t({degrees:.0f})")
    return found.within(limits)


def wilson(hits: float, n: float) -> tuple[float, float]:
    """Wilson's 1927 score interval (JASA 22:209) of a share; n > 0 need not be whole.

    >>> [round(end, 4) for end in wilson(10, 10)]
    [0.7225, 1.0]
    """
    z = NORMAL_REACH
    share = hits / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5
    low = 0.0 if hits == 0 else max(0.0, centre - reach)
    return low, 1.0 if hits == n else min(1.0, centre + reach)


def student_reach(degrees: float) -> float:
    """How many standard errors a two-sided interval reaches by Student's t."""
    return float(stdtrit(degrees, (1 + LEVEL) / 2))


def _corrected(share: float, acceleration: float, reach: float) -> tuple[float, float]:
    """BCa's quantiles to take, of the replicates' share below the estimate."""
    shift = _NORMAL.inv_cdf(share)

    def moved(z: float) -> float:
        if acceleration * z >= 1:  # beyond the pole the correction has no meaning: the far end
            return 1.0 if z > 0 else 0.0
        return _NORMAL.cdf(shift + z / (1 - acceleration * z))

    return moved(shift - reach), moved(shift + reach)
