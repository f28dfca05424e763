"""Kappa as it is reported: with its interval, its error between conversations, and its bands."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.measures.agreement import Agreement, band, influence, table_agreement
from annotator.measures.coefficients import kappa_chance
from annotator.measures.confusion import positions
from annotator.measures.estimate import Estimate, estimates
from annotator.measures.interval import Interval, large_sample_interval, no_interval
from annotator.measures.layout import pair_tables
from annotator.measures.replicates import RESAMPLES
from annotator.measures.table_measures import TableOf, coefficient
from annotator.measures.units import Units, gather, patterns


@dataclass(frozen=True)
class Kappa:
    """Kappa with its intervals, and the bands of the estimate and of the interval's low end.

    The items come from `conversations` different ones; `standard_error` and intervals allow for
    items of one conversation being alike, which `agreement.standard_error` does not, and for what
    three runs of the judge or more differ by. `large_sample` is the cross-check of `interval`.
    """

    agreement: Agreement
    conversations: int
    standard_error: float | None
    interval: Interval
    large_sample: Interval

    @property
    def value(self) -> float | None:
        return self.agreement.kappa

    @property
    def items(self) -> int:
        return self.agreement.n

    @property
    def undefined(self) -> str | None:
        return self.agreement.undefined

    @property
    def band(self) -> str | None:
        return band(self.value)

    @property
    def lower_band(self) -> str | None:
        return band(self.interval.low)

    @property
    def notes(self) -> tuple[str, ...]:
        return self.agreement.notes + self.interval.notes(self.conversations)

    def as_dict(self) -> dict[str, object]:
        sizes = {"n": self.agreement.n, "conversations": self.conversations}
        return (sizes | self.agreement.as_dict()) | {
            "standard_error": self.standard_error,
            "notes": list(self.notes),
            "interval": self.interval.as_dict(),
            "large_sample": self.large_sample.as_dict(),
            "band": self.band,
            "lower_band": self.lower_band,
        }


def kappa_between(
    rows: Sequence[tuple[Hashable, Hashable, Hashable]],
    categories: Sequence[str],
    *,
    seed: int,
) -> Kappa:
    """Kappa of (conversation, one label, other label) rows, one per item; raises as `tally`."""
    return kappa_of(label_units(rows, categories), (len(categories),) * 2, seed=seed)


def kappa_of(
    units: Units, shape: tuple[int, int], *, seed: int, resamples: int = RESAMPLES
) -> Kappa:
    """Kappa of units whose features are one table of this shape, flat."""

    def table(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        return sums.reshape(*sums.shape[:-1], *shape)

    measure = coefficient("kappa", table, kappa_chance)
    return reported_kappa(
        units, table, estimates(units, [measure], seed=seed, resamples=resamples)["kappa"]
    )


def label_units(
    rows: Sequence[tuple[Hashable, Hashable, Hashable]], categories: Sequence[str]
) -> Units:
    """Units of (conversation, one label, other label) rows, one table (K, K) of each, flat."""
    rows = list(rows)
    k = len(categories)
    known = positions(categories)
    codes = np.array([[known(one), known(other)] for _, one, other in rows], dtype=np.int64)
    found = patterns(codes.reshape(len(rows), 2))
    tables = pair_tables(found.rows[:, 0], found.rows[:, 1], k, k)
    clusters = cluster_numbers([conversation for conversation, _, _ in rows])
    return gather(tables.reshape(len(tables), k * k), found.of_item, clusters=clusters)


def cluster_numbers(clusters: Sequence[Hashable]) -> NDArray[np.int64] | None:
    """A number for what each item belongs to; None where no two items share it."""
    numbers: Mapping[Hashable, int] = {c: k for k, c in enumerate(dict.fromkeys(clusters))}
    if len(numbers) == len(clusters):
        return None
    return np.array([numbers[cluster] for cluster in clusters], dtype=np.int64)


def reported_kappa(
    units: Units, table: TableOf, estimate: Estimate, items: int | None = None
) -> Kappa:
    """The kappa of `table` in the units' sums, with the interval that `estimate` has of it.

    `items` is how many items the table holds where they do not count 1 each.
    """
    agreement = table_agreement(table(units.total), items)
    tables = table(units.rows.sum(axis=1))
    q = int(units.times @ tables.any(axis=(-2, -1)))
    if agreement.kappa is None:
        none = no_interval(agreement.undefined or "")
        return Kappa(agreement, q, None, none, none)
    if q == 1:
        none = no_interval("a single conversation")
        return Kappa(agreement, q, None, none, none)
    error = _standard_error(units, table, estimate.run_variance)
    return Kappa(
        agreement,
        q,
        error,
        estimate.interval,
        large_sample_interval(agreement.kappa, error, q, limits=(-1.0, 1.0)),
    )


def _standard_error(units: Units, table: TableOf, run_variance: float) -> float:
    """SE² = Q/(Q-1) · Σ_q (Σψ)² / n², ψ summed within each conversation, and what the runs add.

    Apart from Q/(Q-1) that of Fleiss, Cohen and Everitt where no two items share a conversation.
    """
    total = table(units.total)
    tables = table(units.rows.sum(axis=1))
    moves = (tables * influence(total)).sum(axis=(-2, -1)) / float(total.sum())
    present = tables.any(axis=(-2, -1))
    variance = units.influence_variance(moves, corrected=True, present=present)
    return (variance + run_variance) ** 0.5
