"""Two raters side by side: their table and every estimate over the items that both rated."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.measures.agreement import NO_ITEMS, band, influence, table_agreement
from annotator.measures.confusion import INVALID, Confusion, from_table
from annotator.measures.estimate import Estimate, Measure, estimates
from annotator.measures.interval import no_interval
from annotator.measures.kappa import cluster_numbers
from annotator.measures.layout import pair_tables
from annotator.measures.table_measures import CHANCE, label_measures, table_measures
from annotator.measures.units import Units, gather, patterns
from judge.calibration.label_table.raw_rating import JUDGE
from judge.calibration.label_table.table import LabelTable

PLAIN = ("agreement", *(name for name in CHANCE if name != "kappa"))


@dataclass(frozen=True)
class PairAgreement:
    """Everything of two raters. `found` has the estimates of `table_measures`, those of label
    k with the prefix "k ".

    `standard_error` is kappa's large-sample one (Fleiss, Cohen and Everitt 1969), between
    clusters where there are any. `sampled` names what was resampled, item or cluster. Where items
    have weights the estimates are of weighted items; the confusion counts items all the same.
    """

    rater_a: str
    rater_b: str
    confusion: Confusion
    found: Mapping[str, Estimate]
    standard_error: float | None
    expected: float | None
    sampled: str
    reference: bool
    notes: tuple[str, ...]

    @property
    def n(self) -> int:
        return self.confusion.n

    @property
    def scores(self) -> tuple[str, ...]:
        """What is measured of each label; precision and recall where the first is a reference."""
        return ("precision", "recall", "f1", "kappa") if self.reference else ("f1", "kappa")

    def reason(self, name: str) -> str | None:
        """Why a number or its interval is missing, in the words of what was resampled."""
        estimate = self.found[name]
        reason = estimate.undefined
        if reason is None and estimate.interval.low is None:
            reason = estimate.interval.method.replace("none: ", "no interval: ", 1)
        return worded(reason, self.sampled) if reason else None

    def as_dict(self) -> dict[str, object]:
        kappa = self.found["kappa"]
        reasons = {name: self.reason(name) for name in PLAIN}
        return {
            "rater_a": self.rater_a,
            "rater_b": self.rater_b,
            "n": self.n,
            "agreement": self.found["agreement"].value,
            "kappa": number_dict(kappa, self.reason("kappa")) | {"se": self.standard_error},
            **{name: self.found[name].value for name in PLAIN},
            "expected": self.expected,
            "kappa_max": self.found["kappa_max"].value,
            "band": band(kappa.value),
            "confusion": self.confusion.as_dict(),
            "intervals": {name: interval_list(self.found[name]) for name in PLAIN},
            "undefined": {name: reason for name, reason in reasons.items() if reason},
            "resampled": {"what": f"{self.sampled}s", "n": kappa.units},
            "notes": list(self.notes),
        }

    def label_dicts(self) -> list[dict[str, object]]:
        """One entry per category: counts of items, and estimates of its scores."""
        table = self.confusion.table
        return [
            {
                "rater_a": self.rater_a,
                "rater_b": self.rater_b,
                "label": label,
                "n_a": int(table[k].sum()),
                "n_b": int(table[:, k].sum()),
                "both": int(table[k, k]),
            }
            | {
                name: number_dict(self.found[f"{k} {name}"], self.reason(f"{k} {name}"))
                for name in self.scores
            }
            for k, label in enumerate(self.confusion.categories)
        ]


def compare(table: LabelTable, rater_a: str, rater_b: str, *, seed: int) -> PairAgreement:
    """Two raters of a table, over the items that both rated.

    What a judge says beyond the categories disagrees with every person; between two judges it is
    an outcome like the others.
    """
    first, second = table.labels_of(rater_a), table.labels_of(rater_b)
    items = [item for item in table.items if item in first and item in second]
    beyond_b = table.kinds[rater_b] == JUDGE and bool(table.invalid)
    both_judges = table.kinds[rater_a] == JUDGE and beyond_b
    rows = table.categories + ((INVALID,) if both_judges else ())
    judge_only = (INVALID,) if beyond_b and not both_judges else ()
    position = {label: k for k, label in enumerate((*rows, *judge_only))}
    ratings = np.array(
        [[position[first[item]], position[second[item]]] for item in items], dtype=np.int64
    ).reshape(-1, 2)
    shape = len(rows), len(position)
    found = patterns(ratings)
    features = pair_tables(found.rows[:, 0], found.rows[:, 1], *shape)
    units = gather(
        features.reshape(len(features), -1),
        found.of_item,
        clusters=clusters_of(table, items),
        weights=mean_weights(table, items),
    )
    counts = np.bincount(found.of_item, minlength=len(features))
    confusion = from_table(
        np.tensordot(counts, features.astype(np.int64), axes=1).reshape(shape), rows, judge_only
    )
    return _measured(
        (rater_a, rater_b),
        confusion,
        units,
        seed,
        sampled="cluster" if table.clustered else "item",
        reference=table.kinds[rater_a] != JUDGE and table.kinds[rater_b] == JUDGE,
    )


def compare_counts(counts: NDArray[np.int64], *, seed: int) -> PairAgreement:
    """The two raters of a bare table, shape (K, K) or (K, K + 1), its items independent.

    The rows are the reference of precision and recall.
    """
    rows, columns = counts.shape
    categories = tuple(str(k) for k in range(1, rows + 1))
    cells = np.flatnonzero(counts)
    units = Units(
        np.eye(counts.size)[cells][:, np.newaxis, :],
        counts.reshape(-1)[cells],
        np.zeros(len(cells), dtype=np.int64),
    )
    judge_only = (INVALID,) * (columns - rows)
    confusion = from_table(counts, categories, judge_only)
    raters = ("rows", "columns")
    return _measured(raters, confusion, units, seed, sampled="item", reference=True)


def clusters_of(table: LabelTable, items: Sequence[str]) -> NDArray[np.int64] | None:
    """A number for every item's cluster; None where no two items share one."""
    return cluster_numbers([table.clusters[i] for i in items]) if table.clustered else None


