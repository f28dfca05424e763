"""What there is to know of one annotator's work, but for what takes resampling."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from annotator.annotation import Annotation
from annotator.dashboard.label_pairs import LabelPairs
from annotator.dashboard.reading import AnnotatorRecord
from annotator.measures.agreement import Agreement
from annotator.quality.gold import Gold
from annotator.quality.gold_accuracy import GoldAccuracy, gold_accuracy
from annotator.quality.pace import Pace, pace
from annotator.quality.skips import Skips, skips

NO_LABELS = "no label given"
ALONE = "nobody else labelled these items"


@dataclass(frozen=True)
class AnnotatorFigures:
    """`others` is None where `alone` says why there is nobody to agree with."""

    record: AnnotatorRecord
    pace: Pace
    skips: Skips
    gold: GoldAccuracy
    others: Agreement | None
    alone: str | None
    flags: int
    late: int

    def as_dict(self) -> dict[str, object]:
        record, training = self.record, self.record.training
        return {
            "annotator": record.name,
            "role": record.role,
            "disabled_at": record.disabled_at,
            "last_seen_at": record.last_seen_at,
            "labels": self.pace.labels,
            "late": self.late,
            "flags": self.flags,
            "skips": self.skips.as_dict(),
            "gold": self.gold.as_dict(),
            "with_others": self.others.as_dict() if self.others else None,
            "with_others_undefined": self.alone or (self.others and self.others.undefined),
            "pace": self.pace.as_dict(),
            "training": dict(vars(training)),
        }


def annotator_figures(
    record: AnnotatorRecord,
    annotations: Iterable[Annotation],
    pairs: LabelPairs,
    gold: Sequence[Gold],
) -> AnnotatorFigures:
    """Of one person's annotations that stand, without those taken back."""
    annotations = list(annotations)
    given = {said.item_id: said.category for said in annotations if said.category is not None}
    labelled = record.name in pairs.annotators
    others = pairs.against_others(record.name) if labelled else None
    return AnnotatorFigures(
        record,
        pace(annotations, spent_ms=record.spent_ms),
        skips(annotations),
        gold_accuracy(given, gold),
        others=others if others and others.n else None,
        alone=None if others and others.n else ALONE if labelled else NO_LABELS,
        flags=sum(said.flagged for said in annotations),
        late=sum(said.late and said.kind == "label" for said in annotations),
    )
