"""The judge that is calibrated against all others of its rubric, for the report's forest plot."""

from collections.abc import Set
from dataclasses import dataclass

from sqlite_utils import Database

from judge.calibration.calibration import Calibration
from judge.calibration.comparison.contestants import Entrant
from judge.calibration.comparison.study_comparison import StudyComparison, compare_study
from judge.calibration.judge_choice import check_judged_under
from judge.calibration.splits.frozen_split import frozen_split
from judge.store import JudgmentStore, StoredJudge
from judge.verdict_runs import judgments_by_run
from rubrics import InputError, short


@dataclass(frozen=True)
class Rivals:
    """The others as challengers of the calibrated judge; None where there is nobody to compare.

    `left_out` names the others that are not compared, each with the reason.
    """

    comparison: StudyComparison | None
    left_out: tuple[str, ...] = ()


def compare_rivals(pipeline_db: Database, labels_db: Database, calibration: Calibration) -> Rivals:
    """Compare those of the other judges that have judged every item of the calibration.

    One that has judged only some would take the others' items away from all.
    """
    store = JudgmentStore(pipeline_db)
    items = {pair.item.hash for pair in calibration.pairing.pairs}
    entrants, left_out = [_entrant(store, calibration.judge, calibration)], []
    for judge in calibration.other_judges:
        entrant = _entrant(store, judge, calibration)
        reason = _unfit(pipeline_db, store, entrant, items)
        if reason:
            left_out.append(f"{entrant.name}: {reason}")
        else:
            entrants.append(entrant)
    if len(entrants) < 2 or not items:
        return Rivals(None, tuple(left_out))
    comparison = compare_study(
        pipeline_db,
        labels_db,
        entrants,
        rule=calibration.rule,
        annotator=calibration.annotator,
        seed=calibration.seed,
        frozen=frozen_split(pipeline_db),
        part=calibration.restriction.part,
    )
    return Rivals(comparison, tuple(left_out))


def _unfit(
    pipeline_db: Database, store: JudgmentStore, entrant: Entrant, items: Set[str]
) -> str | None:
    """Why a judge cannot be compared on these items, or None if it can."""
    try:
        check_judged_under(store, entrant.judge, entrant.rubric)
    except InputError as error:
        return str(error)
    first = judgments_by_run(pipeline_db, entrant.judge.judge_id, items, 1)
    judged = len(next(iter(first.values()), {}))
    return None if judged == len(items) else f"judged {judged} of these {len(items)} items"


def _entrant(store: JudgmentStore, judge: StoredJudge, calibration: Calibration) -> Entrant:
    prompt = store.prompt(judge.judge.prompt_hash)
    name = f"{prompt.template}, {judge.judge.model} ({short(judge.judge_id)})"
    return Entrant(name, judge, prompt, calibration.rubric)
