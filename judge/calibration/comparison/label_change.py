"""Label by label: whose F1 changed, with intervals and p values that allow for the many labels."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from annotator.measures.coefficients import one_against_rest, share
from annotator.measures.estimate import Estimate, Measure
from annotator.measures.interval import Interval, no_interval
from annotator.measures.multiplicity import benjamini_hochberg
from annotator.measures.replicates import Sums
from annotator.measures.table_measures import FEW_POSITIVES, TableOf


@dataclass(frozen=True)
class LabelChange:
    """The F1 of one label: the baseline's, the challenger's, and the difference.

    `support` counts the items with that reference label. `p` is the bootstrap's, `adjusted_p`
    Benjamini-Hochberg's over the labels of this challenger; both None, like the interval, for a
    label that fewer than 10 items have.
    """

    category: str
    support: int
    before: float | None
    after: float | None
    difference: Estimate
    adjusted_p: float | None = None

    @property
    def p(self) -> float | None:
        return self.difference.two_sided_p

    def as_dict(self) -> dict[str, object]:
        return asdict(self) | {"difference": self.difference.as_dict(), "p": self.p}


def f1_difference(name: str, first: TableOf, second: TableOf, k: int, support: int) -> Measure:
    """F1 of label k in the `second` table less that in the `first`; `support` items have it."""

    def difference(sums: Sums) -> np.ndarray:
        return _f1(second(sums), k) - _f1(first(sums), k)

    def bound(_sums: Sums, _units: int) -> Interval | None:
        if support >= FEW_POSITIVES:
            return None
        return no_interval(f"fewer than {FEW_POSITIVES} items with this label ({support})")

    return Measure(name, difference, lambda _sums: "an F1 is undefined", bound, (-1.0, 1.0))


def label_changes(
    categories: Sequence[str],
    support: Sequence[int],
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    differences: Sequence[Estimate],
) -> tuple[LabelChange, ...]:
    """One per category, of the two judges' tables (K, K + 1) and the differences of F1 in order."""
    changes = [
        LabelChange(name, support[k], _value(first, k), _value(second, k), differences[k])
        for k, name in enumerate(categories)
    ]
    tested = [k for k, change in enumerate(changes) if change.p is not None]
    for k, p in zip(tested, benjamini_hochberg([changes[k].p for k in tested]), strict=True):
        changes[k] = replace(changes[k], adjusted_p=p)
    return tuple(changes)


def _f1(tables: np.ndarray, k: int) -> np.ndarray:
    cells = one_against_rest(tables, k)
    hits = cells[..., 0, 0]
    return share(2 * hits, 2 * hits + cells[..., 0, 1] + cells[..., 1, 0])


def _value(table: NDArray[np.float64], k: int) -> float | None:
    value = float(_f1(table, k))
    return None if np.isnan(value) else value
