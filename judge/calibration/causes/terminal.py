"""Causes as plain text."""

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
    next_line = f"next: calibrate cause ITEM --cause 'judge error' --memo TEXT{option}"
    if not tally.noted:
        return wrapped([*lines, next_line])
    table = new_table("people", "judge", "items", *tally.causes)
    for cell in tally.cells:
        counts = (cell.causes.get(cause, 0) for cause in tally.causes)
        table.add_row(
            *cells(cell.reference, cell.outcome, str(cell.disagreements), *map(str, counts))
        )
    totals = (str(tally.disagreements), *map(str, tally.causes.values()))
    table.add_row(*cells("all", "", *totals))
    return "\n".join([wrapped(lines), rendered(table), wrapped([next_line])])


def noted_text(note: CauseNote, version: str, option: str) -> str:
    """What was stored, and what it set going."""
    lines = [f"item {note.item_id}: {', '.join(note.causes) or 'a memo alone'}"]
    if LABEL_SLIP in note.causes:
        lines.append(
            "people's label stays until it is decided: annotate adjudicate "
            f"--rubric {version}{option}"
        )
    return "\n".join(lines)
