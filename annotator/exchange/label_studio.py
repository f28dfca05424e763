"""Label Studio's JSON: tasks with annotations, of one rubric version.

The category is a choice, the note a text area; a skip is a cancelled annotation. Only what stands
is there, since Label Studio knows one annotation per person and task. Who wants to import it
there first makes users of the names: `completed_by` has them in place of addresses.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from annotator.exchange.record import AnnotationRecord

TEXT, CATEGORY, NOTE = "turn", "category", "note"


def write_label_studio(records: Iterable[AnnotationRecord], path: Path) -> None:
    tasks: dict[str, dict[str, Any]] = {}
    for record in records:
        if record.stands:
            task = tasks.setdefault(record.item_id, _task(record))
            task["annotations"].append(_annotation(record))
    path.write_text(json.dumps(list(tasks.values()), allow_nan=False), encoding="ascii")


def _task(record: AnnotationRecord) -> dict[str, Any]:
    return {
        "id": record.item_id,
        "data": {
            "item_id": record.item_id,
            # What a <Paragraphs> tag shows.
            "messages": [
                {"author": message.role, "text": message.content}
                for message in record.item.messages
            ],
            "answer": record.item.answer,
            TEXT: record.item.turn,
            "rubric": record.rubric_version,
        },
        "annotations": [],
        "predictions": [],
    }


def _annotation(record: AnnotationRecord) -> dict[str, Any]:
    result = []
    if record.category is not None:
        result.append(_result(CATEGORY, "choices", {"choices": [record.category]}))
    if record.note:
        result.append(_result(NOTE, "textarea", {"text": [record.note]}))
    return {
        "completed_by": {"email": record.annotator, "first_name": record.annotator},
        "result": result,
        "was_cancelled": record.kind == "skip",
        "ground_truth": False,
        "created_at": record.saved_at,
        "updated_at": record.saved_at,
        # Seconds.
        "lead_time": None if record.active_ms is None else record.active_ms / 1000,
        "unique_id": record.nonce,
    }


def _result(question: str, kind: str, value: dict[str, list[str]]) -> dict[str, Any]:
    return {"from_name": question, "to_name": TEXT, "type": kind, "value": value}
