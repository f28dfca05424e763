"""Two runs compared cell by cell, paired by conversation where they share any."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotator.measures.interval import Interval
from annotator.measures.paired_difference import paired_difference
from annotator.measures.rate_difference import (
    CorrectedDifference,
    RateDifference,
    corrected_difference,
    two_sample_difference,
)
from judge.calibration.main_run.main_run import NOT_JUDGED, MainRun
from judge.calibration.main_run.statements.sentence import UNDECIDED, adjusted, chance
from judge.calibration.main_run.statements.statement import ALPHA
from judge.calibration.main_run.tables.estimates import LONE_CONVERSATION, kappa_estimate
from judge.calibration.main_run.tables.fields import UNKNOWN
from judge.calibration.main_run.tables.table import Column, Estimate, Kind, Table, Value
from judge.calibration.rates.turn_verdicts import Cell
from judge.plural import counted
from rubrics import InputError

PAIRED, UNPAIRED = "paired", "not paired"
NO_TEST = "no test"
MORE, FEWER = "more", "fewer"

COLUMNS = (
    Column("setting", "setting", group=True),
    Column("dataset", "data set", group=True),
    Column("model", "model", once=True),
    Column("temperature", "T", once=True),
    Column("perturbation", "perturbation", once=True),
    Column("base", "base %", Kind.SHARE, interval=False),
    Column("other", "other %", Kind.SHARE, interval=False),
    Column("difference", "judged", Kind.SHARE),
    Column("corrected", "corrected", Kind.SHARE),
    Column("conversations", "conv.", Kind.COUNT),
    Column("left_out", "left out", Kind.COUNT, once=True),
    Column("k", "k", Kind.COUNT),
    Column("how", "how", once=True),
    Column("p", "p"),
    Column("p_holm", "p, Holm"),
    Column("verdict", "verdict"),
    Column("kappa", "kappa", Kind.NUMBER, once=True),
)


@dataclass(frozen=True)
class CellDifference:
    """The other run's rate less the base's, of one cell. `gap` says why there is none.

    `p_holm` is after Holm's correction over all cells of the comparison, None without a test.
    """

    cell: Cell
    model: str
    found: RateDifference | None
    corrected: CorrectedDifference | None
    paired: bool
    left_out: int
    gap: str | None = None
    p_holm: float | None = None

    @property
    def p(self) -> float | None:
        return self.found.p if self.found else None

    @property
    def verdict(self) -> str:
        if self.gap:
            return self.gap
        value = self.found.value if self.found else None
        if self.p_holm is None or self.p_holm >= ALPHA or not value:
            return UNDECIDED
        return MORE if value > 0 else FEWER

    @property
    def estimates(self) -> tuple[Estimate, Estimate]:
        """As judged, and corrected."""
        if self.found is None or self.corrected is None:
            return (Estimate(None, gap=self.gap),) * 2
        reason = f"not corrected: {self.corrected.undefined}"
        return (
            _estimate(self.found.value, self.found.interval, self.found.undefined),
            _estimate(self.corrected.value, self.corrected.interval, reason),
        )


@dataclass(frozen=True)
class RunComparison:
    """Of the runs of these names, cell by cell; `absent` names the cells that one alone has."""

    base: str
    other: str
    differences: tuple[CellDifference, ...]
    table: Table
    absent: tuple[str, ...]

    @property
    def tests(self) -> int:
        return sum(of.p is not None for of in self.differences)

    @property
    def groups(self) -> Mapping[tuple[str, str], Sequence[CellDifference]]:
        """By setting and data set, each in order of its cells."""
        found: dict[tuple[str, str], list[CellDifference]] = {}
        for of in self.differences:
            found.setdefault((of.cell.setting, of.cell.dataset), []).append(of)
        return found


def compare_runs(base: MainRun, other: MainRun) -> RunComparison:
    """Every cell that both have, by Holm over these; of models both, or the one of each.

    Raises InputError where no cell is common.
    """
    pairs, absent = _common(base, other)
    if not pairs:
        raise InputError(
            f"{base.name} and {other.name} have no cell in common: one has {_first(base)}, the "
            f"other {_first(other)}; compare runs of one design (data set, setting, temperature "
            "and perturbation, and the model if they have several)"
        )
    found = [_difference(base, other, one, two) for one, two in pairs]
    after, tests = adjusted([of.p for of in found])
    found = [replace(of, p_holm=p) for of, p in zip(found, after, strict=True)]
    rows = tuple(_row(of, base) for of in found)
    title = f"Genuine follow-ups, {other.name} less {base.name}"
    table = Table("differences", title, COLUMNS, rows, _notes(tests))
    return RunComparison(base.name, other.name, tuple(found), table, absent)


def _first(run: MainRun) -> str:
    """Its first cell in words."""
    cell = run.cells[0].cell
    made = (cell.dataset, cell.setting, f"T = {cell.temperature_text}", cell.perturbation)
    return ", ".join(filter(None, (cell.model, *made, cell.condition)))


def _common(base: MainRun, other: MainRun) -> tuple[list[tuple[Cell, Cell]], tuple[str, ...]]:
    """Cells of both that were made alike, and what one alone has."""
    lone = all(len({of.cell.model for of in run.cells}) == 1 for run in (base, other))

    def key(cell: Cell) -> Cell:
        return replace(cell, model=None) if lone else cell

    ours = {key(of.cell): of.cell for of in base.cells}
    theirs = {key(of.cell): of.cell for of in other.cells}
    pairs = [(cell, theirs[made]) for made, cell in ours.items() if made in theirs]
    absent = [
        f"{counted(len(left), 'cell')} of {run.name} alone, not compared"
        for run, left in (
            (base, ours.keys() - theirs.keys()),
            (other, theirs.keys() - ours.keys()),
        )
        if left
    ]
    return pairs, tuple(absent)


def _difference(base: MainRun, other: MainRun, one: Cell, two: Cell) -> CellDifference:
    names = [cell.model or UNKNOWN for cell in (one, two)]
    model = " → ".join(dict.fromkeys(names))
    first, second = base.judged(one), other.judged(two)
    if first is None or second is None:
        return CellDifference(one, model, None, None, False, 0, NOT_JUDGED)
    shared: RateDifference = paired_difference(first, second, base.sigmas, seed=base.seed)
    paired = shared.conversations > 1  # a difference of one has no chance to speak of
    found = shared
    if not paired:
        found = two_sample_difference(first, second, base.sigmas, seed=base.seed)
    there = len(np.union1d(first.conversations, second.conversations))
    left = there - found.conversations if paired else 0
    corrected = corrected_difference(found, base.errors)
    return CellDifference(one, model, found, corrected, paired, left)


def _row(of: CellDifference, base: MainRun) -> tuple[Value, ...]:
    cell, found = of.cell, of.found
    rate = base.by_cell[cell].rate
    return (
        cell.setting,
        cell.dataset,
        of.model,
        cell.temperature_text,
        ", ".join(filter(None, (cell.perturbation, cell.condition))),
        Estimate(found.first) if found else Estimate(None, gap=of.gap),
        Estimate(found.second) if found else Estimate(None, gap=of.gap),
        *of.estimates,
        found.conversations if found else 0,
        of.left_out,
        rate.samples.k if rate else 0,
        (PAIRED if of.paired else UNPAIRED) if found else NOT_JUDGED,
        NO_TEST if of.p is None else chance(of.p).removeprefix("p ").removeprefix("= "),
        NO_TEST if of.p_holm is None else chance(of.p_holm).removeprefix("p ").removeprefix("= "),
        of.verdict,
        kappa_estimate(base.quality.labels),
    )


def _estimate(value: float | None, interval: Interval, reason: str | None) -> Estimate:
    if value is None:
        return Estimate(None, gap=reason)
    if interval.low is None or interval.high is None:
        return Estimate(value, gap=LONE_CONVERSATION)
    return Estimate(value, interval.low, interval.high)


def _notes(tests: int) -> tuple[str, ...]:
    return (
        "base, other: shares judged genuine; judged, corrected: the other's less the base's, in "
        "percentage points, with 95% intervals; corrected: divided by the judge's sensitivity + "
        "specificity - 1, if it errs alike in both runs",
        "each conversation counts once; paired: over those with judged turns in both runs, p by "
        "flipping the signs of their differences, the others left out; not paired, where at most "
        "one is: as two samples of conversations, p by permuting them between the samples",
        f"verdict: where p after Holm's correction over {counted(tests, 'cell')} is below "
        f"{ALPHA:g}; else the data do not decide; intervals are each cell's own, for one test"
        if tests
        else "no cell has a test",
    )
