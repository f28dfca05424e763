"""Intervals by resampling: every bootstrap of the calibration draws its tables here."""

from dataclasses import asdict, dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from judge.calibration.agreement import Agreement, band, kappas, table_agreement

RESAMPLES = 10_000
LEVEL = 0.95  # two-sided coverage of every interval
PERCENTILE = "bootstrap percentile"


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


@dataclass(frozen=True)
class Kappa:
    """Kappa with its interval, and the bands of the estimate and of the interval's low end."""

    agreement: Agreement
    interval: Interval

    @property
    def value(self) -> float | None:
        return self.agreement.kappa

    @property
    def band(self) -> str | None:
        return band(self.value)

    @property
    def lower_band(self) -> str | None:
        return band(self.interval.low)

    def as_dict(self) -> dict[str, object]:
        return self.agreement.as_dict() | {
            "interval": asdict(self.interval),
            "band": self.band,
            "lower_band": self.lower_band,
        }


def resample(
    table: NDArray[np.int64], *, seed: int, resamples: int = RESAMPLES
) -> NDArray[np.int64]:
    """Bootstrap resamples of a table of counts, shape (resamples, *table.shape).

    Drawing n items with replacement is one multinomial draw over the cells: the same
    distribution as resampling rows, without depending on their order or on n for its time.
    Everything computed from one set of draws is paired.
    """
    counts = table.ravel()
    n = int(counts.sum())
    if n == 0:
        return np.zeros((resamples, *table.shape), dtype=np.int64)
    occupied = np.flatnonzero(counts)
    draws = np.zeros((resamples, counts.size), dtype=np.int64)
    generator = np.random.default_rng(seed)
    draws[:, occupied] = generator.multinomial(n, counts[occupied] / n, size=resamples)
    return draws.reshape(resamples, *table.shape)


def kappa_with_interval(table: NDArray[np.int64], draws: NDArray[np.int64]) -> Kappa:
    """Kappa of a table, shape (K, K + E), with the interval that its resamples give.

    Where kappa is undefined, rests on one item, or comes out alike in every resample, there is
    no interval; but at perfect agreement, where resampling can only repeat it, the Wilson bound
    of the raw agreement stands in.
    """
    agreement = table_agreement(table)
    return Kappa(agreement, _interval(agreement, draws))


def _interval(agreement: Agreement, draws: NDArray[np.int64]) -> Interval:
    if agreement.kappa is None:
        return Interval(None, None, f"none: {agreement.undefined}")
    if agreement.n == 1:
        return Interval(None, None, "none: a single item")
    if agreement.observed == 1:
        return _wilson_through_kappa(agreement)
    replicates = kappas(draws)
    defined = replicates[~np.isnan(replicates)]
    undefined = len(replicates) - len(defined)
    if not len(defined) or defined.min() == defined.max():
        return Interval(None, None, "none: every resample gives the same kappa", undefined)
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(defined, [tail, 1 - tail]).tolist()
    # In small skewed tables a percentile can pass the estimate; an interval must contain it.
    low, high = min(low, agreement.kappa), max(high, agreement.kappa)
    return Interval(low, high, PERCENTILE, undefined)


def _wilson_through_kappa(agreement: Agreement) -> Interval:
    """From Wilson's lower bound of po = n/n, which is n / (n + z²), at the observed pe."""
    z = NormalDist().inv_cdf((1 + LEVEL) / 2)
    bound = agreement.n / (agreement.n + z**2)
    low = (bound - agreement.expected) / (1 - agreement.expected)
    return Interval(low, 1.0, "Wilson bound of the raw agreement: no item disagrees")
