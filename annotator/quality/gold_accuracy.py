"""Accuracy on gold: how often somebody gave the label that is known."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from annotator.measures.interval import wilson
from annotator.quality.gold import Gold

NO_GOLD = "labelled no gold item"


@dataclass(frozen=True)
class GoldAccuracy:
    """How many of the gold items that somebody labelled got the known label.

    `low` and `high` are Wilson's 95% interval, None where `undefined` says why there is no share.
    """

    correct: int
    labelled: int
    low: float | None
    high: float | None

    @property
    def share(self) -> float | None:
        return self.correct / self.labelled if self.labelled else None

    @property
    def undefined(self) -> str | None:
        return None if self.labelled else NO_GOLD

    def as_dict(self) -> dict[str, object]:
        return {"share": self.share} | asdict(self) | {"undefined": self.undefined}


def gold_accuracy(given: Mapping[str, str], gold: Iterable[Gold]) -> GoldAccuracy:
    """Of one annotator's labels by item id; a skip is no label, neither right nor wrong."""
    right = [given[each.item_id] == each.category for each in gold if each.item_id in given]
    if not right:
        return GoldAccuracy(0, 0, None, None)
    return GoldAccuracy(sum(right), len(right), *wilson(sum(right), len(right)))
