"""A run: every item that this judge has not judged yet gets its judgment, kept as it arrives."""

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from sqlite_utils import Database

from generation.store import TurnStore
from generation.study import Study
from judge.calibration.leak import refuse_leak
from judge.config import JudgeConfig
from judge.instrument import Budget, Instrument, choose_instrument
from judge.judge import Judge
from judge.prompts.prompt_template import PACKAGED_NAME
from judge.runs.anchor_check import check_anchors
from judge.runs.ledger import StudyLedger
from judge.runs.outcomes import count_outcomes
from judge.runs.run_lock import run_lock
from judge.runs.scope import WHOLE_STUDY, Scope
from judge.store import JudgmentStore, open_study
from rubrics import InputError, Rubric, available_versions, load_rubric

Say = Callable[[str], None]


@dataclass(frozen=True)
class Summary:
    """What a judge says about a study's items. `labels` lists every category, zeros included.

    `scope` says which items, "" being all. `turns` are all that the study holds; equal ones are
    one item. Of `runs` runs each item has as
    many verdicts; `judged_now`, `judged_before` and `waiting` count verdicts, and so do `labels`
    and `invalid`. `cost` is in dollars, None where no price is known.
    """

    judge_id: str
    model: str
    rubric_version: str
    prompt: str
    scope: str
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
    scope: Scope = WHOLE_STUDY,
) -> Iterator[Summary]:
    """Run one judge after the other, all within one budget.

    With `anchors` each judge must first show that it is still the one that was exported.

    Raises InputError as `choose_instrument` and `run_judge` do, and Drifted.
    """
    # All are chosen first, so that what is wrong with the last is found before the first is paid.
    chosen = []
    for config in configs:
        with _named(config):
            chosen.append((config, choose_instrument(config, study, budget)))
    for config, instrument in chosen:
        before = budget.spending.dollars
        with _named(config):
            if anchors:
                say(check_anchors(study, instrument))
            summary = run_judge(study, instrument, say, scope, spent_before=before)
        yield summary


@contextmanager
def _named(config: JudgeConfig) -> Iterator[None]:
    """Name the judge in what goes wrong, where a file holds several."""
    try:
        yield
    except InputError as error:
        if config.source is None:
            raise
        raise InputError(f"{config.source}: {error}") from error


def run_judge(
    study: Study,
    instrument: Instrument,
    say: Say,
    scope: Scope = WHOLE_STUDY,
    *,
    spent_before: float = 0.0,
) -> Summary:
    """Judge what of `scope` is not judged yet; a stopped run goes on where it stopped.

    Raises InputError for a study that is missing or has no turns, where the same judge is running
    already, and when the judge's server refuses or the store cannot be written; the verdicts kept
    until then stay.
    """
    labeller = instrument.labeller
    with open_study(study) as database:
        preflight(study, database, instrument, say)
        with (
            _stopped_in_order(),
            run_lock(study, labeller.judge.model, labeller.prompt.prompt_hash),
            _progress(database, instrument, scope) as progressed,
        ):
            ledger = StudyLedger(
                database, study.pipeline, labeller.prompt, instrument.runs, progressed, say, scope
            )
            try:
                judge = labeller.label(ledger)
            except KeyboardInterrupt:
                say(f"{ledger.kept} verdicts are kept; the same command goes on")
                raise
        if judge != labeller.judge:
            said = instrument.warnings(labeller.judge)
            for warning in instrument.warnings(judge):
                if warning not in said:
                    say(f"warning: {warning}")
        cost = instrument.spending and instrument.spending.dollars - spent_before
        return _summary(study, database, instrument, judge, ledger.kept, cost, scope)


@contextmanager
def _stopped_in_order() -> Iterator[None]:
    """Be stopped by SIGTERM as by Ctrl-C, so that the terminal is left as it was found."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def preflight(study: Study, database: Database, instrument: Instrument, say: Say) -> None:
    """What must hold before any verdict is asked for, online or in a batch.

    Says where a calibration does not carry over. Raises InputError when the study knows the
    rubric's version with another content, or the prompt quotes an item that it is tested on.
    """
    prompt = instrument.labeller.prompt
    for warning in instrument.warnings(instrument.labeller.judge):
        say(f"warning: {warning}")
    JudgmentStore(database).refuse_drift(prompt)
    version = prompt.rubric_version
    packaged = (
        prompt.template == PACKAGED_NAME
        and version in available_versions()
        and prompt.rubric_hash == load_rubric(version).hash
    )
    if not packaged and instrument.export is None:
        refuse_leak(database, prompt, study.option)


@contextmanager
def _progress(
    database: Database, instrument: Instrument, scope: Scope
) -> Iterator[Callable[[Judge], None]]:
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
        if bar.disable:
            yield lambda judge: None
            return
        total = scope.size(database) * instrument.runs
        task = bar.add_task("judging", total=total, cost="")
        known: set[str] = set()

        def progressed(judge: Judge) -> None:
            if judge.judge_id not in known:  # only now is it known which judge it is that goes on
                known.add(judge.judge_id)
                judged = count_outcomes(database, judge.judge_id, instrument.runs, scope).judged
                bar.update(task, completed=judged - 1)
            spent = instrument.spending
            bar.update(task, advance=1, cost=f"${spent.dollars:.4f}" if spent else "")

        yield progressed


def _next(study: Study, rubric: Rubric, waiting: int) -> str:
    if waiting:
        return f"judge batch status --wait{study.option}"
    if not study.labels.exists():
        return f"calibrate sample{study.option}"
    return f"calibrate --rubric {rubric.version}{study.option}"


def _summary(
    study: Study,
    database: Database,
    instrument: Instrument,
    judge: Judge,
    kept: int,
    cost: float | None,
    scope: Scope,
) -> Summary:
    outcomes = count_outcomes(database, judge.judge_id, instrument.runs, scope)
    rubric = instrument.labeller.rubric
    items = scope.size(database)
    return Summary(
        judge_id=judge.judge_id,
        model=judge.model,
        rubric_version=rubric.version,
        prompt=instrument.labeller.prompt.template,
        scope=scope.words,
        runs=instrument.runs,
        turns=TurnStore(database).count(),
        items=items,
        judged_now=kept,
        judged_before=outcomes.judged - kept,
        waiting=items * instrument.runs - outcomes.judged,
        labels={category: outcomes.labels[category] for category in rubric.category_ids},
        invalid=dict(sorted(outcomes.invalid.items())),
        cost=cost,
        next_command=_next(study, rubric, items * instrument.runs - outcomes.judged),
    )
