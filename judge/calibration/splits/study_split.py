"""From a study's two stores to its frozen split, and all that is to be said of it."""

from dataclasses import asdict, dataclass

from sqlite_utils import Database

from annotator.annotation import current_annotations
from annotator.labels import blind_items, recorded_rubric
from annotator.reference import reference_labels
from generation.item import Item
from judge.calibration.sampling.repeats import repeated_items, without_repeats
from judge.calibration.sampling.sample_store import sampled_items
from judge.calibration.splits.frozen_split import FrozenSplit, freeze_split, frozen_split
from judge.calibration.splits.opening import Opening, openings
from judge.calibration.splits.shown import shown_queries
from judge.calibration.splits.split import query_hash
from rubrics import latest_version

SEEN_BEFORE = (
    "reports printed before the split was frozen covered all items, so what was looked at in them "
    "is not untouched, whatever its half"
)


@dataclass(frozen=True)
class StudySplit:
    """A study's frozen split beside what is labelled now under `rubric_version`.

    `items` are the sampled items, `labelled` those of them with a reference label. `late` counts
    the queries of labelled items that were not when the split was frozen: these go by their hash.
    `shown` counts the queries of the split that a prompt or a template shows.
    """

    frozen: FrozenSplit
    rubric_version: str
    items: int
    labelled: int
    late: int
    shown: int
    openings: tuple[Opening, ...]

    def as_dict(self) -> dict[str, object]:
        frozen = self.frozen
        return {
            "split_hash": frozen.split_hash,
            "frozen_at": frozen.frozen_at,
            "rubric": frozen.rubric_version,
            "reference_rule": frozen.reference_rule,
            "queries": {"dev": frozen.size("dev"), "test": frozen.size("test")},
            "strata": [asdict(halves) for halves in frozen.halves],
            "shown_queries": self.shown,
            "labels_now": {
                "rubric": self.rubric_version,
                "items": self.items,
                "labelled": self.labelled,
                "queries_labelled_after_the_freeze": self.late,
            },
            "test_openings": [opening.as_dict() for opening in self.openings],
            "caveat": SEEN_BEFORE,
        }


def split_study(pipeline_db: Database, labels_db: Database, version: str | None) -> StudySplit:
    """Freeze the study's split by the reference labels under a rubric, or find the frozen one.

    `version` is by default that of the frozen split, else the newest. Raises InputError when
    nothing is labelled under it and nothing is frozen yet.
    """
    frozen = frozen_split(pipeline_db)
    version = version or (frozen.rubric_version if frozen else latest_version())
    with labels_db.atomic(), pipeline_db.atomic():  # people may label meanwhile
        labelled, rule, items = _labelled_items(pipeline_db, labels_db, version)
        shown = shown_queries(pipeline_db)
    frozen = freeze_split(pipeline_db, labelled, version, rule, shown)
    queries = {query_hash(item) for item, _ in labelled.values()}
    return StudySplit(
        frozen,
        version,
        items,
        len(labelled),
        len(queries - frozen.parts.keys()),
        len(shown & frozen.parts.keys()),
        openings(pipeline_db),
    )


def _labelled_items(
    pipeline_db: Database, labels_db: Database, version: str
) -> tuple[dict[str, tuple[Item, str]], str, int]:
    """Sampled items with their reference label, the rule of these, and how many are sampled."""
    blind, annotations = without_repeats(
        repeated_items(pipeline_db),
        blind_items(labels_db),
        current_annotations(labels_db, version),
    )
    rubric = recorded_rubric(labels_db, version)
    if rubric is None:  # nobody has labelled under it
        return {}, "", 0
    references = reference_labels(annotations, rubric)
    sampled = sampled_items(pipeline_db)
    labelled = {
        item_id: (blind[item_id], label)
        for item_id, label in references.labels.items()
        if item_id in blind and sampled.get(item_id) == blind[item_id].hash
    }
    return labelled, references.rule, len(sampled)
