"""Annotation events as one flat table, which CSV, Parquet and a Hugging Face folder share.

It is a long table of item, rater and label for statistics too: `label` is empty unless the event
is a label that stands, so that nothing superseded is counted. `category` is what was chosen.
"""

from collections.abc import Mapping

from annotator.exchange.record import AnnotationRecord
from rubrics import bytes_fingerprint, canonical_json, short

Cell = str | int | bool | None

# Type by column, in the words of Parquet.
COLUMNS: Mapping[str, str] = {
    "item": "string",
    "rater": "string",
    "label": "string",
    "kind": "string",
    "cluster": "string",
    "rubric": "string",
    "act": "string",
    "category": "string",
    "skip_reason": "string",
    "confidence": "string",
    "note": "string",
    "flagged": "bool",
    "late": "bool",
    "stands": "bool",
    "active_ms": "int64",
    "place": "int64",
    "shown_at": "string",
    "saved_at": "string",
    "messages": "string",
    "answer": "string",
    "turn": "string",
    "rubric_hash": "string",
    "event": "int64",
    "nonce": "string",
}


def table_row(record: AnnotationRecord) -> dict[str, Cell]:
    """One row; `cluster` is the same for items of one conversation, `messages` is JSON."""
    messages = canonical_json([message.as_dict() for message in record.item.messages])
    cells: dict[str, Cell] = {
        "item": record.item_id,
        "rater": record.annotator,
        "label": record.category if record.stands else None,
        "kind": "human",
        "cluster": short(bytes_fingerprint(messages.encode()), 12),
        "rubric": record.rubric_version,
        "act": record.kind,
        "category": record.category,
        "skip_reason": record.skip_reason,
        "confidence": record.confidence,
        "note": record.note,
        "flagged": record.flagged,
        "late": record.late,
        "stands": record.stands,
        "active_ms": record.active_ms,
        "place": record.place,
        "shown_at": record.shown_at,
        "saved_at": record.saved_at,
        "messages": messages,
        "answer": record.item.answer,
        "turn": record.item.turn,
        "rubric_hash": record.rubric_hash,
        "event": record.event_id,
        "nonce": record.nonce,
    }
    return {column: cells[column] for column in COLUMNS}
