"""Runs of a judge on the dev half: started here, going on without the page."""

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from annotator.measures.confusion import outcome_of
from judge.calibration.workbench.bench import Bench
from judge.calibration.workbench.drafts import kept_draft
from judge.calibration.workbench.launch import Launch, launches
from judge.calibration.workbench.place import Place
from judge.calibration.workbench.run_form import RunForm, dev_run
from judge.calibration.workbench.run_progress import RunProgress, progress_of
from judge.calibration.workbench.stores import Stores
from judge.calibration.workbench.view import View
from judge.calibration.workbench.views.matrix import MatrixRow, matrix_rows
from judge.prompts.template_store import TemplateStore
from judge.verdict_runs import labels_by_run
from rubrics import available_versions

LOOK_AGAIN = 1.0  # seconds, while a run goes on
RUN_DRAFT = "run"  # the kind of draft that a run's form is


@dataclass(frozen=True)
class ShownRun:
    """A launch with how far it is; of old ones only that they were."""

    launch: Launch
    alive: bool
    exit_code: int | None
    progress: RunProgress | None
    partial: "Partial | None"
    command: str


def runs(bench: Bench, stores: Stores, place: Place) -> View:
    kept = kept_draft(stores.pipeline, place.owner, RUN_DRAFT)
    form = RunForm(**kept) if kept else RunForm()
    found = launches(bench.study, stores.pipeline, "judge")
    newest = found[0].launch_id if found else None
    shown = [_shown(bench, stores, place, each, each.launch_id == newest) for each in found]
    alive = any(each.alive for each in shown)
    return View(
        "runs.html",
        "Run on dev",
        {
            "form": form,
            "runs": shown,
            "templates": TemplateStore(stores.pipeline).templates(),
            "versions": available_versions(bench.study.rubrics),
            "models": _models(stores),
        },
        tuple(each.command for each in shown[:1])
        or (shlex.join(dev_run(RunForm()).command(bench.study)),),
        poll=LOOK_AGAIN if alive else 0,
    )


def _models(stores: Stores) -> list[str]:
    rows = stores.pipeline.conn.execute("SELECT DISTINCT model FROM judges ORDER BY model")
    return [model for (model,) in rows]


def _shown(bench: Bench, stores: Stores, place: Place, launch: Launch, newest: bool) -> ShownRun:
    alive = launch.alive
    plan = bench.plan(launch).value if alive or newest else None
    progress = progress_of(stores.pipeline, plan, bench.roster(stores)) if plan else None
    partial = _partial(bench, stores, progress) if progress and progress.judge_id else None
    return ShownRun(launch, alive, launch.exit_code, progress, partial, shlex.join(launch.command))


@dataclass(frozen=True)
class Partial:
    """The verdicts so far against people's majority under a rubric version."""

    rubric_version: str
    rows: tuple[MatrixRow, ...]


def _partial(bench: Bench, stores: Stores, progress: RunProgress) -> Partial | None:
    """None where nobody labelled under the run's rubric, nor under one of the same categories."""
    version = progress.plan.rubric_version
    ids = bench.study.rubric(version).category_ids
    alike = [c for c in bench.labels(stores).value or () if c.category_ids == ids]
    counts = next((c for c in alike if c.rubric_version == version), alike[-1] if alike else None)
    if counts is None:
        return None
    compared = counts.majority.keys() & (progress.plan.scope.hashes or frozenset())
    cells = Counter(
        (counts.majority[item_hash], outcome_of(label))
        for of_run in labels_by_run(stores.pipeline, progress.judge_id, only=compared).values()
        for item_hash, label in of_run.items()
    )
    return Partial(counts.rubric_version, matrix_rows(partial_table(cells, ids)))


def partial_table(cells: Counter, categories: Sequence[str]) -> dict[str, Any]:
    """A confusion as `--json` has it, of (reference, outcome) counts; other outcomes come last."""
    others = sorted({outcome for _, outcome in cells} - set(categories))
    columns = [*categories, *others]
    return {
        "rows": list(categories),
        "columns": columns,
        "counts": [[cells[row, column] for column in columns] for row in categories],
    }
