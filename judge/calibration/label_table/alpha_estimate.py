"""Nominal alpha of any number of raters of a label table, each of whom may have missed items."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from annotator.measures.alpha import alpha_bound, alpha_features, alphas
from annotator.measures.confusion import INVALID
from annotator.measures.estimate import Estimate, Measure, estimates
from annotator.measures.interval import no_interval
from annotator.measures.table_measures import CORRELATION
from annotator.measures.units import Units, gather, patterns
from judge.calibration.label_table.pair import clusters_of, mean_weights
from judge.calibration.label_table.table import LabelTable

NO_PAIR = "no item has two labels"
ONE_LABEL = "fewer than two labels in use: no disagreement could have been expected"


def estimate_alpha(table: LabelTable, raters: Sequence[str], *, seed: int) -> tuple[Estimate, int]:
    """Alpha over `raters`, and how many items it rests on.

    Items with fewer than two of their labels are left out before anything is counted
    (Krippendorff 2004); in each resample the expected disagreement is counted anew (Zapf 2016).
    """
    labels = [table.labels_of(rater) for rater in raters]
    position = {label: k for k, label in enumerate((*table.categories, INVALID))}
    times = Counter(item for of_rater in labels for item in of_rater)
    items = [item for item in table.items if times[item] >= 2]
    if not items:
        return _nothing(), 0
    counts = np.zeros((len(items), len(position)), dtype=np.int64)
    rows = {item: row for row, item in enumerate(items)}
    for of_rater in labels:
        for item, label in of_rater.items():
            if item in rows:
                counts[rows[item], position[label]] += 1
    found = patterns(counts)
    units = gather(
        alpha_features(found.rows),
        found.of_item,
        clusters=clusters_of(table, items),
        weights=mean_weights(table, items),
    )
    return _alpha(units, seed), len(items)


def _alpha(units: Units, seed: int) -> Estimate:
    measure = Measure("alpha", alphas, lambda _sums: ONE_LABEL, alpha_bound, CORRELATION)
    return estimates(units, [measure], seed=seed)["alpha"]


def _nothing() -> Estimate:
    none = no_interval(NO_PAIR)
    return Estimate("alpha", None, none, None, none, 0, NO_PAIR)
