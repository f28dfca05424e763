"""What is to be published of a study, and what was: the counts that the card is made of."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotator.exchange.who import Who
from generation.runs.run_record import RunRecord
from judge.calibration.main_run.judge_quality import JudgeQuality
from judge.calibration.main_run.selection import Selection
from judge.calibration.published.labels import PublishedLabels
from judge.calibration.published.turns import PublishedTurns
from judge.calibration.published.verdicts import JudgeVerdicts
from rubrics import Rubric


@dataclass(frozen=True)
class Wanted:
    """What is to be published; None is everything that the study has.

    `version` takes verdicts and labels under one rubric alone, `judge` one judge's verdicts.
    """

    selection: Selection | None = None
    version: str | None = None
    judge: str | None = None
    who: Who = Who.PSEUDONYMS


@dataclass(frozen=True)
class Published:
    """What was written. `qualities` are the judges' kappas with people, by judge id.

    `items` is how many different texts the turns are.
    """

    folder: Path
    runs: tuple[RunRecord, ...]
    turns: PublishedTurns
    items: int
    judges: tuple[JudgeVerdicts, ...]
    qualities: Mapping[str, JudgeQuality]
    labels: PublishedLabels
    rubrics: tuple[Rubric, ...]
    who: Who

    @property
    def verdicts(self) -> int:
        return sum(judge.written for judge in self.judges)

    @property
    def tables(self) -> tuple[str, ...]:
        """Those that have rows, the default first."""
        rows = {
            "turns": self.turns.count,
            "judgments": self.verdicts,
            "labels": len(self.labels.labels),
            "references": len(self.labels.references),
        }
        return tuple(table for table, count in rows.items() if count)

    @property
    def annotators(self) -> tuple[str, ...]:
        return tuple(sorted({str(row["annotator"]) for row in self.labels.labels}))

    def as_dict(self) -> dict[str, Any]:
        return {
            "path": str(self.folder),
            "turns": self.turns.count,
            "items": self.items,
            "judgments": {of.judge.judge_id: of.written for of in self.judges},
            "labels": len(self.labels.labels),
            "references": len(self.labels.references),
            "annotators": len(self.annotators),
            "left_out": {
                "turns": dict(sorted(self.turns.left_out.items())),
                "judgments_canary": sum(of.canary for of in self.judges),
                "judgments_elsewhere": sum(of.elsewhere for of in self.judges),
                "labels": dict(sorted(self.labels.left_out.items())),
            },
        }
