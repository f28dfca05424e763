"""Runs of a judge on the dev half: what one would take, starting and stopping it."""

from collections.abc import Mapping
from typing import Any

from judge.calibration.splits.study_split import split_study
from judge.calibration.workbench.acts.done import Done
from judge.calibration.workbench.bench import Bench
from judge.calibration.workbench.drafts import keep_draft
from judge.calibration.workbench.field import row_id
from judge.calibration.workbench.launch import Launch, find, start, stop
from judge.calibration.workbench.place import Place
from judge.calibration.workbench.run_form import dev_run, run_form
from judge.calibration.workbench.stores import Stores
from judge.calibration.workbench.views.runs import RUN_DRAFT
from judge.instrument import Budget, choose_instrument
from judge.runs.estimate import estimate_run, estimate_text
from judge.runs.scope import dev_scope
from rubrics import InputError


def estimate(bench: Bench, stores: Stores, place: Place, fields: Mapping[str, Any]) -> Done:
    """Say what a run would take."""
    form = run_form(fields)
    keep_draft(stores.pipeline, place.owner, RUN_DRAFT, form.as_dict())
    run = dev_run(form)
    frozen = _freeze(bench, stores)
    budget = Budget(run.prices, run.max_cost)
    scope = dev_scope(bench.study, stores.pipeline, run.draw)
    instrument = choose_instrument(run.config, bench.study, budget)
    found = estimate_run(bench.study, instrument, scope, budget)
    return Done(f"{estimate_text(found)}{frozen}", quiet=True)


def start_run(bench: Bench, stores: Stores, place: Place, fields: Mapping[str, Any]) -> Done:
    """Start the command of the form; it goes on when the page is closed."""
    form = run_form(fields)
    keep_draft(stores.pipeline, place.owner, RUN_DRAFT, form.as_dict())
    run = dev_run(form)
    frozen = _freeze(bench, stores)
    choose_instrument(run.config, bench.study, Budget(run.prices, run.max_cost))
    launch = start(
        bench.study, stores.pipeline, place.owner, run.command(bench.study), form.as_dict()
    )
    return Done(f"Run {launch.launch_id} is started.{frozen}")


def resume_run(bench: Bench, stores: Stores, place: Place, fields: Mapping[str, Any]) -> Done:
    """Start the command of an ended run again: it goes on where that one stopped."""
    before = sent_launch(bench, stores, fields)
    if before.alive:
        raise InputError(f"run {before.launch_id} is still going on")
    launch = start(bench.study, stores.pipeline, place.owner, before.command, dict(before.choices))
    return Done(f"Run {launch.launch_id} goes on where run {before.launch_id} stopped.")


def stop_run(bench: Bench, stores: Stores, place: Place, fields: Mapping[str, Any]) -> Done:
    """Stop a run in order: what it has is kept."""
    launch = sent_launch(bench, stores, fields)
    stop(launch)
    return Done(f"Run {launch.launch_id} is told to stop; its verdicts are kept.")


def sent_launch(bench: Bench, stores: Stores, fields: Mapping[str, Any]) -> Launch:
    """The run or suggestion that a page names; raises InputError where it names none of these."""
    launch_id = row_id(fields, "launch")
    if launch_id is None:
        raise InputError("the page names no run; reload it")
    return find(bench.study, stores.pipeline, launch_id)


def _freeze(bench: Bench, stores: Stores) -> str:
    """Freeze the split if nobody did; says so, "" where one was frozen."""
    if stores.pipeline["splits"].count:
        return ""
    versions = [c.rubric_version for c in bench.labels(stores, patience=30).value or () if c.items]
    split_study(stores.pipeline, stores.labels, versions[-1] if versions else None)
    return " The split into dev and test was frozen for it."
