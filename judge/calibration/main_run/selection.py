"""Which generation runs a report is about: those of a name, or those that a plan asks for."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from sqlite_utils import Database

from generation.plan.cells import cells_of
from generation.plan.plan import SETTINGS, Plan
from generation.runs.run_record import RunRecord, find_run, run_records
from generation.turn import condition_of
from judge.calibration.rates.turn_verdicts import Cell
from judge.plural import counted
from rubrics import InputError, short


@dataclass(frozen=True)
class Selection:
    """Runs under one name. Of a plan, `planned` are its cells, whether the study has them or not,

    and `remarks` say where the study is not what the plan asks for.
    """

    name: str
    runs: tuple[RunRecord, ...]
    planned: tuple[Cell, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def run_ids(self) -> tuple[str, ...]:
        return tuple(run.run_id for run in self.runs)


def select_runs(database: Database, text: str, option: str) -> Selection:
    """The run of that name or id, or every run of the plan of that name.

    Of equal names the last counts. Raises InputError, with the runs there are, where none or
    several fit. `option` names the study.
    """
    records = run_records(database)
    named = {run.name for run in records}
    of_plan = _last_of_each_name(run for run in records if _plan_of(run) == text)
    if of_plan and text not in named:
        return Selection(text, of_plan)
    run = find_run(database, text, option)
    alike = [of for of in records if of.name == run.name]
    if text == run.name and run.kind != "probe" and len(alike) > 1:
        listed = ", ".join(f"{short(of.run_id)} ({counted(of.turns, 'turn')})" for of in alike)
        imported = run.kind == "import"
        anew = "; or give it a name: generate import FILE --name NAME" if imported else ""
        raise InputError(
            f"{len(alike)} runs are named {text!r}; name one by its id: {listed}{anew}"
        )
    return Selection(_title(run, records), (run,))


def newest_runs(database: Database) -> Selection:
    """The run that began last, with those of its plan; raises InputError where there is none."""
    records = run_records(database)
    if not records:
        raise InputError("the study has no runs; make one: generate --plan FILE")
    newest = records[-1]
    plan = _plan_of(newest)
    if plan is None:
        return Selection(_title(newest, records), (newest,))
    return Selection(plan, _last_of_each_name(run for run in records if _plan_of(run) == plan))


def select_plan(database: Database, plan: Plan, option: str) -> Selection:
    """The runs that a plan asks for; a model without one is a remark, and its cells stay planned.

    Raises InputError where the study has none of them.
    """
    wanted = {f"{plan.name}/{model.name}": model.name for model in plan.models}
    runs = _last_of_each_name(run for run in run_records(database) if run.name in wanted)
    if not runs:
        known = ", ".join(sorted({run.name for run in run_records(database)})) or "none"
        raise InputError(
            f"no model of plan {plan.name!r} has a run in this study; the runs are {known}; "
            f"generate --plan FILE{option} makes them"
        )
    missing = [model for name, model in wanted.items() if name not in {run.name for run in runs}]
    remarks = [f"{model} has no run: its cells are named as not run" for model in missing]
    remarks += [remark for run in runs for remark in _unlike(run, plan)]
    return Selection(plan.name, runs, planned_cells(plan), tuple(remarks))


def planned_cells(plan: Plan) -> tuple[Cell, ...]:
    """The cells of turns that a plan asks for, in order, later user turns among them."""
    found = {
        Cell(
            setting,
            model.name,
            dataset.name,
            cell.draw.temperature,
            cell.perturbation,
            condition_of(cell.context, cell.draw.top_p, cell.draw.top_k, number),
        ): None
        for model in plan.models
        for dataset in plan.datasets
        for setting in SETTINGS
        for cell, user_turns in cells_of(plan, dataset.name, setting).items()
        for number in range(1, user_turns + 1)
    }
    return tuple(found)


def _unlike(run: RunRecord, plan: Plan) -> Iterable[str]:
    """Where a run was made by another plan of that name: the parts that differ."""
    made: dict[str, Any] = run.provenance.get("plan", {})
    asked = asdict(plan)
    parts = [
        part
        for part in ("sweeps", "answers", "max_turn_tokens", "seed")
        if part in made and _plain(made[part]) != _plain(asked[part])
    ]
    if parts:
        yield f"{run.name} was made by another plan of that name: other {', '.join(parts)}"


def _plain(value: Any) -> Any:
    """Tuples as the lists that JSON makes of them."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list | tuple) else value


def _plan_of(run: RunRecord) -> str | None:
    """The plan of a probe's run, which is named plan/model."""
    if run.kind != "probe":
        return None
    named = run.provenance.get("plan", {}).get("name")
    plan, slash, _ = run.name.partition("/")
    return named or (plan if slash else None)


def _title(run: RunRecord, records: list[RunRecord]) -> str:
    """Its name, and where others have it too its id."""
    alone = sum(of.name == run.name for of in records) == 1
    return run.name if alone else f"{run.name} {short(run.run_id)}"


def _last_of_each_name(runs: Iterable[RunRecord]) -> tuple[RunRecord, ...]:
    by_name = {run.name: run for run in runs}
    return tuple(by_name[name] for name in sorted(by_name))
