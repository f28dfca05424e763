"""An estimate: a statistic's value with its intervals, or the reason why it has none."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from annotator.measures.interval import (
    Interval,
    acceleration,
    bootstrap_interval,
    expanded_reach,
    large_sample_interval,
    no_interval,
)
from annotator.measures.replicates import (
    RESAMPLES,
    Replicates,
    Statistic,
    Sums,
    replicate,
)
from annotator.measures.units import Units

ONE_UNIT = "a single conversation"


def no_reason(_total: Sums) -> str:
    return "its denominator is 0"


def no_bound(_total: Sums, _units: int) -> Interval | None:
    return None


@dataclass(frozen=True)
class Measure:
    """A named statistic: `of` sums of features (..., F) to (...), NaN where undefined.

    `undefined` says of the observed sums why there is no value. `bound` gives, of the observed
    sums and the number of units, the interval where resampling cannot: at perfect agreement every
    resample is perfect. None elsewhere. `limits` are the statistic's own, which a large-sample
    interval is cut at.
    """

    name: str
    of: Statistic
    undefined: Callable[[Sums], str] = no_reason
    bound: Callable[[Sums, int], Interval | None] = no_bound
    limits: tuple[float, float] = (-np.inf, np.inf)


@dataclass(frozen=True)
class Estimate:
    """A value with two intervals: the bootstrap's, and the large-sample one as a cross-check.

    `value` is None where `undefined` says why. `units` are the conversations resampled (items,
    where none share one); `standard_error` allows for that. `two_sided_p` is that of the value
    being 0 by the bootstrap, for differences: twice the smaller share of resamples beyond 0, at
    least 1/B; `above_zero` is the share above 0. Both None where there is no interval.
    `run_variance` is the part of SE² that three runs of the judge or more have in common.
    """

    name: str
    value: float | None
    interval: Interval
    standard_error: float | None
    large_sample: Interval
    units: int
    undefined: str | None = None
    two_sided_p: float | None = None
    above_zero: float | None = None
    run_variance: float = 0.0

    @property
    def notes(self) -> tuple[str, ...]:
        return self.interval.notes(self.units)

    def as_dict(self) -> dict[str, object]:
        return {
            "value": self.value,
            "standard_error": self.standard_error,
            "interval": self.interval.as_dict(),
            "large_sample": self.large_sample.as_dict(),
            "units": self.units,
            "undefined": self.undefined,
            "notes": list(self.notes),
        }


def estimates(
    units: Units, measures: Sequence[Measure], *, seed: int, resamples: int = RESAMPLES
) -> dict[str, Estimate]:
    """Every measure by name, all from one set of resamples: differences between them are paired."""
    found = replicate(units, [measure.of for measure in measures], seed=seed, resamples=resamples)
    return {
        measure.name: _estimate(measure, replicates, units)
        for measure, replicates in zip(measures, found, strict=True)
    }


def _estimate(measure: Measure, replicates: Replicates, units: Units) -> Estimate:
    total, n = units.merged_runs.total, units.count
    if np.isnan(replicates.value):
        reason = measure.undefined(total)
        none = no_interval(reason)
        return Estimate(measure.name, None, none, None, none, n, reason)
    value = replicates.value
    if n == 1:
        none = no_interval(ONE_UNIT)
        return Estimate(measure.name, value, none, None, none, n)
    error = replicates.standard_error
    interval = measure.bound(total, n) or bootstrap_interval(
        value,
        replicates.resampled,
        acceleration(replicates.left_out, replicates.times),
        expanded_reach(n, len(np.unique(replicates.strata)), replicates.degrees),
    ).within(measure.limits)
    return Estimate(
        measure.name,
        value,
        interval,
        error,
        large_sample_interval(value, error, n, measure.limits, replicates.degrees),
        n,
        two_sided_p=_two_sided_p(replicates) if interval.low is not None else None,
        above_zero=_above_zero(replicates) if interval.low is not None else None,
        run_variance=replicates.run_variance,
    )


def _two_sided_p(replicates: Replicates) -> float:
    drawn = replicates.resampled[~np.isnan(replicates.resampled)]
    beyond = min((drawn <= 0).mean(), (drawn >= 0).mean())
    return float(min(1.0, 2 * max(beyond, 0.5 / len(drawn))))


def _above_zero(replicates: Replicates) -> float:
    drawn = replicates.resampled[~np.isnan(replicates.resampled)]
    return float((drawn > 0).mean() + (drawn == 0).mean() / 2)
