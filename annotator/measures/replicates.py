"""Replicates: one shared, seeded resample of the units, and every statistic over it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.measures.units import Units

RESAMPLES = 10_000
CHUNK = 1 << 22  # numbers held at once by any one array of a chunk of resamples
FEW_RUNS = 3  # runs of a judge from which on they are drawn too; of fewer the spread is unknown
CACHED = 1 << 15  # draws counted at a time, few enough to stay in the processor's cache
SPARSE = 8  # with so many units per different one, a multinomial beats drawing them singly

Sums = NDArray[np.float64]  # (..., F): features summed over units
Statistic = Callable[[Sums], NDArray[np.float64]]  # (..., F) to (...); NaN marks the undefined


@dataclass(frozen=True)
class Replicates:
    """Values of one statistic: observed, over the resamples (B,), and without each unit (U,).

    `run_variance` is what the runs of the judge have in common adds to the variance of their mean
    (0 of fewer than three runs), and is part of the spread of `resampled`. `times` (U,) and
    `strata` (U,) are those of the units. Statistics computed together are from the same
    resamples, hence paired.
    """

    value: float
    resampled: NDArray[np.float64]
    left_out: NDArray[np.float64]
    run_variance: float
    times: NDArray[np.int64]
    strata: NDArray[np.int64]
    runs: int = 1

    @property
    def degrees(self) -> float:
        """Degrees of freedom of the squared standard error: units - strata, at least 1.

        Where runs add to it, by Satterthwaite 1946 (Biometrics Bull 2:110), that part having R - 1.
        """
        own = max(1.0, float(self.times.sum()) - len(np.unique(self.strata)))
        error = self.standard_error
        if not self.run_variance or not error:
            return own
        items = error**2 - self.run_variance
        return error**4 / (self.run_variance**2 / (self.runs - 1) + items**2 / own)

    @property
    def standard_error(self) -> float | None:
        """The jackknife's, which is the delta method's in large samples (Efron and Stein 1981).

        Σ_h (n_h - 1)/n_h · Σ (θ without the unit - their mean in the stratum)², and what the runs
        add. None where it is not defined, and of a single unit.
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
        return (variance + self.run_variance) ** 0.5


def replicate(
    units: Units, statistics: Sequence[Statistic], *, seed: int, resamples: int = RESAMPLES
) -> tuple[Replicates, ...]:
    """Every statistic over one set of resamples; memory is bounded whatever the sizes.

    The result depends on the units and the seed alone: neither on the order that items came in
    nor on how many resamples are computed at a time.
    """
    drawn = np.empty((len(statistics), resamples))
    start = 0
    for sums in resampled_sums(units, seed=seed, resamples=resamples):
        for values, statistic in zip(drawn, statistics, strict=True):
            values[start : start + len(sums)] = statistic(sums)
        start += len(sums)
    merged = units.merged_runs
    values = _values(merged.total, statistics)
    without = _without_each(merged, statistics)
    shared = run_variances(units, statistics)
    shifts = np.random.default_rng([seed, 1]).standard_normal(resamples)
    return tuple(
        Replicates(
            value=values[k],
            resampled=drawn[k] + shared[k] ** 0.5 * shifts if shared[k] else drawn[k],
            left_out=without[k],
            run_variance=shared[k],
            times=merged.times,
            strata=merged.strata,
            runs=units.runs,
        )
        for k in range(len(statistics))
    )


def run_variances(units: Units, statistics: Sequence[Statistic]) -> list[float]:
    """What R ≥ 3 runs have in common adds to the variance of each statistic of all: σ²_run / R.

    Items and runs are crossed: the variance of the runs' own values holds σ²_run and, of each
    item's whims, σ²_item×run / n. The latter is part of the spread between items already, so it is
    taken off, as the residual mean square of the jackknife influences (two-way analysis of
    variance; Owen 2007, Ann Appl Stat 1:386, on what resampling both ways would count twice).
    """
    if units.runs < FEW_RUNS or units.count < 2:
        return [0.0] * len(statistics)
    alone = [units.of_run(run) for run in range(units.runs)]
    values = np.array([_values(of_run.total, statistics) for of_run in alone])  # (R, S)
    without = np.stack([_without_each(of_run, statistics) for of_run in alone])  # (R, S, U)
    return [_run_variance(values[:, k], without[:, k], units.times) for k in range(len(statistics))]


