"""Noting why judge and people differ on an item."""

from collections.abc import Mapping
from typing import Any

from judge.calibration.causes.cause import MEMO_LIMIT
from judge.calibration.causes.cause_store import note_cause
from judge.calibration.workbench.acts.done import Done
from judge.calibration.workbench.bench import Bench
from judge.calibration.workbench.drafts import drop_draft
from judge.calibration.workbench.field import row_id, text, texts
from judge.calibration.workbench.place import Place
from judge.calibration.workbench.roster import one_named
from judge.calibration.workbench.stores import Stores
from judge.calibration.workbench.views.items import NOTE_DRAFT, TypedNote


def note_item(bench: Bench, stores: Stores, place: Place, fields: Mapping[str, Any]) -> Done:
    """Store the causes and the memo of the item that was on screen."""
    typed = typed_note(fields)
    judge = one_named(bench.roster(stores), typed.judge)
    note = note_cause(
        stores.pipeline,
        stores.labels,
        judge.judge_id,
        judge.judge,
        typed.item,
        causes=[*typed.causes, *filter(str.strip, typed.own.split(","))],
        memo=typed.memo,
        owner=place.owner,
        seen=row_id(fields, "seen"),
    )
    drop_draft(stores.pipeline, place.owner, NOTE_DRAFT)
    return Done(
        f"Noted: {', '.join(note.causes) or 'no cause'} (note {note.note_id}).",
        fields={"seen": str(note.note_id)},
    )


def typed_note(fields: Mapping[str, Any]) -> TypedNote:
    """What stands beside an item, as a page sent it; raises InputError."""
    return TypedNote(
        text(fields, "judge", limit=80),
        text(fields, "item", limit=80),
        texts(fields, "causes"),
        text(fields, "own", limit=400),
        text(fields, "memo", limit=MEMO_LIMIT + 1),
        text(fields, "seen", limit=20),
    )
