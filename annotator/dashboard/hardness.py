"""Hard items: those that people label differently, flag or skip."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import log2

from annotator.annotation import TAKEN_BACK, Annotation
from rubrics import Rubric


@dataclass(frozen=True)
class ItemHardness:
    """What people made of one item.

    `labels` counts them by category in the rubric's order. `disagreement` is the share of pairs of
    labels that differ, `entropy` that of the labels in bits; None of fewer than two labels.
    """

    item_id: str
    labels: Mapping[str, int]
    skips: int
    flags: int
    notes: int
    disagreement: float | None
    entropy: float | None

    def as_dict(self) -> dict[str, object]:
        return {**vars(self), "labels": dict(self.labels)}


def hardest_items(annotations: Iterable[Annotation], rubric: Rubric) -> list[ItemHardness]:
    """Every item of which somebody said something that stands, hardest first.

    The order is by disagreement, then entropy, flags and skips.
    """
    by_item: dict[str, list[Annotation]] = defaultdict(list)
    for said in annotations:
        if said.skip_reason != TAKEN_BACK:
            by_item[said.item_id].append(said)
    items = (_hardness(item_id, said, rubric) for item_id, said in by_item.items())
    return sorted(items, key=_ease)


def _hardness(item_id: str, said: list[Annotation], rubric: Rubric) -> ItemHardness:
    given = Counter(each.category for each in said)
    labels = {category: given[category] for category in rubric.category_ids if given[category]}
    m = sum(labels.values())
    differing = m * m - sum(n * n for n in labels.values())
    return ItemHardness(
        item_id,
        labels,
        skips=sum(each.kind == "skip" for each in said),
        flags=sum(each.flagged for each in said),
        notes=sum(bool(each.note) for each in said),
        disagreement=differing / (m * (m - 1)) if m > 1 else None,
        entropy=sum(n / m * log2(m / n) for n in labels.values()) if m > 1 else None,
    )


def _ease(item: ItemHardness) -> tuple[float, float, int, int, str]:
    spread = (item.disagreement or 0.0, item.entropy or 0.0)
    return (-spread[0], -spread[1], -item.flags, -item.skips, item.item_id)
