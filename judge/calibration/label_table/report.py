"""The report on a label table: every pair of raters, alpha over all, and what was left out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from annotator.measures.estimate import Estimate
from annotator.measures.interval import LEVEL
from annotator.measures.replicates import RESAMPLES
from judge.calibration.label_table.alpha_estimate import estimate_alpha
from judge.calibration.label_table.normalise import label_table
from judge.calibration.label_table.pair import (
    PairAgreement,
    compare,
    compare_counts,
    number_dict,
    worded,
)
from judge.calibration.label_table.read import read_ratings
from judge.calibration.label_table.table import LabelTable
from judge.plural import counted
from rubrics import file_fingerprint

METHOD = "BCa bootstrap; Wilson bound at perfect agreement"


@dataclass(frozen=True)
class AlphaReport:
    """Alpha over `raters`, resting on `n` items."""

    estimate: Estimate
    raters: tuple[str, ...]
    n: int
    sampled: str

    @property
    def reason(self) -> str | None:
        found = self.estimate
        reason = found.undefined
        if reason is None and found.interval.low is None:
            reason = found.interval.method.replace("none: ", "no interval: ", 1)
        return worded(reason, self.sampled) if reason else None

    def as_dict(self) -> dict[str, object]:
        return number_dict(self.estimate, self.reason) | {
            "raters": list(self.raters),
            "n": self.n,
        }


@dataclass(frozen=True)
class Repeats:
    """How far a rater agrees with their own earlier labels: first against last, by item."""

    rater: str
    n: int
    same: int

    def as_dict(self) -> dict[str, object]:
        return {"rater": self.rater, "n": self.n, "agreement": self.same / self.n}


@dataclass(frozen=True)
class TableReport:
    """All that `calibrate agreement` prints. `alpha` is over people, where there are two.

    `source` and `hash` are the file's; `format` is how it was read; `notes` say what a reader of
    the numbers must know.
    """

    source: str
    hash: str | None
    format: str
    table: LabelTable
    alpha: AlphaReport
    alpha_all: AlphaReport
    pairs: tuple[PairAgreement, ...]
    repeats: tuple[Repeats, ...]
    notes: tuple[str, ...]
    seed: int

    def as_dict(self) -> dict[str, object]:
        table = self.table
        return {
            "source": self.source,
            "hash": self.hash,
            "format": self.format,
            "n_items": len(table.items),
            "n_ratings": len(table.ratings),
            "categories": list(table.categories),
            "raters": [{"rater": r, "kind": table.kinds[r]} for r in table.raters],
            "alpha": self.alpha.as_dict(),
            "alpha_all": self.alpha_all.as_dict(),
            "pairs": [pair.as_dict() for pair in self.pairs],
            "per_label": [entry for pair in self.pairs for entry in pair.label_dicts()],
            "repeats": [repeats.as_dict() for repeats in self.repeats],
            "excluded": [{"reason": e.reason, "count": e.count} for e in table.excluded],
            "invalid": table.invalid,
            "weighted": table.weighted,
            "clustered": table.clustered,
        } | _method(self.seed, self.notes)


@dataclass(frozen=True)
class BareReport:
    """The same for a bare table of two raters, rows and columns."""

    pair: PairAgreement
    alpha: AlphaReport
    notes: tuple[str, ...]
    seed: int

    def as_dict(self) -> dict[str, object]:
        return {
            "n_items": self.pair.n,
            "categories": list(self.pair.confusion.categories),
            "alpha": self.alpha.as_dict(),
            "pairs": [self.pair.as_dict()],
            "per_label": self.pair.label_dicts(),
            "excluded": [],
        } | _method(self.seed, self.notes)


def report_file(
    path: Path, categories: Sequence[str] | None, question: str | None, *, seed: int
) -> TableReport:
    """The report on a file; without categories those found in it, and that is said."""
    raw = read_ratings(path, question)
    table = label_table(raw, path.name, categories)
    digest = None if path.is_dir() else file_fingerprint(path)
    return report_table(
        table, path.name, digest, raw.format, categories_given=categories is not None, seed=seed
    )


def report_table(
    table: LabelTable,
    source: str,
    digest: str | None,
    format_name: str,
    *,
    categories_given: bool,
    seed: int,
) -> TableReport:
    raters = table.raters
    together, apart = [], []
    for pair in combinations(raters, 2):
        common = table.labels_of(pair[0]).keys() & table.labels_of(pair[1]).keys()
        (together if common else apart).append(pair)
    people = table.humans if len(table.humans) > 1 else raters
    alpha_all = _alpha(table, raters, seed)
    notes = [] if categories_given else [_found_categories(table)]
    notes += _invalid_notes(table)
    if table.weighted:
        notes.append("estimates are of weighted items; matrices and n count items")
    if apart:
        notes.append(_apart(table, apart))
    return TableReport(
        source,
        digest,
        format_name,
        table,
        alpha_all if people == raters else _alpha(table, people, seed),
        alpha_all,
        tuple(compare(table, *pair, seed=seed) for pair in together),
        _repeats(table),
        tuple(notes),
        seed,
    )


def report_counts(counts: NDArray[np.int64], *, seed: int) -> BareReport:
    notes = ["categories are numbered in the order of the rows, which are the reference"]
    if counts.shape[1] > counts.shape[0]:
        notes.append("the last column is what only the judge can say: never an agreement")
    pair = compare_counts(counts, seed=seed)
    raters = (pair.rater_a, pair.rater_b)
    alpha = AlphaReport(pair.found["alpha"], raters, pair.n, pair.sampled)
    return BareReport(pair, alpha, tuple(notes), seed)


def _method(seed: int, notes: Sequence[str]) -> dict[str, object]:
    return {
        "level": LEVEL,
        "method": METHOD,
        "resamples": RESAMPLES,
        "seed": seed,
        "notes": list(notes),
    }


def _alpha(table: LabelTable, raters: tuple[str, ...], seed: int) -> AlphaReport:
    estimate, items = estimate_alpha(table, raters, seed=seed)
    return AlphaReport(estimate, raters, items, "cluster" if table.clustered else "item")


def _repeats(table: LabelTable) -> tuple[Repeats, ...]:
    first: dict[str, dict[str, str]] = {}
    for rating in table.repeats:
        first.setdefault(rating.rater, {}).setdefault(rating.item, rating.label)
    return tuple(
        Repeats(rater, len(earlier), sum(table.labels_of(rater)[i] == earlier[i] for i in earlier))
        for rater, earlier in sorted(first.items())
    )


def _found_categories(table: LabelTable) -> str:
    listed = ", ".join(table.categories)
    return (
        f"categories are the {counted(len(table.categories), 'label')} found, sorted: {listed}; "
        "name them with --categories, as one that nobody used counts too"
    )


def _invalid_notes(table: LabelTable) -> list[str]:
    return [
        f"{rater}: {counted(count, 'label')} outside the categories, each an outcome of its own "
        "that agrees with nobody's label"
        for rater, count in sorted(table.invalid.items())
    ]


def _apart(table: LabelTable, pairs: Sequence[tuple[str, str]]) -> str:
    named = "; ".join(f"{rater!r} rated {_some(table.labels_of(rater))}" for rater in pairs[0])
    return f"{counted(len(pairs), 'pair')} of raters without an item in common, as {named}"


def _some(labels: Mapping[str, str]) -> str:
    names = list(labels)
    return ", ".join(map(repr, names[:3])) + (", …" if len(names) > 3 else "")
