"""Intra-annotator agreement: how far people agree with themselves on items shown to them twice."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from annotator.measures.kappa import Kappa, kappa_between
from annotator.reference import LabelsByAnnotator

Row = tuple[Hashable, str, str]  # conversation, label of the item, label of its repeat


@dataclass(frozen=True)
class SelfAgreement:
    """One annotator's kappa between the labels of items and of their repeats."""

    annotator: str
    kappa: Kappa

    def as_dict(self) -> dict[str, object]:
        return {"annotator": self.annotator} | self.kappa.as_dict()


@dataclass(frozen=True)
class IntraAnnotator:
    """Everybody's agreement with themselves, and pooled: one table of all annotators' pairs.

    `repeats` are the items shown twice; `unpaired` counts those that somebody labelled once only,
    per annotator.
    """

    repeats: int
    annotators: tuple[SelfAgreement, ...]
    pooled: Kappa
    unpaired: Mapping[str, int]

    def as_dict(self) -> dict[str, object]:
        return {
            "repeats": self.repeats,
            "annotators": [found.as_dict() for found in self.annotators],
            "pooled": self.pooled.as_dict(),
            "unpaired": dict(self.unpaired),
        }


def intra_annotator(
    labels: LabelsByAnnotator,
    repeats: Mapping[str, str],
    categories: Sequence[str],
    conversations: Mapping[str, Hashable],
    *,
    seed: int,
) -> IntraAnnotator:
    """From everybody's labels, those of repeats too; `repeats` maps their ids to the items'.

    A skip, of either, leaves nothing to compare. Conversations, which `conversations` gives by item
    id, are resampled: in the pooled kappa several people's labels of one item count as one unit.
    Raises InputError for a label outside the categories.
    """
    rows = {name: _rows(labels[name], repeats, conversations) for name in sorted(labels)}
    once = {
        name: sum((repeat in given) != (item in given) for repeat, item in repeats.items())
        for name, given in sorted(labels.items())
    }
    return IntraAnnotator(
        len(repeats),
        tuple(
            SelfAgreement(name, kappa_between(of, categories, seed=seed))
            for name, of in rows.items()
        ),
        kappa_between([row for of in rows.values() for row in of], categories, seed=seed),
        once,
    )


def _rows(
    given: Mapping[str, str], repeats: Mapping[str, str], conversations: Mapping[str, Hashable]
) -> list[Row]:
    return [
        (conversations[item_id], given[item_id], given[repeat])
        for repeat, item_id in sorted(repeats.items())
        if item_id in given and repeat in given
    ]
