"""Pairs of labels that two people gave the same item: who says what where another says what."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.measures.agreement import Agreement, table_agreement
from annotator.measures.coefficients import share
from annotator.measures.confusion import collapsing
from annotator.measures.panel import PairKappas
from annotator.reference import LabelsByAnnotator


@dataclass(frozen=True)
class PairAgreement:
    """Two annotators over the items that both labelled; `kappa` None where it is not defined."""

    first: str
    second: str
    items: int
    agreement: float
    kappa: float | None

    def as_dict(self) -> dict[str, object]:
        return {
            "annotators": [self.first, self.second],
            "items": self.items,
            "agreement": self.agreement,
            "kappa": self.kappa,
        }


@dataclass(frozen=True)
class LabelPairs:
    """A annotators and K categories.

    `tables` (A, A, K, K) counts the items on which one annotator gave a row's label and another a
    column's; turned round it is the same. `weighed` (A, K, K) holds an annotator's labels against
    all others', each item counting 1 however many they are. `given` (A, K) counts all labels.
    """

    annotators: tuple[str, ...]
    tables: NDArray[np.int64]
    weighed: NDArray[np.float64]
    given: NDArray[np.int64]

    def grouped(self, groups: Sequence[int]) -> "LabelPairs":
        """The same with category k counted as group `groups[k]`."""
        view = collapsing(groups)
        given = self.given @ np.eye(max(groups) + 1, dtype=np.int64)[list(groups)]
        return LabelPairs(self.annotators, view(self.tables), view(self.weighed), given)

    @property
    def pooled(self) -> NDArray[np.int64]:
        """(K, K) over everybody's pairs, each counted both ways round."""
        return self.tables.sum(axis=(0, 1))

    def of(self, annotator: str) -> NDArray[np.int64]:
        """(K, K) of one annotator's labels (rows) and the others' (columns)."""
        return self.tables[self.annotators.index(annotator)].sum(axis=0)

    @property
    def agreement(self) -> float | None:
        """The share of the others on an item who say the same, averaged over labels."""
        n = self.weighed.sum()
        return float(np.trace(self.weighed.sum(axis=0)) / n) if n else None

    @property
    def expected(self) -> float | None:
        """The agreement by chance that Krippendorff's alpha sets `agreement` against."""
        labels = self.weighed.sum(axis=(0, 2))
        n = labels.sum()
        return float((labels * (labels - 1)).sum() / (n * (n - 1))) if n > 1 else None

    def against_others(self, annotator: str) -> Agreement:
        """Cohen's kappa of one annotator and all others pooled, over the items they share."""
        table = self.weighed[self.annotators.index(annotator)]
        return table_agreement(table, items=round(float(table.sum())))

    def pairs(self) -> list[PairAgreement]:
        """Every two who share an item, in order of name; by chance as each labels altogether."""
        first, second, kappas = self._kappas()
        values = kappas.kappas
        return [
            PairAgreement(
                self.annotators[i],
                self.annotators[j],
                int(kappas.weights[n]),
                float(kappas.observed[n]),
                None if np.isnan(values[n]) else float(values[n]),
            )
            for n, (i, j) in enumerate(zip(first, second, strict=True))
        ]

    def mean_kappa(self) -> float | None:
        """Over pairs, each weighing by the items it shares; None where none is defined."""
        mean = float(self._kappas()[2].mean)
        return None if np.isnan(mean) else mean

    def _kappas(self) -> tuple[NDArray[np.int64], NDArray[np.int64], PairKappas]:
        shared = self.tables.sum(axis=(2, 3))
        first, second = np.nonzero(np.triu(shared, 1))
        agreed = np.trace(self.tables, axis1=2, axis2=3)[first, second]
        n, items = self.given.sum(axis=1), shared[first, second]
        kappas = PairKappas(
            items.astype(np.float64),
            share(agreed, items),
            (self.given @ self.given.T)[first, second].astype(np.float64),
            (n[first] * n[second]).astype(np.float64),
        )
        return first, second, kappas


def label_pairs(labels: LabelsByAnnotator, categories: Sequence[str]) -> LabelPairs:
    """All pairs of labels of one item, at a cost that goes with their number."""
    names, k = tuple(labels), len(categories)
    rows = _sorted_by_item(labels, categories)
    item, who, what = rows.T
    size = np.bincount(item, minlength=1)[item] if len(item) else item
    tables = np.zeros(len(names) ** 2 * k * k, dtype=np.int64)
    weighed = np.zeros(len(names) * k * k)
    for apart in range(1, int(size.max(initial=0))):
        here = np.flatnonzero(item[apart:] == item[:-apart])
        there = here + apart
        for one, other in ((here, there), (there, here)):
            cell = (who[one] * len(names) + who[other]) * k * k + what[one] * k + what[other]
            tables += np.bincount(cell, minlength=len(tables))
            own = who[one] * k * k + what[one] * k + what[other]
            weighed += np.bincount(own, 1 / (size[one] - 1), minlength=len(weighed))
    return LabelPairs(
        names,
        tables.reshape(len(names), len(names), k, k),
        weighed.reshape(len(names), k, k),
        np.bincount(who * k + what, minlength=len(names) * k).reshape(len(names), k),
    )


def _sorted_by_item(labels: LabelsByAnnotator, categories: Sequence[str]) -> NDArray[np.int64]:
    """Rows (n, 3) of numbers for item, annotator and category."""
    category = {name: n for n, name in enumerate(categories)}
    numbers: dict[str, int] = {}
    rows = [
        (numbers.setdefault(item_id, len(numbers)), n, category[label])
        for n, given in enumerate(labels.values())
        for item_id, label in given.items()
    ]
    return np.array(sorted(rows), dtype=np.int64).reshape(-1, 3)