def mean_weights(table: LabelTable, items: Sequence[str]) -> NDArray[np.float64] | None:
    """Weights with mean 1 over these items, so that sums of them count items."""
    if not table.weighted or not items:
        return None
    weights = np.array([table.weights[item] for item in items])
    return weights / weights.mean()


def number_dict(estimate: Estimate, reason: str | None) -> dict[str, object]:
    """value, ci and reason: the reason says of a missing value or interval why."""
    return {"value": estimate.value, "ci": interval_list(estimate), "reason": reason}


def interval_list(estimate: Estimate) -> list[float] | None:
    interval = estimate.interval
    return None if interval.low is None else [interval.low, interval.high]


def worded(text: str, sampled: str) -> str:
    return text.replace("conversation", sampled)


def _measured(raters, confusion, units, seed, *, sampled, reference) -> PairAgreement:
    table = confusion.table

    def as_table(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        return sums.reshape(*sums.shape[:-1], *table.shape)

    measures = table_measures(as_table)
    for k in range(len(table)):
        measures += label_measures(k, as_table, f"{k} ", reference=reference)
    found = estimates(units, measures, seed=seed) if confusion.n else _nothing(measures)
    sums = as_table(units.total)
    kappa, whole = found["kappa"], table_agreement(sums, confusion.n)
    notes = (*whole.notes, *kappa.notes)
    return PairAgreement(
        *raters,
        confusion,
        found,
        None if kappa.value is None else _large_sample_error(units, sums, sampled),
        whole.expected,
        sampled,
        reference,
        tuple(worded(note, sampled) for note in notes),
    )


def _large_sample_error(units: Units, sums: NDArray[np.float64], sampled: str) -> float | None:
    """√Σψ² / n, ψ summed within units; between clusters with Q/(Q - 1), as between few of them."""
    if units.count < 2:
        return None
    moves = units.rows[:, 0] @ influence(sums).reshape(-1) / float(sums.sum())
    return units.influence_variance(moves, corrected=sampled == "cluster") ** 0.5


def _nothing(measures: Sequence[Measure]) -> dict[str, Estimate]:
    none = no_interval(NO_ITEMS)
    return {m.name: Estimate(m.name, None, none, None, none, 0, NO_ITEMS) for m in measures}
