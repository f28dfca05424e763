"""Notes on causes in pipeline.db, and what a doubted label sets going in labels.db."""

import json
from collections.abc import Iterable
from typing import Any

from sqlite_utils import Database

from annotator.adjudication.adjudication import request_adjudication
from annotator.name import checked_name
from generation.clock import now
from generation.database import immediate
from judge.calibration.causes.cause import LABEL_SLIP, CauseNote, checked_causes, checked_memo
from judge.judge import Judge
from rubrics import InputError

OWNER = "owner"  # who notes, where nobody in particular is named


class NotedMeanwhile(InputError):
    """Somebody else noted the item since it was looked at; `note` is what they wrote."""

    def __init__(self, note: CauseNote) -> None:
        causes = ", ".join(note.causes) or "no cause"
        super().__init__(
            f"{note.owner} noted item {note.item_id} meanwhile ({causes}); look at that note, "
            "then save again to replace it"
        )
        self.note = note


def current_notes(pipeline_db: Database, judge_id: str) -> dict[str, CauseNote]:
    """The latest note of every item that has one under this judge, by item id."""
    rows = pipeline_db["current_cause_notes"].rows_where(
        "judge_id = ?", [judge_id], order_by="item_id"
    )
    return {row["item_id"]: _note(row) for row in rows}


def current_note(pipeline_db: Database, judge_id: str, item_id: str) -> CauseNote | None:
    rows = pipeline_db["cause_notes"].rows_where(
        "judge_id = ? AND item_id = ?", [judge_id, item_id], order_by="note_id DESC", limit=1
    )
    return next(map(_note, rows), None)


def notes_of_item(pipeline_db: Database, item_id: str) -> list[CauseNote]:
    """The latest note of an item under every judge, in order of noting."""
    rows = pipeline_db["current_cause_notes"].rows_where(
        "item_id = ?", [item_id], order_by="note_id"
    )
    return [_note(row) for row in rows]


def own_causes(pipeline_db: Database) -> list[str]:
    """Every cause that was ever noted in this study, in order of name."""
    rows = pipeline_db.conn.execute(
        "SELECT DISTINCT value FROM cause_notes, json_each(causes) ORDER BY value"
    )
    return [row[0] for row in rows]


def note_cause(
    pipeline_db: Database,
    labels_db: Database,
    judge_id: str,
    judge: Judge,
    item_id: str,
    *,
    causes: Iterable[str],
    memo: str = "",
    owner: str = OWNER,
    seen: int | None = None,
) -> CauseNote:
    """Store a note; it takes the place of the one with id `seen`, or of none.

    A cause "label slip" sends the item to the adjudicator, once until that is decided: people's
    labels stay as they are. Raises NotedMeanwhile when another note stands, and InputError for an
    item that the study's sample has not, for an unusable cause, memo or name, and for a note that
    says nothing in the place of none.
    """
    causes, memo, owner = checked_causes(causes), checked_memo(memo), checked_name(owner)
    if not pipeline_db["sample_items"].count_where("item_id = ?", [item_id]):
        raise InputError(
            f"the study's sample has no item {item_id!r:.80}; see its items: "
            "calibrate --disagreements"
        )
    with immediate(pipeline_db):
        before = current_note(pipeline_db, judge_id, item_id)
        if before is not None and before.note_id != seen:
            raise NotedMeanwhile(before)
        if before is None and not causes and not memo:
            raise InputError(f"the note on item {item_id} is empty; name a cause or write a memo")
        pipeline_db["cause_notes"].insert(
            {
                "item_id": item_id,
                "judge_id": judge_id,
                "causes": json.dumps(causes),
                "memo": memo,
                "owner": owner,
                "after_note": before.note_id if before else None,
                "noted_at": now(),
            }
        )
        note = current_note(pipeline_db, judge_id, item_id)
        assert note is not None
        if LABEL_SLIP in causes and (before is None or LABEL_SLIP not in before.causes):
            request_adjudication(labels_db, item_id, judge.rubric_version)
    return note


def _note(row: dict[str, Any]) -> CauseNote:
    return CauseNote(**row | {"causes": tuple(json.loads(row["causes"]))})
