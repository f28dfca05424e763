"""Annotation events by a script, put straight into labels.db: nobody's judgement."""

from itertools import count
from pathlib import Path

from sqlite_utils import Database

from annotator.annotation import append_event
from annotator.labels import BlindItem, add_items, open_labels, record_rubric
from generation.clock import now
from generation.database import keep
from generation.item import Item, Message
from rubrics import load_rubric

RUBRIC = load_rubric("v3")
LABELS = RUBRIC.category_ids
DAY_ONE = "2026-04-01T09:00:00.000+00:00"
_nonces = count()


def item_id(number: int) -> str:
    return f"{number:012x}"


def scripted_study(path: Path, turns: int | list[str] = 10) -> Database:
    """An open labels.db with these turns, or so many, each in a conversation of its own."""
    texts = [f"turn {n}" for n in range(turns)] if isinstance(turns, int) else turns
    database = open_labels(path, create=True)
    items = [
        BlindItem(item_id(n), Item((Message("user", f"question {n}"),), f"answer {n}", text))
        for n, text in enumerate(texts)
    ]
    add_items(database, items, seed=7)
    record_rubric(database, RUBRIC)
    return database


def script_event(
    database: Database, annotator: str, item: str, category: str | None = None, **fields
) -> None:
    """One saved event: a label, or without a category a skip for `skip_reason`."""
    skip_reason = None if category else fields.pop("skip_reason", "I cannot judge the subject")
    version = fields.pop("rubric_version", "v3")
    of = {"annotator": annotator, "item_id": item, "rubric_version": version}
    nonce = f"script {next(_nonces)}"
    saved_at = fields.pop("saved_at", now())
    keep(database, "annotators", {"annotator": annotator, "first_seen_at": DAY_ONE})
    database["displays"].insert({"nonce": nonce, "shown_at": saved_at, **of})
    event = {
        "category": category,
        "skip_reason": skip_reason,
        "confidence": None,
        "note": "",
        "flagged": False,
        "saved_at": saved_at,
        **fields,
    }
    append_event(database, nonce=nonce, **of, **event)


def script_labels(database: Database, annotator: str, labels: str, **fields) -> None:
    """A digit per item, in order: the number of its label from 1; "." for none, "s" for a skip."""
    for number, digit in enumerate(labels):
        if digit != ".":
            category = None if digit == "s" else LABELS[int(digit) - 1]
            script_event(database, annotator, item_id(number), category, **fields)
