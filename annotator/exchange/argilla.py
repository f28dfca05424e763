"""Argilla's records as JSON, in the shape of its version 2, of one rubric version.

A response is a submitted label that stands. Argilla names people by UUID: one is made of every
name, and the record's metadata says whose it is. It has no place for a skip.
"""

import json
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from annotator.exchange.record import AnnotationRecord

QUESTION = "category"
NAMESPACE = uuid.UUID("6f0a1f6e-3a3e-5d0c-9a35-0f2b6f5a7c11")  # any fixed one will do


def write_argilla(records: Iterable[AnnotationRecord], path: Path) -> None:
    written: dict[str, dict[str, Any]] = {}
    for record in records:
        if not record.stands or record.category is None:
            continue
        entry = written.setdefault(record.item_id, _entry(record))
        user = user_id(record.annotator)
        entry["responses"][QUESTION].append({"value": record.category, "user_id": user})
        entry["metadata"]["annotators"].append(f"{user} {record.annotator}")
    path.write_text(json.dumps(list(written.values()), allow_nan=False), encoding="ascii")


def user_id(annotator: str) -> str:
    """The same UUID for the same name, everywhere."""
    return str(uuid.uuid5(NAMESPACE, annotator))


def _entry(record: AnnotationRecord) -> dict[str, Any]:
    return {
        "id": record.item_id,
        "fields": {
            # What Argilla's chat field shows.
            "messages": [message.as_dict() for message in record.item.messages],
            "answer": record.item.answer,
            "turn": record.item.turn,
        },
        "metadata": {"rubric": record.rubric_version, "annotators": []},
        "suggestions": {},
        "responses": {QUESTION: []},
        "vectors": {},
        "_server_id": None,
    }
