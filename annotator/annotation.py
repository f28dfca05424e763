"""What a person said of an item: one annotation event, and the current ones by fold."""

from dataclasses import dataclass
from typing import Any

from sqlite_utils import Database

from rubrics import Rubric

TAKEN_BACK = "taken back"  # the reason of a skip that undoes a label: the item is open again


@dataclass(frozen=True)
class Annotation:
    """One saved event. `kind` is 'label' (with `category`) or 'skip' (with `skip_reason`).

    `late`: saved after its lease had gone to somebody else. `active_ms` is the time of work on it,
    in milliseconds, where the page measured one.
    """

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
    late: bool = False
    active_ms: int | None = None


def append_event(database: Database, **event: Any) -> int:
    """Store one event (the fields of `Annotation` but event_id and kind, plus its nonce).

    It never bears an earlier time than the event it supersedes, whatever the clock says.
    Returns the event's id, which is the receipt that the annotator sees.
    """
    kind = "skip" if event["skip_reason"] else "label"
    before = current_annotation(
        database, event["annotator"], event["item_id"], event["rubric_version"]
    )
    if before:
        event["saved_at"] = max(event["saved_at"], before.saved_at)
    return int(database["events"].insert({**event, "kind": kind}).last_pk)


def saved_as(annotation: Annotation, rubric: Rubric) -> str:
    """What was saved, in the words that the annotator saw."""
    if annotation.category is None:
        return (
            "taken back"
            if annotation.skip_reason == TAKEN_BACK
            else f"skipped: {annotation.skip_reason}"
        )
    return rubric.category(annotation.category).name


def current_annotations(database: Database, rubric_version: str) -> list[Annotation]:
    """The latest event of every (item, annotator) under a rubric version, in order of saving."""
    return _read(database, "current_events", "rubric_version = ?", [rubric_version])


def current_annotation(
    database: Database, annotator: str, item_id: str, rubric_version: str
) -> Annotation | None:
    """The event of one annotator on one item that stands under a rubric version."""
    where = "annotator = ? AND rubric_version = ? AND item_id = ?"
    return next(iter(_standing(database, where, [annotator, rubric_version, item_id])), None)


def annotations_of_item(database: Database, item_id: str, rubric_version: str) -> list[Annotation]:
    """Every annotator's standing event on one item under a rubric version, by annotator."""
    return _standing(database, "item_id = ? AND rubric_version = ?", [item_id, rubric_version])


def event_of(database: Database, nonce: str) -> Annotation | None:
    """The event that was saved from the display with this nonce."""
    return next(map(_annotation, database["events"].rows_where("nonce = ?", [nonce])), None)


def recent_annotations(
    database: Database, annotator: str, rubric_version: str, limit: int
) -> list[Annotation]:
    """What an annotator saved last under a rubric version and did not take back, newest first."""
    rows = database["events"].rows_where(
        """annotator = :who AND rubric_version = :version AND skip_reason IS NOT :gone
           AND event_id IN (SELECT event_id FROM standing_events
                            WHERE annotator = :who AND rubric_version = :version)""",
        {"who": annotator, "version": rubric_version, "gone": TAKEN_BACK},
        order_by="event_id DESC",
        limit=limit,
    )
    return [_annotation(row) for row in rows]


def annotation_history(database: Database) -> list[Annotation]:
    """Every event ever saved, oldest first."""
    return _read(database, "events", None, [])


def _standing(database: Database, where: str, parameters: list[str]) -> list[Annotation]:
    """By the index of standing events, where the view would fold everybody's first."""
    rows = database["events"].rows_where(
        f"event_id IN (SELECT event_id FROM standing_events WHERE {where})",
        parameters,
        order_by="annotator",
    )
    return [_annotation(row) for row in rows]


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
        late=bool(row["late"]),
        active_ms=row["active_ms"],
    )
