"""Two runs: in how many cells has one of them more genuine follow-ups, or fewer, and how many?

A cell is tested by all sign flips over the conversations that both runs have, or, where that is at
most one, by permuting the conversations of two samples; Holm over all cells of the comparison,
whatever their data set.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from annotator.measures.rate_difference import CorrectedDifference, RateDifference
from generation.perturbation import UNPERTURBED
from judge.calibration.main_run.run_comparison import FEWER, MORE, CellDifference, RunComparison
from judge.calibration.main_run.statements.sentence import (
    UNDECIDED,
    at,
    listed,
    points,
    tested,
    untested,
)
from judge.calibration.main_run.statements.statement import Kind, Statement
from judge.plural import counted


@dataclass(frozen=True)
class Tested:
    """A cell with a test; `where` tells it from the others of its data set and setting."""

    where: str
    verdict: str
    paired: bool
    left_out: int
    raw: RateDifference
    corrected: CorrectedDifference
    p: float
    p_holm: float

    @property
    def size(self) -> float:
        return abs(self.raw.value or 0.0)


def difference_statements(comparison: RunComparison) -> tuple[Statement, ...]:
    """One per setting and data set, in the order of their cells."""
    return tuple(
        _statement(comparison, f"{dataset} ({setting})", cells)
        for (setting, dataset), cells in comparison.groups.items()
    )


def _statement(comparison: RunComparison, about: str, cells: Sequence[CellDifference]) -> Statement:
    found, gaps = _tested(cells), _gaps(cells)
    if not found:
        return untested(Kind.RUNS, about, f"not tested: {gaps}", comparison.tests)
    verdicts = Counter(of.verdict for of in found)
    shown = [verdict for verdict in (MORE, FEWER) if verdicts[verdict]]
    largest = max((of for of in found if of.verdict in shown or not shown), key=lambda of: of.size)
    surest = min(found, key=lambda of: of.p)
    smallest = "smallest " if len(found) > 1 else ""
    left = f"; not tested: {gaps}" if gaps else ""
    return Statement(
        kind=Kind.RUNS,
        about=about,
        verdict=" and ".join(shown) or UNDECIDED,
        wording=f"{about}: {_sentence(comparison, verdicts, largest)}. Tested by {_basis(found)}; "
        f"{smallest}{tested(surest.p, surest.p_holm, comparison.tests)}{left}.",
        n=min(of.raw.conversations for of in found),
        p=surest.p,
        adjusted_p=surest.p_holm,
        tests=comparison.tests,
        numbers={
            "compared": len(found),
            **{verdict: verdicts[verdict] for verdict in (MORE, FEWER, UNDECIDED)},
            "largest_difference": largest.raw.value,
            "largest_difference_low": largest.raw.interval.low,
            "largest_difference_high": largest.raw.interval.high,
            "its_corrected_difference": largest.corrected.value,
            "its_corrected_difference_low": largest.corrected.interval.low,
            "its_corrected_difference_high": largest.corrected.interval.high,
        },
    )


def _tested(cells: Sequence[CellDifference]) -> list[Tested]:
    several = len({of.model for of in cells}) > 1
    return [
        Tested(
            _where(of, several),
            of.verdict,
            of.paired,
            of.left_out,
            of.found,
            of.corrected,
            of.found.p,
            of.p_holm,
        )
        for of in cells
        if of.found and of.corrected and of.found.p is not None and of.p_holm is not None
    ]


def _where(of: CellDifference, several_models: bool) -> str:
    cell = of.cell
    perturbed = cell.perturbation if cell.perturbation != UNPERTURBED else None
    parts = (of.model if several_models else None, perturbed, cell.condition, at(cell.temperature))
    return ", ".join(filter(None, parts))


def _gaps(cells: Sequence[CellDifference]) -> str:
    """How many have no test, by reason."""
    reasons = Counter(
        of.gap or (of.found and of.found.undefined) or "" for of in cells if of.p is None
    )
    return "; ".join(f"{counted(n, 'cell')}, {reason}" for reason, n in reasons.items())


def _sentence(comparison: RunComparison, verdicts: Counter[str], largest: Tested) -> str:
    other, base = comparison.other, comparison.base
    compared = f"{counted(verdicts.total(), 'cell')} compared"
    more, fewer, undecided = (verdicts[verdict] for verdict in (MORE, FEWER, UNDECIDED))
    size = f"{largest.where}, {points(largest.raw.value or 0.0, largest.raw.interval)} as judged; "
    size += _corrected(largest.corrected)
    if not more and not fewer:
        return (
            f"the data do not decide whether {other} has more or fewer genuine follow-ups than "
            f"{base}: of {compared} none is shown to differ; the largest difference is {size}"
        )
    told = (
        f"{other} has {MORE if more else FEWER} genuine follow-ups than {base} in "
        f"{more or fewer} of {compared}"
    )
    told += f" and {FEWER} in {fewer}" if more and fewer else ""
    told += f", the data do not decide on {undecided}" if undecided else ""
    return f"{told}; the largest difference shown is {size}"


def _corrected(of: CorrectedDifference) -> str:
    if of.value is None:
        return f"not corrected: {of.undefined}"
    return f"corrected, if the judge errs alike in both, {points(of.value, of.interval)}"


def _basis(found: Sequence[Tested]) -> str:
    """The tests, and on how many conversations."""
    parts = []
    for paired, test, which in (
        (True, "sign flips over", "that both runs have"),
        (False, "permutations between two samples of", "in all"),
    ):
        these = [of for of in found if of.paired == paired]
        if these:
            numbers = [of.raw.conversations for of in these]
            few, most = min(numbers), max(numbers)
            so_many = f"{few:,} to " if few < most else ""
            cells = f" ({counted(len(these), 'cell')})" if len(these) < len(found) else ""
            parts.append(f"{test} {so_many}{counted(most, 'conversation')} {which}{cells}")
    left = max(of.left_out for of in found)
    alone = f", up to {left:,} with judged turns in one run alone left out" if left else ""
    return f"{listed(parts)}{alone}"
