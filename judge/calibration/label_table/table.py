"""A label table: who said what of which item, as every statistic reads it."""

from dataclasses import dataclass
from functools import cached_property

from annotator.measures.confusion import INVALID
from judge.calibration.label_table.raw_rating import HUMAN, JUDGE
from judge.calibration.pairing import Exclusion


@dataclass(frozen=True)
class Rating:
    """One rater's label of one item; a judge's outside the categories is `INVALID`."""

    item: str
    rater: str
    label: str
    kind: str = HUMAN
    cluster: str | None = None
    weight: float = 1.0


@dataclass(frozen=True)
class LabelTable:
    """Ratings in order of rater and item, one per pair of them, and what else was found.

    `categories` are all labels that could be given, in order; `excluded` counts what is no
    rating. `repeats` are earlier ratings of a pair that a later one replaced, in the order of the
    file: they tell how far a rater agrees with themself.
    """

    ratings: tuple[Rating, ...]
    categories: tuple[str, ...]
    excluded: tuple[Exclusion, ...] = ()
    repeats: tuple[Rating, ...] = ()

    @cached_property
    def raters(self) -> tuple[str, ...]:
        """People first, then judges, each in order of name."""
        kinds = self.kinds
        return tuple(sorted(kinds, key=lambda rater: (kinds[rater] == JUDGE, rater)))

    @cached_property
    def kinds(self) -> dict[str, str]:
        return {rating.rater: rating.kind for rating in self.ratings}

    @property
    def humans(self) -> tuple[str, ...]:
        return tuple(rater for rater in self.raters if self.kinds[rater] == HUMAN)

    @cached_property
    def _by_rater(self) -> dict[str, dict[str, str]]:
        labels: dict[str, dict[str, str]] = {}
        for rating in self.ratings:
            labels.setdefault(rating.rater, {})[rating.item] = rating.label
        return labels

    def labels_of(self, rater: str) -> dict[str, str]:
        """Label by item."""
        return self._by_rater[rater]

    @cached_property
    def clusters(self) -> dict[str, str | None]:
        """Cluster by item, in order of item; None where the table names none."""
        return dict(sorted((rating.item, rating.cluster) for rating in self.ratings))

    @cached_property
    def weights(self) -> dict[str, float]:
        return dict(sorted((rating.item, rating.weight) for rating in self.ratings))

    @property
    def items(self) -> tuple[str, ...]:
        return tuple(self.weights)

    @property
    def clustered(self) -> bool:
        return any(cluster is not None for cluster in self.clusters.values())

    @property
    def weighted(self) -> bool:
        return len(set(self.weights.values())) > 1

    @property
    def invalid(self) -> dict[str, int]:
        """How many labels of each judge are outside the categories; judges without any are not."""
        counts = {
            rater: sum(label == INVALID for label in labels.values())
            for rater, labels in self._by_rater.items()
            if self.kinds[rater] == JUDGE
        }
        return {rater: count for rater, count in counts.items() if count}
