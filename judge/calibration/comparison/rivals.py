"""The judge that is calibrated against all others of its rubric, for the report's forest plot."""

from sqlite_utils import Database

from judge.calibration.calibration import Calibration
from judge.calibration.comparison.contestants import Entrant
from judge.calibration.comparison.study_comparison import StudyComparison, compare_study
from judge.calibration.judge_choice import check_judged_under
from judge.calibration.splits.frozen_split import frozen_split
from judge.store import JudgmentStore, StoredJudge
from rubrics import InputError, short


def compare_rivals(
    pipeline_db: Database, labels_db: Database, calibration: Calibration
) -> StudyComparison | None:
    """The others as challengers of the calibrated judge, on the items that all of them judged.

    None where there are no others, or no item that all judged.
    """
    if not calibration.other_judges:
        return None
    store = JudgmentStore(pipeline_db)
    judges = (calibration.judge, *calibration.other_judges)
    try:
        entrants = [_entrant(store, judge, calibration) for judge in judges]
        return compare_study(
            pipeline_db,
            labels_db,
            entrants,
            rule=calibration.rule,
            annotator=calibration.annotator,
            seed=calibration.seed,
            frozen=frozen_split(pipeline_db),
            part=calibration.restriction.part,
        )
    except InputError:  # a report of one judge needs no other
        return None


def _entrant(store: JudgmentStore, judge: StoredJudge, calibration: Calibration) -> Entrant:
    check_judged_under(store, judge, calibration.rubric)
    prompt = store.prompt(judge.judge.prompt_hash)
    name = f"{prompt.template}, {judge.judge.model} ({short(judge.judge_id)})"
    return Entrant(name, judge, prompt, calibration.rubric)
