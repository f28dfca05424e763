"""What a person said of an item: one annotation event, and the current ones by fold."""

from dataclasses import dataclass

from sqlite_utils import Database


@dataclass(frozen=True)
class Annotation:
    """One saved event. `kind` is 'label' (with `category`) or 'skip' (with `skip_reason`)."""

    event_id: int
    annotator: str
    item_id: str
    rubric_version: str
    kind: str
    category: str | None
    skip_reason: str | None
    confidence: str | None
    note: str
    flagged: bool
    saved_at: str


def current_annotations(database: Database, rubric_version: str) -> list[Annotation]:
    """The latest event of every (item, annotator) under a rubric version, in order of saving."""
    return _read(database, "current_events", "rubric_version = ?", [rubric_version])


def annotation_history(database: Database) -> list[Annotation]:
    """Every event ever saved, oldest first."""
    return _read(database, "events", None, [])


def _read(
    database: Database, table: str, where: str | None, parameters: list[str]
) -> list[Annotation]:
    rows = database[table].rows_where(where, parameters, order_by="event_id")
    return [
        Annotation(
            event_id=row["event_id"],
            annotator=row["annotator"],
            item_id=row["item_id"],
            rubric_version=row["rubric_version"],
            kind=row["kind"],
            category=row["category"],
            skip_reason=row["skip_reason"],
            confidence=row["confidence"],
            note=row["note"],
            flagged=bool(row["flagged"]),
            saved_at=row["saved_at"],
        )
        for row in rows
    ]
