"""One annotation event as one self-contained record: what tables and other formats are made of."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from sqlite_utils import Database

from annotator.exchange.who import People
from annotator.publishing.in_force import published_version
from generation.item import Item, messages_from
from rubrics import InputError


@dataclass(frozen=True)
class AnnotationRecord:
    """An event with the text it is about. `kind` is 'label' or 'skip'; `stands`: not superseded.

    `place` counts from 1 in the order in which the annotator was first shown the items under
    this rubric version. `active_ms` is in milliseconds.
    """

    event_id: int
    nonce: str
    item_id: str
    item: Item
    annotator: str
    rubric_version: str
    rubric_hash: str
    kind: str
    category: str | None
    skip_reason: str | None
    confidence: str | None
    note: str
    flagged: bool
    late: bool
    active_ms: int | None
    shown_at: str
    place: int
    saved_at: str
    stands: bool


def annotation_records(
    database: Database, people: People, rubric_version: str | None = None
) -> Iterator[AnnotationRecord]:
    """Every event, or those under one rubric version, in order of time."""
    rows = database.conn.execute(
        """SELECT events.event_id, events.nonce, events.item_id, messages, answer, turn,
                  events.annotator, events.rubric_version, rubrics.hash, kind, category,
                  skip_reason, confidence, note, flagged, late, active_ms, displays.shown_at,
                  place, saved_at, standing_events.event_id IS NOT NULL
           FROM events JOIN items USING (item_id) JOIN displays USING (nonce)
           JOIN rubrics ON rubrics.version = events.rubric_version
           JOIN (SELECT annotator, rubric_version, item_id,
                        row_number() OVER (PARTITION BY annotator, rubric_version
                                           ORDER BY min(shown_at), min(rowid)) AS place
                 FROM displays GROUP BY annotator, rubric_version, item_id) AS shown
           ON (shown.annotator, shown.rubric_version, shown.item_id)
              = (events.annotator, events.rubric_version, events.item_id)
           LEFT JOIN standing_events ON standing_events.event_id = events.event_id
           WHERE :version IS NULL OR events.rubric_version = :version
           ORDER BY saved_at, events.event_id""",
        {"version": rubric_version},
    )
    for event_id, nonce, item_id, messages, answer, turn, annotator, *rest in rows:
        version, digest, kind, category, reason, confidence, note, flagged, late, *times = rest
        active_ms, shown_at, place, saved_at, stands = times
        yield AnnotationRecord(
            event_id=event_id,
            nonce=nonce,
            item_id=item_id,
            item=Item(messages_from(json.loads(messages)), answer, turn),
            annotator=people.called(annotator),
            rubric_version=version,
            rubric_hash=digest,
            kind=kind,
            category=category,
            skip_reason=reason,
            confidence=confidence,
            note=note,
            flagged=bool(flagged),
            late=bool(late),
            active_ms=active_ms,
            shown_at=shown_at,
            place=place,
            saved_at=saved_at,
            stands=bool(stands),
        )


def annotated_versions(database: Database) -> list[str]:
    """The rubric versions that people annotated under."""
    rows = database.conn.execute(
        "SELECT DISTINCT rubric_version FROM events ORDER BY rubric_version"
    )
    return [row[0] for row in rows]


def one_version(database: Database, wanted: str | None) -> str:
    """The version asked for, else the published or the only one.

    Raises InputError where there is no telling.
    """
    found = annotated_versions(database)
    if wanted is None and (published := published_version(database)) in found:
        return str(published)
    if wanted in found:
        return wanted
    if wanted is None and len(found) == 1:
        return found[0]
    if not found:
        raise InputError("nobody has annotated anything yet; start with: annotate")
    what = "several rubric versions were" if wanted is None else f"rubric {wanted} was never"
    raise InputError(
        f"{what} used to annotate, expected one of {', '.join(found)}: --rubric {found[-1]}"
    )
