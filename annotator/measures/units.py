"""Units: what the bootstrap draws, each a row of numbers that add up.

Every statistic of the calibration is a function of sums of features over items, so one set of
drawn units gives all of them, paired. Items with the same ratings are the same pattern, and units
with the same row are one row with a count: the cost goes with what differs, not with n.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

DENSE_CODES = 1 << 22  # up to so many possible patterns are counted by index instead of by sorting


@dataclass(frozen=True)
class Patterns:
    """The different rows among items' ratings: `rows` (P, C) in order, `of_item` (n,) into them."""

    rows: NDArray[np.int64]
    of_item: NDArray[np.int64]


@dataclass(frozen=True)
class Units:
    """What is drawn with replacement, stratum by stratum.

    `rows` (U, R, F) are the different units' features under each of R runs of the judge (R = 1
    where nothing was run several times), `times` (U,) how many units have that row, `strata` (U,)
    the stratum they are drawn in, counted from 0. Units of one row and stratum appear once, in an
    order that depends on nothing but the rows.
    """

    rows: NDArray[np.float64]
    times: NDArray[np.int64]
    strata: NDArray[np.int64]

    @property
    def count(self) -> int:
        """How many units there are: conversations, or items where none share one."""
        return int(self.times.sum())

    @property
    def runs(self) -> int:
        return self.rows.shape[1]

    @property
    def total(self) -> NDArray[np.float64]:
        """The sums over all units and runs, shape (F,)."""
        return np.einsum("u,urf->f", self.times, self.rows)

    def influence_variance(
        self,
        influence: NDArray[np.float64],
        *,
        corrected: bool,
        present: NDArray[np.bool_] | None = None,
    ) -> float:
        """Variance of an estimate that each unit moves by `influence` (U,), runs added up.

        Σ influence² around the mean of its stratum; with Q/(Q - 1) of Q units where `corrected`,
        and always in several strata (Cochran 1977, Sampling Techniques, 5.3). One unit alone in
        its stratum adds nothing. `present` (U,) are the units that count, by default all.
        """
        times = self.times if present is None else self.times * present
        numbers = np.unique(self.strata)
        variance = 0.0
        for stratum in numbers:
            inside = self.strata == stratum
            q = int(times[inside].sum())
            if q > 1:
                away = influence[inside] - np.average(influence[inside], weights=times[inside])
                factor = q / (q - 1) if corrected or len(numbers) > 1 else 1.0
                variance += factor * float(times[inside] @ away**2)
        return variance

    @property
    def merged_runs(self) -> "Units":
        """The same units with their runs added up: of a single run, R times the counts."""
        if self.runs == 1:
            return self
        rows = self.rows.sum(axis=1)
        merged = _merged(rows, self.times, self.strata)
        return Units(merged[0][:, np.newaxis, :], *merged[1:])

    def of_run(self, run: int) -> "Units":
        """One run alone, row for row."""
        return Units(self.rows[:, run : run + 1], self.times, self.strata)


def patterns(ratings: NDArray[np.int64]) -> Patterns:
    """The different rows of `ratings`, shape (n, C) of whole numbers ≥ -1 (-1 marks none).

    Rows come out in lexical order, so they do not depend on the order of the items.
    """
    n, columns = ratings.shape
    sizes = ratings.max(axis=0, initial=-1) + 2
    possible = np.prod(sizes, dtype=np.float64)
    if possible >= 2**62:
        rows, of_item = np.unique(ratings, axis=0, return_inverse=True)
        return Patterns(rows, of_item.reshape(n))
    codes = np.zeros(n, dtype=np.int64)
    for column, size in zip(ratings.T, sizes, strict=True):
        codes *= size
        codes += column
        codes += 1
    if possible <= DENSE_CODES:
        present = np.flatnonzero(np.bincount(codes, minlength=1))
        position = np.zeros(present[-1] + 1 if len(present) else 1, dtype=np.int64)
        position[present] = np.arange(len(present))
        of_item = position[codes]
    else:
        present, of_item = np.unique(codes, return_inverse=True)
    rows = np.empty((len(present), columns), dtype=np.int64)
    for k in range(columns - 1, -1, -1):
        present, digit = np.divmod(present, sizes[k])
        rows[:, k] = digit - 1
    return Patterns(rows, of_item)


