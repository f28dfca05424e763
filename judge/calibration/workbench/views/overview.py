"""Every rubric × prompt × judge at a glance, and what the numbers rest on."""

from dataclasses import dataclass

from judge.calibration.splits.opening import openings
from judge.calibration.workbench.bench import Bench
from judge.calibration.workbench.command_line import calibrate_command, judge_options
from judge.calibration.workbench.course import course
from judge.calibration.workbench.place import Place
from judge.calibration.workbench.readout import Readout
from judge.calibration.workbench.results import Result
from judge.calibration.workbench.roster import Contender
from judge.calibration.workbench.stores import Stores
from judge.calibration.workbench.view import View

COMPUTING = 0.6  # seconds until a view looks again for what was being computed


@dataclass(frozen=True)
class Row:
    """A judge and its calibration, or why there is none."""

    contender: Contender
    found: Result[Readout]


def overview(bench: Bench, stores: Stores, place: Place) -> View:
    roster = bench.roster(stores)
    rows = [Row(each, bench.readout(stores, each, place)) for each in roster]
    labels = bench.labels(stores)
    results = [row.found.value.result if row.found.value else None for row in rows]
    versions = [
        (row.contender.name, result and result["kappa"]["labels"])
        for row, result in zip(rows, results, strict=True)
    ]
    ceilings = [r["human"]["ceiling"]["labels"]["people"]["value"] for r in results if r]
    waiting = not all(row.found.fresh for row in rows) or not labels.fresh
    return View(
        "overview.html",
        "Overview",
        {
            "rows": rows,
            "labels": labels,
            "split": _split(stores),
            "openings": openings(stores.pipeline),
            "course": course(versions, ceilings[-1] if ceilings else None),
            "waiting": waiting,
        },
        tuple(calibrate_command(bench.study, "", *judge_options(each, place)) for each in roster)
        or (calibrate_command(bench.study, ""),),
        poll=COMPUTING if waiting else 0,
    )


def _split(stores: Stores) -> dict[str, int]:
    """How many questions are in each half; empty as long as no split is frozen."""
    rows = stores.pipeline.conn.execute("SELECT part, count(*) FROM split_queries GROUP BY part")
    return dict(rows.fetchall())
