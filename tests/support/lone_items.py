"""Tables of conversations, and what the engine makes of them."""

import numpy as np

from annotator.measures.confusion import Confusion
from annotator.measures.estimate import estimates
from annotator.measures.kappa import Kappa, kappa_of
from annotator.measures.label_scores import LabelScores, label_scores
from annotator.measures.table_measures import label_measures
from annotator.measures.units import Units, gather


def alone(table) -> np.ndarray:
    """A table of counts as its items one by one: shape (K, K + E) to (n, K, K + E)."""
    table = np.asarray(table)
    cells = np.eye(table.size, dtype=np.int64)
    return np.repeat(cells, table.ravel(), axis=0).reshape(-1, *table.shape)


def units_of(tables: np.ndarray) -> Units:
    """Units whose conversations hold these tables, shape (Q, K, K + E)."""
    return gather(
        tables.reshape(len(tables), int(np.prod(tables.shape[1:]))), np.arange(len(tables))
    )


def kappa_of_tables(tables: np.ndarray, **options: int) -> Kappa:
    """The reported kappa of conversations that hold these tables."""
    return kappa_of(units_of(tables), tables.shape[1:], **{"seed": 1} | options)


def scores_of(confusion: Confusion) -> tuple[LabelScores, ...]:
    """Label scores of a table whose items are independent."""
    items = alone(confusion.table)
    measures = [
        measure
        for k in range(len(confusion.categories))
        for measure in label_measures(
            k, lambda sums: sums.reshape(*sums.shape[:-1], *items.shape[1:]), f"{k} "
        )
    ]
    return label_scores(confusion, estimates(units_of(items), measures, seed=1, resamples=500))
