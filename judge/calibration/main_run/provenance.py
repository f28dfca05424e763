"""What a report rests on, and the command that builds it again byte for byte."""

import platform
import shlex
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

from annotator.measures.interval import LEVEL
from annotator.measures.replicates import RESAMPLES
from generation.runs.run_record import RunRecord
from generation.version import tool_state
from judge.calibration.judge_choice import judge_dict
from judge.calibration.main_run.main_run import MainRun
from judge.exported import Export
from rubrics import fingerprint

PACKAGES = ("numpy", "scipy", "matplotlib")  # what the numbers and the pictures depend on


def provenance(
    runs: Sequence[MainRun], command: Sequence[str], export: Export | None
) -> dict[str, Any]:
    """For JSON, without the clock and without the folder that the report is written to.

    `runs` have one judge in common; `command` are the words of the command line.
    """
    first = runs[0]
    return {
        "command": shlex.join(command),
        "tool": tool_state(),
        "versions": {"python": platform.python_version()}
        | {package: version(package) for package in PACKAGES},
        "runs": [_run(run, record) for run in runs for record in run.selection.runs],
        "inputs": [{"run": run.name, "fingerprint": run.inputs} for run in runs],
        "remarks": list(dict.fromkeys(remark for run in runs for remark in run.selection.remarks)),
        "rubric": {"version": first.rubric.version, "hash": first.rubric.hash},
        "judge": judge_dict(first.judge),
        "reading": {"name": str(first.reading), "runs": first.judge_runs},
        "export": export and {"folder": export.folder.name, "hash": export.export_hash},
        "reference": first.reference_rule,
        "sample": first.sample
        and {
            "id": first.sample.sample_id,
            "design": first.sample.design,
            "seed": first.sample.seed,
        },
        "kappa": first.quality.as_dict(),
        "seed": first.seed,
        "resamples": RESAMPLES,
        "level": LEVEL,
    }


def _run(run: MainRun, record: RunRecord) -> Mapping[str, object]:
    told = record.provenance
    return {
        "name": record.name,
        "run_id": record.run_id,
        "kind": record.kind,
        "turns": record.turns,
        "plan_hash": fingerprint(told["plan"]) if "plan" in told else None,
        "plan_seed": told.get("plan", {}).get("seed"),
        "model": told.get("model"),
        "datasets": told.get("datasets"),
    }


def command_line(options: Iterable[tuple[str, object]]) -> tuple[str, ...]:
    """The words of `calibrate report` with these options; one that is None or False is left out.

    >>> command_line([("--run", ("a", "b")), ("--html", True), ("--seed", None)])
    ('calibrate', 'report', '--run', 'a', '--run', 'b', '--html')
    """
    words = ["calibrate", "report"]
    for name, value in options:
        if value is True:
            words.append(name)
        elif value is not None and value is not False:
            for each in value if isinstance(value, tuple) else (value,):
                words += [name, str(each)]
    return tuple(words)