def gather(
    features: NDArray[np.float64],
    of_item: NDArray[np.int64],
    *,
    clusters: NDArray[np.int64] | None = None,
    weights: NDArray[np.float64] | None = None,
    strata: NDArray[np.int64] | None = None,
) -> Units:
    """Units of n items: `features` (P, F) or (P, R, F) per pattern, `of_item` (n,) into them.

    `clusters` (n,) numbers what each item belongs to: its features are summed with those of its
    fellows, since only clusters are independent. `weights` (n,) multiply an item's features;
    `strata` (n,) say where it was drawn. Strata are kept only where no cluster is in two of them;
    otherwise clusters are drawn from all, which gives wider intervals, never narrower ones on
    average.
    """
    shape = features.shape[1:]
    flat = features.reshape(len(features), int(np.prod(shape))).astype(np.float64)
    runs = shape[0] if features.ndim == 3 else 1
    if clusters is None and weights is None and strata is None:
        times = np.bincount(of_item, minlength=len(flat))
        rows, times, in_stratum = flat[times > 0], times[times > 0], None
    elif clusters is None:
        rows, times, in_stratum = _weighted_items(flat, of_item, weights, strata)
    else:
        _, of_cluster = np.unique(clusters, return_inverse=True)
        count = int(of_cluster.max(initial=-1)) + 1
        rows = _cluster_sums(flat, of_cluster, of_item, weights, count)
        times = np.ones(count, dtype=np.int64)
        in_stratum = _clusters_strata(of_cluster, strata, count)
    if in_stratum is None:
        in_stratum = np.zeros(len(rows), dtype=np.int64)
    _, numbered = np.unique(in_stratum, return_inverse=True)
    rows, times, in_stratum = _merged(rows, times, numbered)
    return Units(rows.reshape(len(rows), runs, shape[-1]), times, in_stratum)


def _weighted_items(flat, of_item, weights, strata):
    """One row per (pattern, weight, stratum)."""
    n = len(of_item)
    weight = np.ones(n) if weights is None else weights
    stratum = np.zeros(n, dtype=np.int64) if strata is None else strata
    keys = np.column_stack([stratum.astype(np.float64), of_item, weight])
    different, times = np.unique(keys, axis=0, return_counts=True)
    rows = flat[different[:, 1].astype(np.int64)] * different[:, 2:]
    return rows, times, different[:, 0].astype(np.int64)


def _cluster_sums(flat, of_cluster, of_item, weights, count):
    """One row per cluster. Weights are summed in one order, or rounding would tell orders apart."""
    if weights is None:
        weights = np.ones(len(of_item))
    else:
        order = np.lexsort((weights, of_item, of_cluster))
        weights, of_cluster, of_item = weights[order], of_cluster[order], of_item[order]
    return csr_array((weights, (of_cluster, of_item)), shape=(count, len(flat))) @ flat


def _clusters_strata(of_cluster, strata, count):
    """The stratum of every cluster, or None where one of them is in several."""
    if strata is None:
        return None
    lowest = np.full(count, np.iinfo(np.int64).max)
    highest = np.full(count, np.iinfo(np.int64).min)
    np.minimum.at(lowest, of_cluster, strata)
    np.maximum.at(highest, of_cluster, strata)
    return lowest if (lowest == highest).all() else None


def _merged(rows, times, strata):
    """Equal rows of a stratum once, in an order that only the values decide."""
    keyed = np.column_stack([strata, rows])
    different, of_row = np.unique(keyed, axis=0, return_inverse=True)
    total = np.bincount(of_row.reshape(-1), weights=times, minlength=len(different))
    return different[:, 1:], total.astype(np.int64), different[:, 0].astype(np.int64)
