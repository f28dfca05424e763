"""Krippendorff's nominal alpha: how far any number of people agree beyond chance."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.measures.estimate import Measure, estimates
from annotator.measures.interval import WILSON, Interval, no_interval, wilson
from annotator.measures.kappa import cluster_numbers
from annotator.measures.replicates import Sums
from annotator.measures.table_measures import CORRELATION
from annotator.measures.units import gather, patterns

Rater = Mapping[str, str]  # item id → label


@dataclass(frozen=True)
class Alpha:
    """Alpha of several annotators over the `items` that have two labels or more.

    None where `undefined` says why. The interval comes from resampling the conversations; in each
    resample the expected disagreement is counted anew (Zapf et al. 2016).
    """

    value: float | None
    interval: Interval
    large_sample: Interval
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
    """Alpha with its interval; `conversations` says of every item which one it belongs to.

    Items with fewer than two labels are left out before anything is counted (Krippendorff 2004).
    """
    of_item = _label_counts(raters, categories)
    counts = np.array(list(of_item.values()), dtype=np.int64).reshape(-1, len(categories))
    return alpha_of_counts(counts, [conversations[item] for item in of_item], seed=seed)


def alpha_of_counts(
    counts: NDArray[np.int64], conversations: Sequence[Hashable], *, seed: int
) -> Alpha:
    """Alpha of items with two labels or more: `counts` (items, K), and each one's conversation."""
    together = len(set(conversations))
    value = counted_alpha(counts)
    if value is None:
        reason = "fewer than two labels in use" if len(counts) else "no item has two labels"
        none = no_interval(reason)
        return Alpha(None, none, none, len(counts), together, reason)
    found = patterns(counts)
    units = gather(
        alpha_features(found.rows), found.of_item, clusters=cluster_numbers(conversations)
    )
    measure = Measure("alpha", alphas, bound=alpha_bound, limits=CORRELATION)
    estimate = estimates(units, [measure], seed=seed)["alpha"]
    return Alpha(value, estimate.interval, estimate.large_sample, len(counts), together)


def counted_alpha(counts: NDArray[np.int64]) -> float | None:
    """Alpha of items with two labels or more, from how often each got each: shape (items, K).

    None where fewer than two labels are in use.
    """
    import krippendorff

    if counts.any(axis=0).sum() < 2:
        return None
    # Counts rather than labels: the package takes a label spelt "nan" for a missing one.
    return float(krippendorff.alpha(value_counts=counts, level_of_measurement="nominal"))


def alpha_bound(total: Sums, units: int) -> Interval | None:
    """At perfect agreement: the Wilson bound of the agreement, each conversation as one item."""
    if total[0] > 0:
        return None
    labels = total[1:]
    n = labels.sum()
    expected = (n**2 - (labels**2).sum()) / (n * (n - 1))
    return Interval(float(1 - (1 - wilson(units, units)[0]) / expected), 1.0, WILSON)


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
