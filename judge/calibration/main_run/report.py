"""A report: tables, statements and what they rest on, of one run or of two compared."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judge.calibration.main_run.main_run import MainRun
from judge.calibration.main_run.run_comparison import RunComparison
from judge.calibration.main_run.statements.statement import Statement
from judge.calibration.main_run.tables.table import Table
from judge.plural import counted


@dataclass(frozen=True)
class DrawnFile:
    """A figure of a report by its file in the folder figures, and what it shows."""

    file: str
    title: str


@dataclass(frozen=True)
class Report:
    """Of one run, or of a run and the one that it is compared with: then the first is the base.

    `absent` says of each table that is not there why. `comparison` is that of two runs.
    """

    runs: tuple[MainRun, ...]
    tables: tuple[Table, ...]
    absent: tuple[str, ...]
    statements: tuple[Statement, ...]
    provenance: Mapping[str, Any]
    comparison: RunComparison | None = None

    @property
    def title(self) -> str:
        return " against ".join(run.name for run in self.runs[::-1])

    def as_dict(self) -> dict[str, object]:
        return {
            "title": self.title,
            "tables": [table.as_dict() for table in self.tables],
            "absent": list(self.absent),
            "statements": [statement.as_dict() for statement in self.statements],
            "provenance": dict(self.provenance),
        }


def heading(report: Report) -> Sequence[str]:
    """What a reader must know before any number, a line each."""
    run = report.runs[0]
    lines = [
        f"main run {report.title}: {_turns(report.runs)}",
        f"rubric {run.rubric.version}, judge {run.judge.judge.model}, kappa {run.quality.text}",
    ]
    return [*lines, *report.provenance["remarks"]]


def _turns(runs: Sequence[MainRun]) -> str:
    told = []
    for run in runs:
        turns, unjudged = sum(of.turns for of in run.cells), sum(of.unjudged for of in run.cells)
        left = f", {unjudged:,} of them not judged{_in_every_run(run)}" if unjudged else ""
        told.append(f"{counted(turns, 'turn')} of {counted(len(run.models), 'model')}{left}")
    return "; ".join(told)


def _in_every_run(run: MainRun) -> str:
    """Of several runs of a judge one may cover the sample alone, which then holds back the rest."""
    if run.judge_runs == 1:
        return ""
    return f" in each of {run.judge_runs} runs (--runs 1 takes the first alone)"
