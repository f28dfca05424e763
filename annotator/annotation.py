"""What a person said of an item: one annotation event, and the current ones by fold."""

from dataclasses import dataclass
from typing import Any

from sqlite_utils import Database

from rubrics import Rubric


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


def append_event(database: Database, **event: Any) -> int:
    """Store one event (the fields of `Annotation` but event_id and kind, plus its nonce).

    Returns the event's id, which is the receipt that the annotator sees.
    """
    kind = "skip" if event["skip_reason"] else "label"
    return int(database["events"].insert({**event, "kind": kind}).last_pk)


def saved_as(annotation: Annotation, rubric: Rubric) -> str:
    """What was saved, in the words that the annotator saw."""
    if annotation.category is None:
        return f"skipped: {annotation.skip_reason}"
    return rubric.category(annotation.category).name


def current_annotations(database: Database, rubric_version: str) -> list[Annotation]:
    """The latest event of every (item, annotator) under a rubric version, in order of saving."""
    return _read(database, "current_events", "rubric_version = ?", [rubric_version])


def current_annotation(
    database: Database, annotator: str, item_id: str, rubric_version: str
) -> Annotation | None:
    """The latest event of one annotator on one item under a rubric version."""
    rows = database["events"].rows_where(
        "annotator = ? AND rubric_version = ? AND item_id = ?",
        [annotator, rubric_version, item_id],
        order_by="event_id DESC",
        limit=1,
    )
    return next(map(_annotation, rows), None)


def annotations_of_item(database: Database, item_id: str, rubric_version: str) -> list[Annotation]:
    """The latest event of every annotator on one item under a rubric version, by annotator."""
    rows = database["events"].rows_where(
        """event_id IN (SELECT max(event_id) FROM events
           WHERE item_id = ? AND rubric_version = ? GROUP BY annotator)""",
        [item_id, rubric_version],
        order_by="annotator",
    )
    return [_annotation(row) for row in rows]


def event_of(database: Database, nonce: str) -> Annotation | None:
    """The event that was saved from the display with this nonce."""
    return next(map(_annotation, database["events"].rows_where("nonce = ?", [nonce])), None)


def done_kinds(database: Database, annotator: str, rubric_version: str) -> dict[str, str]:
    """'label' or 'skip' by the id of every item that an annotator has done under a version.

    Read by index for one person, where `current_events` would fold everybody's events first.
    """
    rows = database.conn.execute(
        """SELECT item_id, kind FROM events WHERE event_id IN (
               SELECT max(event_id) FROM events
               WHERE annotator = ? AND rubric_version = ? GROUP BY item_id)""",
        [annotator, rubric_version],
    )
    return dict(rows.fetchall())


def annotation_history(database: Database) -> list[Annotation]:
    """Every event ever saved, oldest first."""
    return _read(database, "events", None, [])


def _read(
    database: Database, table: str, where: str | None, parameters: list[str]
) -> list[Annotation]:
    rows = database[table].rows_where(where, parameters, order_by="event_id")
    return [_annotation(row) for row in rows]


def _annotation(row: dict[str, Any]) -> Annotation:
    return Annotation(
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
