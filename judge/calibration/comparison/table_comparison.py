"""A/B on a label table of any origin: two raters held against a third."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from judge.calibration.comparison.comparison import Comparison, compare_ratings
from judge.calibration.comparison.ratings import NONE, Ratings
from judge.calibration.label_table.normalise import label_table
from judge.calibration.label_table.pair import mean_weights
from judge.calibration.label_table.raw_rating import HUMAN, JUDGE, RawRating, RawTable
from judge.calibration.label_table.read import read_cells, read_ratings
from judge.calibration.label_table.table import LabelTable
from judge.calibration.pairing import Exclusion
from rubrics import InputError

WIDE = "wide table, a column per rater"
UNSHARED = "not rated by all that are compared"


@dataclass(frozen=True)
class TableComparison:
    """A comparison of raters `names` of a table, the first the baseline, against `reference`."""

    comparison: Comparison
    source: str
    reference: str
    names: tuple[str, ...]
    categories: tuple[str, ...]
    items: tuple[str, ...]
    exclusions: tuple[Exclusion, ...]

    def as_dict(self) -> dict[str, object]:
        """For JSON: `file`, `reference`, `categories`, `exclusions` and `Comparison.as_dict`.

        Each challenger has `items` {fixed, broken}, lists of the file's item names.
        """
        found = self.comparison.as_dict()
        for entry, challenge in zip(found["challengers"], self.comparison.challenges, strict=True):
            entry["items"] = {
                name: [self.items[k] for k in positions]
                for name, positions in (("fixed", challenge.fixed), ("broken", challenge.broken))
            }
        return {
            "file": self.source,
            "reference": self.reference,
            "categories": list(self.categories),
            "exclusions": [{"reason": e.reason, "count": e.count} for e in self.exclusions],
        } | found


def compare_file(
    path: Path,
    reference: str,
    raters: Sequence[str],
    categories: Sequence[str] | None = None,
    *,
    seed: int,
) -> TableComparison:
    """Compare `raters` of a long table, or columns of a wide one with an item per row.

    Raises InputError for a file that is neither, raters that it does not have, and when no item is
    rated by all of them.
    """
    names = (reference, *raters)
    if len(set(names)) < len(names):
        raise InputError(
            f"{', '.join(names)}: expected a reference and raters that all differ; "
            "name each once: --reference R --a A --b B"
        )
    table = label_table(_raw(path, names), path.name, categories)
    for name in names:
        if name not in table.raters:
            raise InputError(f"{path.name} has no rater {name!r}; it has {', '.join(table.raters)}")
    return _compared(table, path.name, names, seed)


def _compared(table: LabelTable, source: str, names: Sequence[str], seed: int) -> TableComparison:
    reference, *raters = names
    labels = [table.labels_of(name) for name in names]
    items = [item for item in table.items if all(item in of_rater for of_rater in labels)]
    if not items:
        raise InputError(f"no item of {source} is rated by all of {', '.join(names)}")
    categories = tuple(table.categories)
    position = {name: k for k, name in enumerate(categories)}
    truth = np.array([position[labels[0][item]] for item in items])
    said = np.array(
        [[[position.get(of[item], len(categories))] for of in labels[1:]] for item in items]
    )
    nothing = np.full(len(items), NONE)
    ratings = Ratings(
        labels=truth,
        label_outcomes=said,
        sigmas=nothing,
        sigma_outcomes=np.full_like(said, 2),
        categories=len(categories),
        conversations=[table.clusters[item] for item in items] if table.clustered else items,
        weights=mean_weights(table, items),
    )
    left = len(table.items) - len(items)
    return TableComparison(
        comparison=compare_ratings(ratings, raters, categories, seed=seed),
        source=source,
        reference=reference,
        names=tuple(raters),
        categories=categories,
        items=tuple(items),
        exclusions=(*table.excluded, *([Exclusion(UNSHARED, left)] if left else [])),
    )


def _raw(path: Path, names: Sequence[str]) -> RawTable:
    """A wide table's columns `names` as ratings, the first a person's; any other file as it is."""
    columns, rows = read_cells(path)
    if "item" not in columns or "rater" in columns or not set(names) <= set(columns):
        return read_ratings(path)
    ratings = (
        RawRating(
            row["item"],
            name,
            row[name],
            where,
            HUMAN if name == names[0] else JUDGE,
            row.get("cluster"),
            row.get("weight"),
        )
        for where, row in rows
        for name in names
    )
    return RawTable(WIDE, tuple(ratings))
