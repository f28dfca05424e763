"""A judged main run with its calibration: what tables, figures and statements are made of."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from annotator.measures.double_sample import Judged, Labelled
from annotator.measures.interval import Interval, no_interval, wilson
from annotator.measures.misclassification import JudgeErrors
from generation.perturbation import UNPERTURBED
from generation.plan.plan import SELF_GENERATED
from judge.calibration.main_run.judge_quality import JudgeQuality
from judge.calibration.main_run.model_facts import ModelFacts
from judge.calibration.main_run.selection import Selection
from judge.calibration.rates.rate import Rate
from judge.calibration.rates.turn_verdicts import Cell, ItemVerdicts, TurnVerdicts
from judge.calibration.sampling.design import Sample
from judge.reading import Reading
from judge.store import StoredJudge
from rubrics import Rubric

NOT_JUDGED, NOT_RUN = "not judged", "not run"
LONE = "n = 1: no interval"


@dataclass(frozen=True)
class Accuracy:
    """How many of a model's answers to a data set are right, of those that could be checked."""

    model: str
    dataset: str
    answers: int
    right: int
    checked: int
    not_checkable: int

    @property
    def value(self) -> float | None:
        return self.right / self.checked if self.checked else None

    @property
    def interval(self) -> Interval:
        """Wilson's: each question has one answer."""
        if not self.checked:
            return no_interval("no answer could be checked")
        return Interval(*wilson(self.right, self.checked), "Wilson's score interval")


@dataclass(frozen=True)
class Changed:
    """Of turns after a perturbed answer at T = 0: how many differ from the one without it."""

    compared: int
    changed: int

    @property
    def share(self) -> float:
        return self.changed / self.compared


@dataclass(frozen=True)
class CellRate:
    """A cell with its rate, or with the `gap` that says why it has none.

    `unjudged` turns are in no rate. `changed` is None where that is no question.
    """

    cell: Cell
    rate: Rate | None
    unjudged: int
    gap: str | None = None
    changed: Changed | None = None

    @property
    def turns(self) -> int:
        """How many turns there are, judged or not."""
        return self.unjudged + (self.rate.turns if self.rate else 0)


@dataclass(frozen=True)
class MainRun:
    """One judge's verdicts on the turns of a selection of runs.

    `cells` has every cell, of judged turns, of unjudged ones, and of those that a plan asks for
    and the study has not. `whole` is the rate of all judged turns. `items` are all that the
    judge judged; `labelled` those that tell its errors, None where nobody labelled; `errors` those
    of its sigma. `inputs` is a fingerprint of the numbers that went in: every verdict by cell,
    conversation and sample, the labelled items, accuracies, changed turns, what is known of the
    models.
    """

    selection: Selection
    rubric: Rubric
    judge: StoredJudge
    reading: Reading
    judge_runs: int
    reference_rule: str | None
    quality: JudgeQuality
    sample: Sample | None
    models: Mapping[str, ModelFacts]
    whole: Rate
    cells: tuple[CellRate, ...]
    accuracies: tuple[Accuracy, ...]
    verdicts: TurnVerdicts
    items: ItemVerdicts
    labelled: Labelled | None
    errors: JudgeErrors | None
    inputs: str
    seed: int

    @property
    def name(self) -> str:
        return self.selection.name

    @cached_property
    def by_cell(self) -> Mapping[Cell, CellRate]:
        return {of.cell: of for of in self.cells}

    @cached_property
    def _numbers(self) -> Mapping[Cell, int]:
        return {cell: number for number, cell in enumerate(self.verdicts.cells)}

    @cached_property
    def _accuracies(self) -> Mapping[tuple[str, str], Accuracy]:
        return {(of.model, of.dataset): of for of in self.accuracies}

    def accuracy(self, model: str, dataset: str) -> Accuracy | None:
        return self._accuracies.get((model, dataset))

    def judged(self, cell: Cell) -> Judged | None:
        """What the judge said of a cell's turns, by conversation; None where it judged none."""
        found = self.of_cell(cell)
        return found.judged if found is not None else None

    def of_cell(self, cell: Cell) -> TurnVerdicts | None:
        """A cell's verdicts, turn by turn; None where the judge judged none."""
        number = self._numbers.get(cell)
        found = self.verdicts.of_cell(number) if number is not None else None
        return found if found is not None and found.turns else None

    @property
    def sigmas(self) -> NDArray[np.int64]:
        """(K + 1,) sigma by outcome; an unreadable verdict says of no turn that it is genuine."""
        return np.array([*(of.sigma for of in self.rubric.categories), 0], dtype=np.int64)

    @property
    def plain(self) -> tuple[CellRate, ...]:
        """Cells of unperturbed turns under no unusual condition."""
        return tuple(of for of in self.cells if is_plain(of.cell))

    @cached_property
    def groups(self) -> tuple["Group", ...]:
        """Every setting × data set × model of a plain cell, in order of these; models by family."""
        order = {name: number for number, name in enumerate(self.models)}
        found = {Group(c.setting, c.dataset, c.model or "") for c in (of.cell for of in self.plain)}
        return tuple(
            sorted(
                found,
                key=lambda of: (of.setting != SELF_GENERATED, of.dataset, order.get(of.model, -1)),
            )
        )

    def sweep(self, group: "Group") -> tuple[CellRate, ...]:
        """A group's plain cells in order of temperature; those without one are left out."""
        found = [
            of
            for of in self.plain
            if group == Group(of.cell.setting, of.cell.dataset, of.cell.model or "")
            and of.cell.temperature is not None
        ]
        return tuple(sorted(found, key=lambda of: of.cell.temperature or 0.0))

    def unperturbed(self, cell: Cell) -> CellRate:
        """The cell that differs from a perturbed one by the perturbation alone; it may be a gap."""
        plain = replace(cell, perturbation=UNPERTURBED)
        return self.by_cell.get(plain) or CellRate(plain, None, 0, NOT_RUN)


@dataclass(frozen=True, order=True)
class Group:
    """What is compared over temperatures: one model on one data set in one setting."""

    setting: str
    dataset: str
    model: str


def is_plain(cell: Cell) -> bool:
    return cell.perturbation == UNPERTURBED and not cell.condition


def model_names(cells: Iterable[Cell]) -> set[str]:
    return {cell.model for cell in cells if cell.model is not None}
