"""Krippendorff's nominal alpha: how far any number of people agree beyond chance."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from judge.calibration.measures.resampling import Interval, percentile_interval, resample

Rater = Mapping[str, str]  # item id → label


@dataclass(frozen=True)
class Alpha:
    """Alpha of several annotators over the `items` that have two labels or more.

    None where `undefined` says why. The interval comes from resampling the conversations; in each
    resample the expected disagreement is counted anew (Zapf et al. 2016).
    """

    value: float | None
    interval: Interval
    items: int
    conversations: int
    undefined: str | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        return self.interval.notes(self.conversations)

    def as_dict(self) -> dict[str, object]:
        return asdict(self) | {"notes": list(self.notes)}


def alpha_with_interval(
    raters: Iterable[Rater],
    categories: Sequence[str],
    conversations: Mapping[str, Hashable],
    *,
    seed: int,
) -> Alpha:
    """Alpha with its interval; `conversations` says of every item which one it belongs to."""
    raters = list(raters)
    value, items = nominal_alpha(raters, categories)
    together: dict[Hashable, list[NDArray[np.int64]]] = defaultdict(list)
    for item_id, row in _label_counts(raters, categories).items():
        together[conversations[item_id]].append(row)
    if value is None:
        reason = "fewer than two labels in use" if items else "no item has two labels"
        return Alpha(None, Interval(None, None, f"none: {reason}"), items, len(together), reason)
    features = np.array([alpha_features(np.array(rows)).sum(0) for rows in together.values()])
    interval = percentile_interval(value, alphas(resample(features, seed=seed)))
    return Alpha(value, interval, items, len(together))


def nominal_alpha(raters: Iterable[Rater], categories: Sequence[str]) -> tuple[float | None, int]:
    """Alpha of any number of raters, and the number of items it rests on.

    Items with fewer than two labels are left out before anything is counted (Krippendorff 2004).
    None where fewer than two labels are in use: no disagreement could have been expected.
    """
    import krippendorff

    counts = np.array(list(_label_counts(raters, categories).values()))
    if not len(counts) or counts.any(axis=0).sum() < 2:
        return None, len(counts)
    # Counts rather than labels: the package takes a label spelt "nan" for a missing one.
    alpha = krippendorff.alpha(value_counts=counts, level_of_measurement="nominal")
    return float(alpha), len(counts)


def alpha_features(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """What alpha needs of each item, in a form that adds up: shape (items, K) to (items, 1 + K).

    The item's disagreement (m² - Σn²) / (m - 1), of m labels with n per category, and the n.
    """
    m = counts.sum(axis=1)
    disagreement = (m**2 - (counts**2).sum(axis=1)) / (m - 1)
    return np.column_stack([disagreement, counts])


def alphas(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Alpha of summed features, shape (..., 1 + K) to (...); NaN marks the undefined.

    1 - (N - 1)·Σd / (N² - Σn²), N being the number of labels.
    """
    disagreement, labels = sums[..., 0], sums[..., 1:]
    n = labels.sum(axis=-1)
    possible = n**2 - (labels**2).sum(axis=-1)
    undefined = np.full(np.shape(n), np.nan)
    return 1 - np.divide((n - 1) * disagreement, possible, out=undefined, where=possible > 0)


def _label_counts(
    raters: Iterable[Rater], categories: Sequence[str]
) -> dict[str, NDArray[np.int64]]:
    """How often each item got each label; items with two labels or more, in order of id."""
    position = {category: k for k, category in enumerate(categories)}
    counts: dict[str, NDArray[np.int64]] = defaultdict(lambda: np.zeros(len(position), np.int64))
    for labels in raters:
        for item_id, label in labels.items():
            counts[item_id][position[label]] += 1
    return {item_id: row for item_id, row in sorted(counts.items()) if row.sum() >= 2}
