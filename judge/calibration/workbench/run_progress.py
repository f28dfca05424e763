"""How far a run on the dev half is, read from the study's stores: the run itself is elsewhere."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlite_utils import Database

from generation.study import Study
from judge.calibration.workbench.launch import Launch
from judge.calibration.workbench.roster import Contender
from judge.calibration.workbench.run_form import dev_run, run_form
from judge.instrument import Budget, choose_instrument
from judge.runs.outcomes import count_outcomes
from judge.runs.scope import Scope, dev_scope


@dataclass(frozen=True)
class RunPlan:
    """What a run was started for: a model with a prompt, so many runs over a scope."""

    model: str
    prompt_hash: str
    rubric_version: str
    runs: int
    scope: Scope

    @property
    def total(self) -> int:
        """Verdicts in all."""
        return len(self.scope.hashes or ()) * self.runs


@dataclass(frozen=True)
class RunProgress:
    """`done` verdicts so far; `judge_id` is None as long as there is none."""

    plan: RunPlan
    judge_id: str | None
    done: int


def run_plan(study: Study, pipeline_db: Database, launch: Launch) -> RunPlan:
    """Raises InputError where it cannot be told any more, as when its template is not there."""
    run = dev_run(run_form(launch.choices))
    instrument = choose_instrument(run.config, study, Budget(run.prices, run.max_cost))
    labeller = instrument.labeller
    return RunPlan(
        labeller.judge.model,
        labeller.prompt.prompt_hash,
        labeller.rubric.version,
        instrument.runs,
        dev_scope(study, pipeline_db, run.draw),
    )


def progress_of(pipeline_db: Database, plan: RunPlan, roster: Sequence[Contender]) -> RunProgress:
    """A server may take less than was asked, which makes it another judge: the newest counts."""
    judges = [
        each.judge_id
        for each in roster
        if (each.model, each.judge.prompt_hash) == (plan.model, plan.prompt_hash)
    ]
    if not judges:
        return RunProgress(plan, None, 0)
    done = count_outcomes(pipeline_db, judges[-1], plan.runs, plan.scope).judged
    return RunProgress(plan, judges[-1], done)
