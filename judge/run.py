"""A run: every item that this judge has not judged yet gets its judgment, kept as it arrives."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from sqlite_utils import Database

from generation.store import TurnStore
from generation.study import Study
from judge.anchor_check import check_anchors
from judge.calibration.leak import refuse_leak
from judge.config import JudgeConfig
from judge.instrument import Budget, Instrument, choose_instrument
from judge.judge import Judge
from judge.ledger import StudyLedger
from judge.outcomes import count_outcomes
from judge.prompt_template import PACKAGED_NAME
from judge.run_lock import run_lock
from judge.server.parameters import changes
from judge.store import JudgmentStore, open_study

Say = Callable[[str], None]


@dataclass(frozen=True)
class Summary:
    """What a judge says about a study's items. `labels` lists every category, zeros included.

    `turns` are all that the study holds; equal ones are one item. Of `runs` runs each item has as
    many verdicts; `judged_now`, `judged_before` and `waiting` count verdicts, and so do `labels`
    and `invalid`. `cost` is in dollars, None where no price is known.
    """

    judge_id: str
    model: str
    rubric_version: str
    prompt: str
    runs: int
    turns: int
    items: int
    judged_now: int
    judged_before: int
    waiting: int
    labels: dict[str, int]
    invalid: dict[str, int]
    cost: float | None
    next_command: str

    def as_dict(self) -> dict[str, Any]:
        return vars(self) | {"invalid_count": sum(self.invalid.values())}


def run_judges(
    study: Study,
    configs: Iterable[JudgeConfig],
    *,
    budget: Budget,
    anchors: bool,
    say: Say,
) -> Iterator[Summary]:
    """Run one judge after the other, all within one budget.

    With `anchors` each judge must first show that it is still the one that was exported.

    Raises InputError as `choose_instrument` and `run_judge` do, and Drifted.
    """
    for config in configs:
        instrument = choose_instrument(config, study, budget)
        if anchors:
            say(check_anchors(study, instrument))
        summary = run_judge(study, instrument, say)
        if budget.max_cost is not None and summary.cost:
            budget = replace(budget, max_cost=max(0.0, budget.max_cost - summary.cost))
        yield summary


def run_judge(study: Study, instrument: Instrument, say: Say) -> Summary:
    """Judge what is not judged yet; a run that was stopped goes on where it stopped.

    Raises InputError for a study that is missing or has no turns, where the same judge is running
    already, and when the judge's server refuses or the store cannot be written; the verdicts kept
    until then stay.
    """
    labeller = instrument.labeller
    for warning in instrument.warnings(labeller.judge):
        say(f"warning: {warning}")
    with open_study(study) as database:
        JudgmentStore(database).refuse_drift(labeller.prompt)
        if labeller.prompt.template != PACKAGED_NAME and instrument.export is None:
            refuse_leak(database, labeller.prompt, study.option)
        with (
            run_lock(study, labeller.judge.model, labeller.prompt.prompt_hash),
            _progress(database, instrument.runs) as progressed,
        ):
            ledger = StudyLedger(
                database, study.pipeline, labeller.prompt, instrument.runs, progressed
            )
            judge = labeller.label(ledger)
        for change in changes(labeller.judge.parameters, judge.parameters):
            say(f"warning: the server of {judge.model} takes less than was asked: {change}")
        return _summary(study, database, instrument, judge, ledger)


@contextmanager
def _progress(database: Database, runs: int) -> Iterator[Callable[[StudyLedger, Judge], None]]:
    """A bar on stderr where somebody looks on, with the cost so far where a price is known."""
    columns = (
        TextColumn("judging"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[cost]}"),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with Progress(
        *columns, console=console, disable=not console.is_terminal, transient=True
    ) as bar:
        total = TurnStore(database).item_count() * runs
        task = bar.add_task("judging", total=total, cost="")

        def progressed(ledger: StudyLedger, judge: Judge) -> None:
            if ledger.kept == 1:  # only now is it known which judge it is that goes on
                bar.update(task, completed=count_outcomes(database, judge.judge_id, runs).judged)
            else:
                bar.update(task, advance=1, cost=f"${ledger.spent:.4f}" if ledger.spent else "")

        yield progressed if not bar.disable else _unseen


def _unseen(ledger: StudyLedger, judge: Judge) -> None:
    """Nobody looks on."""


def _summary(
    study: Study, database: Database, instrument: Instrument, judge: Judge, ledger: StudyLedger
) -> Summary:
    outcomes = count_outcomes(database, judge.judge_id, instrument.runs)
    rubric = instrument.labeller.rubric
    items = TurnStore(database).item_count()
    priced = getattr(instrument.labeller, "limits", None)
    return Summary(
        judge_id=judge.judge_id,
        model=judge.model,
        rubric_version=rubric.version,
        prompt=instrument.labeller.prompt.template,
        runs=instrument.runs,
        turns=TurnStore(database).count(),
        items=items,
        judged_now=ledger.kept,
        judged_before=outcomes.judged - ledger.kept,
        waiting=items * instrument.runs - outcomes.judged,
        labels={category: outcomes.labels[category] for category in rubric.category_ids},
        invalid=dict(sorted(outcomes.invalid.items())),
        cost=ledger.spent if priced and priced.price else None,
        next_command=f"calibrate --rubric {rubric.version}{study.option}",
    )
