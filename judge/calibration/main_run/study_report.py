"""From a study to the report that was asked for."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from sqlite_utils import Database

from annotator.reference_rule import ReferenceRule
from generation.plan.plan_file import read_plan
from generation.study import DEFAULT_SEED, Study
from judge.calibration.main_run.main_run import MainRun
from judge.calibration.main_run.model_facts import models_file
from judge.calibration.main_run.provenance import command_line, provenance
from judge.calibration.main_run.report import Report
from judge.calibration.main_run.reported.reported import reported_by
from judge.calibration.main_run.run_comparison import compare_runs
from judge.calibration.main_run.run_labels import Choices
from judge.calibration.main_run.selection import (
    Selection,
    newest_runs,
    select_plan,
    select_runs,
)
from judge.calibration.main_run.statements.all_statements import statements
from judge.calibration.main_run.statements.run_differences import difference_statements
from judge.calibration.main_run.study_main_run import study_main_run
from judge.calibration.main_run.tables.all_tables import tables
from judge.exported import load_export
from judge.reading import Reading
from rubrics import InputError, short


@dataclass(frozen=True)
class Request:
    """What is asked for, None for a default; of two `names` the first is the base."""

    names: tuple[str, ...] = ()
    plan: Path | None = None
    rubric: str | None = None
    judge: str | None = None
    judge_runs: int | None = None
    reading: Reading | None = None
    rule: ReferenceRule = ReferenceRule.MAJORITY
    export: Path | None = None
    models: Path | None = None
    against: str | None = None
    seed: int | None = None
    html: bool = False

    def command(self, study: Study, runs: tuple[MainRun, ...]) -> tuple[str, ...]:
        """The command line that asks for it, into a folder of any name, with no default left.

        What is newest now need not be so the next time.
        """
        base, pinned = runs[0], self.export is not None
        words = command_line(
            (
                ("--run", None if self.plan else self.names or _named(base.selection)),
                ("--plan", self.plan),
                ("--rubric", base.rubric.version),
                ("--judge", None if pinned else short(base.judge.judge_id, 16)),
                ("--runs", None if pinned else base.judge_runs),
                ("--reading", None if pinned or base.judge_runs == 1 else base.reading),
                ("--reference", None if self.rule is ReferenceRule.MAJORITY else self.rule),
                ("--export", self.export),
                ("--models", self.models),
                ("--against", self.against),
                ("--seed", self.seed),
                ("--html", self.html),
                ("--study", study.folder if study.option else None),
            )
        )
        return (*words, "--output", "FOLDER")


def report_study(pipeline_db: Database, study: Study, request: Request) -> Report:
    """Raises InputError for what is asked for and not there, in one line that says what is."""
    export = load_export(request.export) if request.export else None
    version = request.rubric or (export.rubric.version if export else None)
    rubric = study.rubric(version)
    choices = Choices(
        request.judge,
        request.reading,
        request.judge_runs,
        request.rule,
        DEFAULT_SEED if request.seed is None else request.seed,
    )
    told = models_file(request.models) if request.models else {}
    runs = tuple(
        study_main_run(pipeline_db, study, rubric, selection, choices, export=export, told=told)
        for selection in _selections(pipeline_db, study, request)
    )
    base, *others = runs
    rests_on = provenance(runs, request.command(study, runs), export)
    unknown = [name for name in told if not any(name in run.models for run in runs)]
    rests_on["remarks"] += [f"{request.models}: no model here is {name}" for name in unknown]
    if others:
        return _comparison((base, others[0]), rests_on)
    found = tables(base, reported_by(request.against) if request.against else None)
    return Report(runs, found.tables, found.absent, statements(base), rests_on)


def _named(selection: Selection) -> str:
    """What selects these runs again, whatever is added to the study."""
    one = len(selection.runs) == 1
    return short(selection.runs[0].run_id, 16) if one else selection.name


def _comparison(runs: tuple[MainRun, MainRun], rests_on: dict) -> Report:
    found = compare_runs(*runs)
    return Report(runs, (found.table,), found.absent, difference_statements(found), rests_on, found)


def _selections(pipeline_db: Database, study: Study, request: Request) -> tuple[Selection, ...]:
    if request.plan is not None:
        return (select_plan(pipeline_db, read_plan(request.plan), study.option),)
    if not request.names:
        return (newest_runs(pipeline_db),)
    found = tuple(select_runs(pipeline_db, name, study.option) for name in request.names)
    _refuse_shared_run(found)
    return found


def _refuse_shared_run(selections: tuple[Selection, ...]) -> None:
    """A run less itself is 0, however it was named."""
    runs = [run for selection in selections for run in selection.runs]
    counts = Counter(run.run_id for run in runs)
    if twice := next((run for run in runs if counts[run.run_id] > 1), None):
        names = " and ".join(selection.name for selection in selections)
        raise InputError(
            f"{names} have run {short(twice.run_id)} in common; name two runs that have none: "
            "--run BASE --run OTHER"
        )
