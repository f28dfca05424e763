"""What adjudicators say to each other of an item: signed notes, of which none is ever changed."""

from dataclasses import dataclass

from sqlite_utils import Database

from generation.clock import now
from generation.database import immediate
from rubrics import InputError

NOTE_LIMIT = 2_000  # characters


@dataclass(frozen=True)
class DiscussionNote:
    """One note on an item under a rubric version."""

    note_id: int
    item_id: str
    rubric_version: str
    author: str
    note: str
    written_at: str


def discussion_of(database: Database, item_id: str, rubric_version: str) -> list[DiscussionNote]:
    """The notes on an item, oldest first."""
    rows = database["discussion_notes"].rows_where(
        "item_id = ? AND rubric_version = ?", [item_id, rubric_version], order_by="note_id"
    )
    return [DiscussionNote(**row) for row in rows]


def add_note(
    database: Database, item_id: str, rubric_version: str, note: str, author: str
) -> DiscussionNote:
    """Store a note; one that its author sends again is there once.

    Raises InputError for an empty or overlong note. The item and the rubric version are known.
    """
    note = note.strip()
    if not note or len(note) > NOTE_LIMIT:
        raise InputError(
            f"the note has {len(note):,} characters, expected 1 to {NOTE_LIMIT:,}; write it anew"
        )
    with immediate(database):
        said = discussion_of(database, item_id, rubric_version)
        if said and (said[-1].note, said[-1].author) == (note, author):
            return said[-1]
        row = {
            "item_id": item_id,
            "rubric_version": rubric_version,
            "author": author,
            "note": note,
            "written_at": now(),
        }
        return DiscussionNote(int(database["discussion_notes"].insert(row).last_pk), **row)
