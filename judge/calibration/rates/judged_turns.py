"""What one judge said of turns, of a study or of some runs, and of the items with labels."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlite_utils import Database

from annotator.labels import blind_items
from annotator.reference_rule import ReferenceRule
from judge.calibration.conversations import conversations_by_id
from judge.calibration.judge_choice import choose_judge
from judge.calibration.pairing import Pairing, pair_items
from judge.calibration.rates.turn_verdicts import (
    ItemVerdicts,
    TurnVerdicts,
    item_verdicts,
    turn_verdicts,
)
from judge.calibration.references import references_of
from judge.calibration.sampling.repeats import repeated_items
from judge.calibration.sampling.sample_store import sampled_items
from judge.prompts.template_store import TemplateStore
from judge.reading import Reading, choose_reading, choose_runs, read
from judge.store import JudgmentStore, StoredJudge
from judge.verdict_runs import complete_items, incomplete_items, judgments_by_run, run_count
from rubrics import Rubric


@dataclass(frozen=True)
class JudgedTurns:
    """`reading` says what of the judge's first `runs` runs counts; `conversations` numbers ids.

    `items` has the verdicts of all that it judged, `verdicts` those of the turns that were asked
    for.
    """

    judge: StoredJudge
    reading: Reading
    runs: int
    conversations: Mapping[str, int]
    items: ItemVerdicts
    verdicts: TurnVerdicts


@dataclass(frozen=True)
class StudyPairing:
    """The labelled items paired with the judge's verdicts; `rule` names the reference labels."""

    pairing: Pairing
    rule: str


def judged_turns(
    pipeline_db: Database,
    rubric: Rubric,
    *,
    judge: str | None = None,
    reading: Reading | None = None,
    runs: int | None = None,
    run_ids: Collection[str] | None = None,
) -> JudgedTurns:
    """The turns of the study, or of the generation runs `run_ids`, with a judge's verdicts.

    Raises InputError when nothing is judged, when the judge has fewer `runs`, and for a reading
    that does not fit them.
    """
    chosen = choose_judge(JudgmentStore(pipeline_db).judges(rubric.version), rubric, judge)
    judge_runs = run_count(pipeline_db, chosen.judge_id)
    runs = choose_runs(judge_runs, runs)
    reading = choose_reading(runs, reading, judge_runs)
    conversations = conversations_by_id(pipeline_db)
    items = item_verdicts(
        pipeline_db,
        chosen.judge_id,
        rubric,
        reading=reading,
        runs=runs,
        last_run=last_run(pipeline_db, chosen.judge_id, runs),
    )
    outcomes = len(rubric.categories) + 1
    verdicts = turn_verdicts(pipeline_db, items, conversations, outcomes, run_ids)
    return JudgedTurns(chosen, reading, runs, conversations, items, verdicts)


def study_pairing(
    pipeline_db: Database,
    labels_db: Database,
    rubric: Rubric,
    judged: JudgedTurns,
    *,
    rule: ReferenceRule,
    annotator: str | None = None,
) -> StudyPairing:
    """The study's labelled items with what the judge said of each, whatever run they are from."""
    judge_id = judged.judge.judge_id
    sampled = sampled_items(pipeline_db)
    by_run = judgments_by_run(pipeline_db, judge_id, set(sampled.values()), judged.runs)
    said = {i: read(of, judged.reading) for i, of in complete_items(by_run).items()}
    repeats = repeated_items(pipeline_db)
    blind = {i: item for i, item in blind_items(labels_db).items() if i not in repeats}
    references = references_of(labels_db, rubric, rule, annotator, repeats=repeats.keys())
    template = JudgmentStore(pipeline_db).prompt(judged.judge.judge.prompt_hash).template
    shown = TemplateStore(pipeline_db).shown_items(template)
    pairing = pair_items(
        sampled, blind, references, said, incomplete=incomplete_items(by_run), shown=shown
    )
    return StudyPairing(pairing, references.rule)


def last_run(pipeline_db: Database, judge_id: str, runs: int) -> int:
    """The number of the last of the judge's first `runs` runs."""
    rows = pipeline_db.conn.execute(
        """SELECT DISTINCT run_index FROM judgments WHERE judge_id = ?
           ORDER BY run_index LIMIT ?""",
        [judge_id, runs],
    ).fetchall()
    return rows[-1][0]
