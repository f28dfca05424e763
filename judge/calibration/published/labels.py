"""What people said of the published items: one row per current label or skip, and the references.

Their notes are in neither: what somebody wrote for their own use may name them or others.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlite_utils import Database

from annotator.annotation import Annotation, current_annotations
from annotator.exchange.who import People, Who, people
from annotator.labels import recorded_rubric
from judge.calibration.published.turns import PublishedTurns
from judge.calibration.references import references_of
from judge.calibration.sampling.repeats import repeated_items
from judge.calibration.sampling.sample_store import sampled_items
from rubrics import Rubric

# Type by column, in the words of Parquet.
LABEL_COLUMNS: Mapping[str, str] = {
    "item_hash": "string",
    "rubric": "string",
    "annotator": "string",
    "act": "string",
    "category": "string",
    "skip_reason": "string",
    "confidence": "string",
    "flagged": "bool",
    "repeat": "bool",
}
REFERENCE_COLUMNS: Mapping[str, str] = {
    "item_hash": "string",
    "rubric": "string",
    "label": "string",
    "sigma": "int64",
    "labels": "int64",
}
CANARY = "of data sets that ask never to be published"
ELSEWHERE = "of turns that are not among these runs"
UNKNOWN = "of items that this study's turns do not have"


@dataclass(frozen=True)
class PublishedLabels:
    """Rows by table, the rubrics that people read, and how many labels and skips were left out."""

    labels: tuple[Mapping[str, object], ...]
    references: tuple[Mapping[str, object], ...]
    rubrics: tuple[Rubric, ...]
    left_out: Mapping[str, int]


NO_LABELS = PublishedLabels((), (), (), {})


def published_labels(
    pipeline_db: Database, labels_db: Database, turns: PublishedTurns, who: Who, version: str | None
) -> PublishedLabels:
    """Everybody's current labels of items that `turns` has published, under one rubric or all.

    Raises InputError for a stored category that its rubric does not know.
    """
    called = people(labels_db, who)
    repeats = repeated_items(pipeline_db)
    hashes = sampled_items(pipeline_db)
    hashes |= {repeat: hashes[original] for repeat, original in repeats.items()}
    public = turns.published(hashes.values())
    labels: list[Mapping[str, object]] = []
    references: list[Mapping[str, object]] = []
    left_out: Counter[str] = Counter()
    rubrics = _rubrics(labels_db, version)
    for rubric in rubrics:
        for said in current_annotations(labels_db, rubric.version):
            item_hash = hashes.get(said.item_id)
            if item_hash in public:
                row = _label(said, rubric, called, repeat=said.item_id in repeats)
                labels.append({"item_hash": item_hash} | row)
            elif item_hash is None:
                left_out[UNKNOWN] += 1
            else:
                left_out[CANARY if item_hash in turns.canary else ELSEWHERE] += 1
        references += _references(labels_db, rubric, hashes, public, repeats)
    order = ("rubric", "item_hash", "annotator", "repeat")
    labels.sort(key=lambda row: tuple(map(row.__getitem__, order)))
    references.sort(key=lambda row: (row["rubric"], row["item_hash"]))
    return PublishedLabels(tuple(labels), tuple(references), rubrics, left_out)


def _rubrics(labels_db: Database, version: str | None) -> tuple[Rubric, ...]:
    """Those that people annotated under, as they read them."""
    rows = labels_db.conn.execute(
        """SELECT DISTINCT rubric_version FROM events
           WHERE ? IS NULL OR rubric_version = ? ORDER BY 1""",
        [version, version],
    )
    found = (recorded_rubric(labels_db, name) for (name,) in rows.fetchall())
    return tuple(rubric for rubric in found if rubric is not None)


def _label(said: Annotation, rubric: Rubric, called: People, *, repeat: bool) -> dict[str, object]:
    return {
        "rubric": rubric.version,
        "annotator": called.called(said.annotator),
        "act": said.kind,
        "category": said.category,
        "skip_reason": said.skip_reason,
        "confidence": said.confidence,
        "flagged": said.flagged,
        "repeat": repeat,
    }


def _references(
    labels_db: Database,
    rubric: Rubric,
    hashes: Mapping[str, str],
    public: frozenset[str],
    repeats: Mapping[str, str],
) -> Iterator[dict[str, object]]:
    """The label of most people by item; where two have as many there is none."""
    found = references_of(labels_db, rubric, repeats=repeats.keys())
    for item_id, label in found.labels.items():
        item_hash = hashes.get(item_id)
        if item_hash in public:
            given = sum(said.kind == "label" for said in found.annotations[item_id])
            yield {
                "item_hash": item_hash,
                "rubric": rubric.version,
                "label": label,
                "sigma": rubric.category(label).sigma,
                "labels": given,
            }