def _run_variance(
    values: NDArray[np.float64], without: NDArray[np.float64], times: NDArray[np.int64]
) -> float:
    """σ²_run / R of one statistic: its values per run (R,), and without each unit (R, U)."""
    if np.isnan(values).any() or np.isnan(without).any():
        return 0.0
    n, runs = int(times.sum()), len(values)
    influence = (n - 1) * (values[:, np.newaxis] - without)
    rest = influence - influence.mean(axis=0)
    rest -= (rest @ times / n)[:, np.newaxis]
    residual = float((rest**2 @ times).sum()) / ((n - 1) * (runs - 1))
    return max(0.0, float(values.var(ddof=1)) - residual / n) / runs


def resampled_sums(
    units: Units, *, seed: int, resamples: int = RESAMPLES, chunk: int = CHUNK
) -> Iterator[Sums]:
    """Sums of the features over resampled units, in chunks of shape (b, F).

    In each resample every stratum's units are drawn anew, as many as it has. The runs of a judge
    are summed, like in `Units.total`.
    """
    units = units.merged_runs
    strata = [_Stratum(units, stratum, seed) for stratum in np.unique(units.strata)]
    widest = max([units.rows.shape[2], *(stratum.width for stratum in strata)], default=1)
    size = max(1, min(resamples, chunk // max(1, widest)))
    for start in range(0, resamples, size):
        b = min(size, resamples - start)
        sums = np.zeros((b, units.rows.shape[2]))
        for stratum in strata:
            sums += stratum.draw(b)
        yield sums


class _Stratum:
    """Draws one stratum's units, from a stream of its own so that chunks cut no stream apart."""

    def __init__(self, units: Units, stratum: int, seed: int) -> None:
        inside = units.strata == stratum
        rows, self._times = units.rows[inside, 0], units.times[inside]
        self._n = int(self._times.sum())
        self._generator = np.random.default_rng(seed if stratum == 0 else [seed, 2, int(stratum)])
        # Half the width is twice the speed, and exact for whole numbers below 2²⁴.
        whole = (rows == np.rint(rows)).all() and np.abs(rows).max(initial=0) * self._n < 2**24
        self._rows = rows.astype(np.float32 if whole else np.float64)
        self._by_cell = len(rows) * SPARSE <= self._n
        self._expanded = None if self._by_cell else np.repeat(np.arange(len(rows)), self._times)
        self.width = len(rows) if self._by_cell else max(self._n, len(rows))

    def draw(self, resamples: int) -> NDArray[np.float64]:
        """(resamples, F). The draws of many single units are counted, not multinomial."""
        if self._by_cell:
            chances = self._times / self._n
            counts = self._generator.multinomial(self._n, chances, size=resamples)
        else:
            counts = np.empty((resamples, len(self._rows)), dtype=self._rows.dtype)
            block = max(1, CACHED // self._n)
            for start in range(0, resamples, block):
                counts[start : start + block] = self._counted(min(block, resamples - start))
        return (counts.astype(self._rows.dtype, copy=False) @ self._rows).astype(np.float64)

    def _counted(self, resamples: int) -> NDArray[np.int64]:
        """How often each row is drawn in so many resamples: (resamples, U)."""
        u = len(self._rows)
        picks = self._generator.integers(self._n, size=(resamples, self._n), dtype=np.int32)
        drawn = self._expanded.take(picks)
        drawn += np.arange(resamples)[:, np.newaxis] * u
        return np.bincount(drawn.reshape(-1), minlength=resamples * u).reshape(resamples, u)


def _values(sums: Sums, statistics: Sequence[Statistic]) -> list[float]:
    return [float(statistic(sums)) for statistic in statistics]


def _without_each(units: Units, statistics: Sequence[Statistic]) -> NDArray[np.float64]:
    """Every statistic without one unit, for each different one: (S, U), of a single run.

    What is left of its stratum is weighted up to the stratum's size, which for a single stratum
    changes no share and is left undone.
    """
    rows, total = units.rows[:, 0], units.total
    _, of_row = np.unique(units.strata, return_inverse=True)
    sizes = np.bincount(of_row, weights=units.times)
    whole = np.zeros((len(sizes), rows.shape[1]))
    np.add.at(whole, of_row, rows * units.times[:, np.newaxis])
    values = np.empty((len(statistics), len(rows)))
    size = max(1, CHUNK // max(1, rows.shape[1]))
    for start in range(0, len(rows), size):
        part = slice(start, start + size)
        left = total - rows[part]
        if len(sizes) > 1:
            own, n = whole[of_row[part]], sizes[of_row[part]][:, np.newaxis]
            scale = np.divide(n, n - 1, out=np.ones_like(n), where=n > 1)
            left = total - own + np.where(n > 1, (own - rows[part]) * scale, own)
        for k, statistic in enumerate(statistics):
            values[k, part] = statistic(left)
    return values
