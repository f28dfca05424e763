"""Exports for tests of what uses them: real folders of a calibration that stands in for one."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from generation.item import Item, Message
from generation.study import Study
from judge.calibration.consistency import Flips, flips
from judge.calibration.export import export_calibration
from judge.calibration.pairing import Pair, Pairing
from judge.judge import Judge
from judge.judgment import Judgment
from judge.prompts.prompt import JudgePrompt
from judge.reading import Reading
from judge.store import JudgmentStore, open_pipeline


@dataclass
class Calibrated:
    """A calibration as far as an export is concerned; the real one is tried in the study test."""

    judge_id: str
    kappa: float = 0.726
    n: int = 96
    reading: Reading = Reading.SINGLE
    labels: tuple[str | None, ...] = ("malformed",)  # of every item, run by run
    items: int = 3

    @property
    def runs(self) -> int:
        return len(self.labels)

    @property
    def flips(self) -> Flips:
        return flips({str(k): self.labels for k in range(self.items)}, self.runs)

    @property
    def pairing(self) -> Pairing:
        items = [Item((Message("user", "a?\u2028"),), "b", f"u{k}") for k in range(self.items)]
        runs = tuple(Judgment(label, 0, "", "") for label in self.labels)
        pairs = [Pair(str(k), item, "malformed", runs, (), runs) for k, item in enumerate(items)]
        return Pairing(tuple(pairs), ())

    def as_dict(self) -> dict[str, Any]:
        return {"n": 148, "kappa": {"value": self.kappa, "interval": [0.6, 0.8]}, "judge": "ü"}


def write_export(
    study: Study, judge: Judge, prompt: JudgePrompt, output: Path, **changes: Any
) -> Path:
    """Export this judge of the study, as `Calibrated(**changes)` has it; returns the folder."""
    database = open_pipeline(study.pipeline)
    try:
        JudgmentStore(database).add_judge(judge, prompt)
        calibrated = Calibrated(judge.judge_id, **changes)
        return export_calibration(database, calibrated, output).folder
    finally:
        database.close()
