"""Displays: which item was put before whom, and what is kept of it until it is saved.

Every display has a nonce. A draft, a save and a skip come back with that nonce, so that what is
stored can only belong to what was on screen.
"""

import json
import secrets
from dataclasses import asdict, dataclass

from sqlite_utils import Database

from annotator.labelling.choice import Choice
from generation.clock import now


@dataclass(frozen=True)
class Display:
    """One showing of an item; `last_event_id` is the annotation that stood when it was shown."""

    nonce: str
    annotator: str
    item_id: str
    rubric_version: str
    last_event_id: int | None


def put_display(
    database: Database,
    *,
    annotator: str,
    item_id: str,
    rubric_version: str,
    last_event_id: int | None,
) -> Display:
    """Record a new display."""
    display = Display(secrets.token_urlsafe(12), annotator, item_id, rubric_version, last_event_id)
    database["displays"].insert({**asdict(display), "shown_at": now()})
    return display


def find_display(database: Database, nonce: str) -> Display | None:
    return _one(database, "nonce = ?", [nonce])


def last_display(database: Database, annotator: str, rubric_version: str) -> Display | None:
    """What the annotator was shown last: where a reload or a restart comes back to."""
    return _one(database, "annotator = ? AND rubric_version = ?", [annotator, rubric_version])


def keep_draft(database: Database, display: Display, choice: Choice) -> None:
    database["drafts"].upsert(
        {
            "annotator": display.annotator,
            "item_id": display.item_id,
            "rubric_version": display.rubric_version,
            "content": json.dumps(asdict(choice)),
            "saved_at": now(),
        },
        pk=("annotator", "item_id", "rubric_version"),
    )


def kept_draft(database: Database, display: Display) -> Choice | None:
    row = database.conn.execute(
        """SELECT content FROM drafts
           WHERE annotator = ? AND item_id = ? AND rubric_version = ?""",
        [display.annotator, display.item_id, display.rubric_version],
    ).fetchone()
    return Choice(**json.loads(row[0])) if row else None


def drop_draft(database: Database, display: Display) -> None:
    database.conn.execute(
        "DELETE FROM drafts WHERE annotator = ? AND item_id = ? AND rubric_version = ?",
        [display.annotator, display.item_id, display.rubric_version],
    )


def _one(database: Database, where: str, parameters: list[str]) -> Display | None:
    row = database.conn.execute(
        f"""SELECT nonce, annotator, item_id, rubric_version, last_event_id
            FROM displays WHERE {where} ORDER BY rowid DESC LIMIT 1""",
        parameters,
    ).fetchone()
    return Display(*row) if row else None
