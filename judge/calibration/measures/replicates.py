"""Replicates: one shared, seeded resample of the units, and every statistic over it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judge.calibration.measures.units import Units

RESAMPLES = 10_000
CHUNK = 1 << 22  # numbers held at once by any one array of a chunk of resamples
FEW_RUNS = 3  # runs of a judge from which on they are drawn too; of fewer the spread is unknown
SPARSE = 8  # with so many units per different one, a multinomial beats drawing them singly

Sums = NDArray[np.float64]  # (..., F): features summed over units
Statistic = Callable[[Sums], NDArray[np.float64]]  # (..., F) to (...); NaN marks the undefined


@dataclass(frozen=True)
class Replicates:
    """Values of one statistic: observed, over the resamples (B,), and without each unit (U,).

    `times` (U,) and `strata` (U,) are those of the units. Statistics computed together are from
    the same resamples, hence paired.
    """

    value: float
    resampled: NDArray[np.float64]
    left_out: NDArray[np.float64]
    times: NDArray[np.int64]
    strata: NDArray[np.int64]

    @property
    def standard_error(self) -> float | None:
        """The jackknife's, which is the delta method's in large samples (Efron and Stein 1981).

        Σ_h (n_h - 1)/n_h · Σ (θ without the unit - their mean in the stratum)². None where it is
        not defined, and of a single unit.
        """
        if np.isnan(self.value) or np.isnan(self.left_out).any() or self.times.sum() < 2:
            return None
        variance = 0.0
        for stratum in np.unique(self.strata):
            inside = self.strata == stratum
            times, values = self.times[inside], self.left_out[inside]
            n = int(times.sum())
            away = values - np.average(values, weights=times)
            variance += (n - 1) / n * float(times @ away**2)
        return variance**0.5


def replicate(
    units: Units, statistics: Sequence[Statistic], *, seed: int, resamples: int = RESAMPLES
) -> tuple[Replicates, ...]:
    """Every statistic over one set of resamples; memory is bounded whatever the sizes.

    The result depends on the units and the seed alone: neither on the order that items came in
    nor on how many resamples are computed at a time.
    """
    drawn = [np.empty(resamples) for _ in statistics]
    start = 0
    for sums in resampled_sums(units, seed=seed, resamples=resamples):
        for values, statistic in zip(drawn, statistics, strict=True):
            values[start : start + len(sums)] = statistic(sums)
        start += len(sums)
    left_out = [np.empty(len(units.times)) for _ in statistics]
    start = 0
    for sums in _left_out(units):
        for values, statistic in zip(left_out, statistics, strict=True):
            values[start : start + len(sums)] = statistic(sums)
        start += len(sums)
    total = units.total
    return tuple(
        Replicates(float(statistic(total)), values, without, units.times, units.strata)
        for statistic, values, without in zip(statistics, drawn, left_out, strict=True)
    )


def resampled_sums(
    units: Units, *, seed: int, resamples: int = RESAMPLES, chunk: int = CHUNK
) -> Iterator[Sums]:
    """Sums of the features over resampled units, in chunks of shape (b, F).

    In each resample every stratum's units are drawn anew, as many as it has, and with three runs
    or more the runs too, the same for all units: what one run has in common is then part of the
    spread. Sums are over R runs, like `Units.total`.
    """
    _, runs, width = units.rows.shape
    strata = [_Stratum(units, stratum, seed) for stratum in np.unique(units.strata)]
    run_draws = np.random.default_rng([seed, 1])
    widest = max([runs * width, *(stratum.width for stratum in strata)], default=1)
    size = max(1, min(resamples, chunk // max(1, widest)))
    for start in range(0, resamples, size):
        b = min(size, resamples - start)
        sums = np.zeros((b, runs * width))
        for stratum in strata:
            sums += stratum.draw(b)
        if runs == 1:
            yield sums
            continue
        weights = np.ones((b, runs))
        if runs >= FEW_RUNS:
            weights = run_draws.multinomial(runs, np.full(runs, 1 / runs), size=b)
        yield np.einsum("br,brf->bf", weights, sums.reshape(b, runs, width))


class _Stratum:
    """Draws one stratum's units, from a stream of its own so that chunks cut no stream apart."""

    def __init__(self, units: Units, stratum: int, seed: int) -> None:
        inside = units.strata == stratum
        rows, self._times = units.rows[inside].reshape(inside.sum(), -1), units.times[inside]
        self._n = int(self._times.sum())
        self._generator = np.random.default_rng(seed if stratum == 0 else [seed, 2, int(stratum)])
        # Half the width is twice the speed, and exact for whole numbers below 2²⁴.
        whole = (rows == np.rint(rows)).all() and np.abs(rows).max(initial=0) * self._n < 2**24
        self._rows = rows.astype(np.float32 if whole else np.float64)
        self._by_cell = len(rows) * SPARSE <= self._n
        self._expanded = None if self._by_cell else np.repeat(np.arange(len(rows)), self._times)
        self.width = len(rows) if self._by_cell else max(self._n, len(rows))

    def draw(self, resamples: int) -> NDArray[np.float64]:
        """(resamples, R · F). The draws of many single units are counted, not multinomial."""
        if self._by_cell:
            chances = self._times / self._n
            counts = self._generator.multinomial(self._n, chances, size=resamples)
        else:
            counts = np.empty((resamples, len(self._rows)), dtype=self._rows.dtype)
            for row in counts:  # one at a time stays in the cache
                picks = self._generator.integers(self._n, size=self._n, dtype=np.int32)
                row[:] = np.bincount(self._expanded.take(picks), minlength=len(row))
        return (counts.astype(self._rows.dtype, copy=False) @ self._rows).astype(np.float64)


def _left_out(units: Units) -> Iterator[Sums]:
    """The sums without one unit, for each different one, in chunks of shape (u, F).

    What is left of its stratum is weighted up to the stratum's size, which for a single stratum
    changes no share and is left undone.
    """
    rows = units.rows.sum(axis=1)
    total = units.total
    several = len(np.unique(units.strata)) > 1
    size = max(1, CHUNK // max(1, rows.shape[1]))
    for start in range(0, len(rows), size):
        part = rows[start : start + size]
        if not several:
            yield total - part
            continue
        sums = np.empty_like(part)
        for k, stratum in enumerate(units.strata[start : start + size]):
            inside = units.strata == stratum
            n = units.times[inside].sum()
            whole = units.times[inside] @ rows[inside]
            up = n / (n - 1) if n > 1 else 1.0
            sums[k] = total - whole + (whole - part[k]) * up if n > 1 else total
        yield sums
