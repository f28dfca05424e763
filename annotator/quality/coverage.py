"""Coverage: how many labels the items have, and how many they are to have.

Labels count, never who is at work on an item; a skip is no label.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Set
from dataclasses import asdict, dataclass

from annotator.annotation import TAKEN_BACK, Annotation

NOBODY = "there is no annotator yet, so it is not known how many labels there are to be"
NO_ITEMS = "there are no items"


@dataclass(frozen=True)
class LabelCounts:
    """Items of one sort, and how many of them have how many labels, none at all first."""

    items: int
    labels: int
    by_labels: Mapping[int, int]

    def as_dict(self) -> dict[str, object]:
        return asdict(self) | {"by_labels": {str(n): k for n, k in self.by_labels.items()}}


@dataclass(frozen=True)
class StudyCoverage:
    """What is labelled under one rubric version.

    `labels_per_item` None: each of `people` labels every item, repeats and gold too. Else `study`
    items are to have so many, while gold goes to everybody and repeats to those who had the item,
    so these are apart. `given` counts labels that are wanted, of `wanted`; `above` are those that
    an item has beyond its number. `late` are labels whose lease had gone to somebody else; they
    count. `other_versions` are labels under other rubric versions, which do not; `unknown` names a
    category that the rubric does not have.
    """

    labels_per_item: int | None
    people: int
    study: LabelCounts
    gold: LabelCounts
    repeats: LabelCounts
    given: int
    wanted: int
    complete: int
    above: int
    late: int
    skips: int
    taken_back: int
    unknown: int
    other_versions: Mapping[str, int]

    @property
    def missing(self) -> int:
        return self.wanted - self.given

    @property
    def share(self) -> float | None:
        return self.given / self.wanted if self.wanted else None

    @property
    def undefined(self) -> str | None:
        """Why there is no share."""
        if self.wanted:
            return None
        return NOBODY if self.labels_per_item is None and not self.people else NO_ITEMS

    def as_dict(self) -> dict[str, object]:
        counts = {sort: getattr(self, sort).as_dict() for sort in ("study", "gold", "repeats")}
        found = {"missing": self.missing, "share": self.share, "undefined": self.undefined}
        return asdict(self) | counts | found


def coverage(
    items: Iterable[str],
    annotations: Iterable[Annotation],
    categories: Set[str],
    *,
    gold: Set[str],
    repeats: Set[str],
    people: Set[str],
    labels_per_item: int | None,
    other_versions: Mapping[str, int],
) -> StudyCoverage:
    """Of standing annotations under one rubric version; `people` are those who go on labelling."""
    items, annotations = list(items), list(annotations)
    labels = [said for said in annotations if said.category in categories]
    taken_back = sum(said.skip_reason == TAKEN_BACK for said in annotations)
    skipped = sum(said.kind == "skip" for said in annotations) - taken_back
    counts = Counter(said.item_id for said in labels)
    plain = [item for item in items if item not in gold and item not in repeats]
    if labels_per_item is None:
        each, among = len(people), items
        counted = Counter(said.item_id for said in labels if said.annotator in people)
    else:
        each, among, counted = labels_per_item, plain, counts
    return StudyCoverage(
        labels_per_item=labels_per_item,
        people=len(people),
        study=_label_counts(plain, counts),
        gold=_label_counts([item for item in items if item in gold], counts),
        repeats=_label_counts([i for i in items if i in repeats and i not in gold], counts),
        given=sum(min(counted[item], each) for item in among),
        wanted=each * len(among),
        complete=sum(counted[item] >= each for item in among) if each else 0,
        above=sum(max(counted[item] - each, 0) for item in among),
        late=sum(said.late for said in labels),
        skips=skipped,
        taken_back=taken_back,
        unknown=len(annotations) - len(labels) - skipped - taken_back,
        other_versions=dict(sorted(other_versions.items())),
    )


def _label_counts(items: list[str], counts: Counter[str]) -> LabelCounts:
    by_labels = Counter(counts[item] for item in items)
    return LabelCounts(
        len(items),
        sum(n * times for n, times in by_labels.items()),
        dict(sorted(by_labels.items())),
    )
