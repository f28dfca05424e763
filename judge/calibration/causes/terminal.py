"""Causes as plain text."""

from collections.abc import Mapping

from judge.calibration.causes.cause import LABEL_SLIP, CauseNote
from judge.calibration.causes.study_causes import StudyCauses
from judge.calibration.judge_choice import judge_name
from judge.plain_text import cells, new_table, rendered, wrapped
from judge.plural import counted


def causes_text(found: StudyCauses, option: str) -> str:
    """The causes in all and by cell, and what to type next; `option` names the study."""
    tally = found.tally
    lines = [
        f"causes of {counted(tally.disagreements, 'disagreement')} of {judge_name(found.judge)} "
        f"with people under rubric {found.rubric.version}: {tally.noted} noted"
    ]
    if tally.settled:
        lines.append(f"noted, but no disagreement any more: {tally.settled}")
    if tally.apart:
        lines.append(
            f"noted, but not compared here (in the other half, or without a label or a verdict): "
            f"{tally.apart}"
        )
    # On one line however long, so that it can be copied.
    next_line = f"next: calibrate cause ITEM --cause 'judge error' --memo TEXT{option}"
    if not tally.noted:
        return wrapped(lines) + next_line
    # Owners name as many causes as they like: in columns of their own, they would be cut short.
    table = new_table("people", "judge", "items", "causes")
    for cell in tally.cells:
        table.add_row(
            *cells(cell.reference, cell.outcome, str(cell.disagreements), _listed(cell.causes))
        )
    table.add_row(*cells("all", "", str(tally.disagreements), _listed(tally.causes)))
    return "\n".join([wrapped(lines), rendered(table), next_line])


def noted_text(note: CauseNote, version: str, option: str, *, sent: bool) -> str:
    """What was stored, and what it set going; `sent` says whether the item is to be decided."""
    lines = [f"item {note.item_id}: {', '.join(note.causes) or _without_cause(note)}"]
    if LABEL_SLIP in note.causes and sent:
        lines.append(
            "people's label stays until it is decided: annotate adjudicate "
            f"--rubric {version}{option}"
        )
    elif LABEL_SLIP in note.causes:
        lines.append(
            f"it was decided since {LABEL_SLIP!r} was first noted; to send it there again, note it "
            f"without {LABEL_SLIP!r}, then with it"
        )
    return "\n".join(lines)


def _without_cause(note: CauseNote) -> str:
    return "a memo alone" if note.memo else "the note is emptied"


def _listed(causes: Mapping[str, int]) -> str:
    return ", ".join(f"{cause} {count}" for cause, count in causes.items()) or "none noted"
