"""The causes of a judge's disagreements in a study, or one more of them noted."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlite_utils import Database

from judge.calibration.calibration import Calibration
from judge.calibration.causes.cause import CauseNote
from judge.calibration.causes.cause_store import OWNER, current_note, current_notes, note_cause
from judge.calibration.causes.tally import CauseTally, tally_causes
from judge.calibration.judge_choice import choose_judge, judge_dict
from judge.store import JudgmentStore, StoredJudge
from rubrics import Rubric


@dataclass(frozen=True)
class StudyCauses:
    """The current notes of a judge, and what they amount to over its disagreements."""

    judge: StoredJudge
    rubric: Rubric
    tally: CauseTally
    notes: tuple[CauseNote, ...]

    def as_dict(self) -> dict[str, Any]:
        return {
            "judge": judge_dict(self.judge),
            "rubric": self.rubric.version,
            **self.tally.as_dict(),
            "notes": [note.as_dict() for note in self.notes],
        }


def study_causes(pipeline_db: Database, calibration: Calibration) -> StudyCauses:
    """The notes of the calibrated judge, tallied over the pairs of this calibration."""
    notes = current_notes(pipeline_db, calibration.judge_id)
    return StudyCauses(
        calibration.judge,
        calibration.rubric,
        tally_causes(calibration.pairing.pairs, notes),
        tuple(notes.values()),
    )


def note_item(
    pipeline_db: Database,
    labels_db: Database,
    rubric: Rubric,
    judge: str | None,
    item_id: str,
    *,
    causes: Iterable[str],
    memo: str,
    owner: str | None,
) -> CauseNote:
    """Note an item under a judge, in the place of whatever note there is.

    Raises InputError as `choose_judge` and `note_cause` do.
    """
    chosen = choose_judge(JudgmentStore(pipeline_db).judges(rubric.version), rubric, judge)
    before = current_note(pipeline_db, chosen.judge_id, item_id)
    return note_cause(
        pipeline_db,
        labels_db,
        chosen.judge_id,
        chosen.judge,
        item_id,
        causes=causes,
        memo=memo,
        owner=OWNER if owner is None else owner,
        seen=before.note_id if before else None,
    )
