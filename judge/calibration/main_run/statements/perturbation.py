"""Perturbation: does a rate change when the answer is cut short, or asks a question?

The turns after the perturbed answer against those after the answer itself, paired by conversation
at the same temperature, by a two-sided test of all sign flips; Holm over all perturbed cells.
"""

from dataclasses import dataclass

from annotator.measures.paired_difference import PairedDifference, paired_difference
from annotator.measures.rate_difference import CorrectedDifference, corrected_difference
from generation.perturbation import UNPERTURBED
from judge.calibration.main_run.main_run import CellRate, Group, MainRun
from judge.calibration.main_run.statements.sentence import (
    UNDECIDED,
    adjusted,
    at,
    gap_of,
    name_of,
    points,
    shared_basis,
    tested,
    untested,
)
from judge.calibration.main_run.statements.statement import ALPHA, Kind, Statement
from judge.calibration.rates.turn_verdicts import Cell
from judge.plural import counted

RAISES, LOWERS = "raises", "lowers"


@dataclass(frozen=True)
class Found:
    """A perturbed cell against the plain one; `gap` says why there is no difference."""

    about: str
    cells: tuple[CellRate, ...]
    raw: PairedDifference | None
    corrected: CorrectedDifference | None
    gap: str | None


def direction(difference: PairedDifference, adjusted_p: float) -> str:
    if adjusted_p >= ALPHA or not difference.value:
        return UNDECIDED
    return RAISES if difference.value > 0 else LOWERS


def perturbation_statements(run: MainRun) -> tuple[Statement, ...]:
    """One per perturbed cell, in order of their groups."""
    order = {group: number for number, group in enumerate(run.groups)}
    perturbed = [of for of in run.cells if of.cell.perturbation != UNPERTURBED]
    perturbed.sort(key=lambda of: order.get(_group(of.cell), len(order)))
    found = [_found(run, of) for of in perturbed]
    after, tests = adjusted([of.raw.p if of.raw else None for of in found])
    return tuple(_statement(of, p, tests) for of, p in zip(found, after, strict=True))


def _found(run: MainRun, perturbed: CellRate) -> Found:
    cell = perturbed.cell
    plain = run.unperturbed(cell)
    condition = f", {cell.condition}" if cell.condition else ""
    about = f"{name_of(_group(cell))}, {cell.perturbation}{condition}, {at(cell.temperature)}"
    gap = gap_of(perturbed, "after perturbed answers") or gap_of(plain, "after answers as they are")
    if gap:
        return Found(about, (perturbed,), None, None, gap)
    before, after = run.judged(plain.cell), run.judged(cell)
    if before is None or after is None:
        return Found(about, (perturbed,), None, None, "no turn is judged")
    raw = paired_difference(before, after, run.sigmas, seed=run.seed)
    if raw.undefined:
        return Found(about, (plain, perturbed), None, None, raw.undefined)
    return Found(about, (plain, perturbed), raw, corrected_difference(raw, run.errors), None)


def _group(cell: Cell) -> Group:
    return Group(cell.setting, cell.dataset, cell.model or "")


def _statement(of: Found, adjusted_p: float | None, tests: int) -> Statement:
    raw, corrected = of.raw, of.corrected
    if raw is None or corrected is None or raw.p is None or adjusted_p is None:
        return untested(Kind.PERTURBATION, of.about, of.gap or "", tests)
    verdict = direction(raw, adjusted_p)
    changed = of.cells[-1].changed
    return Statement(
        kind=Kind.PERTURBATION,
        about=of.about,
        verdict=verdict,
        wording=f"{of.about}: {_sentence(of, raw, corrected, verdict)}. Sign flips over "
        f"{shared_basis(raw.conversations, of.cells)}; {tested(raw.p, adjusted_p, tests)}.",
        n=raw.conversations,
        p=raw.p,
        adjusted_p=adjusted_p,
        tests=tests,
        numbers={
            "rate_before": raw.first,
            "rate_after": raw.second,
            "difference": raw.value,
            "difference_low": raw.interval.low,
            "difference_high": raw.interval.high,
            "corrected_difference": corrected.value,
            "corrected_difference_low": corrected.interval.low,
            "corrected_difference_high": corrected.interval.high,
            "changed": changed.share if changed else None,
        },
    )


def _sentence(
    of: Found, raw: PairedDifference, corrected: CorrectedDifference, verdict: str
) -> str:
    rates = f"{100 * (raw.first or 0.0):.1f}% before, {100 * (raw.second or 0.0):.1f}% after"
    moved = f"{rates} as judged, each conversation counted once, "
    moved += points(raw.value or 0.0, raw.interval)
    if corrected.value is None:
        moved += f"; not corrected: {corrected.undefined}"
    else:
        moved += "; corrected, if the judge errs alike in both, "
        moved += points(corrected.value, corrected.interval)
    changed = of.cells[-1].changed
    if changed:
        moved += (
            f"; {100 * changed.share:.1f}% of {counted(changed.compared, 'turn')} read differently"
        )
    if raw.note:
        moved += f"; {raw.note}"
    if verdict == UNDECIDED:
        return f"the data do not decide whether it changes the rate: {moved}"
    return f"it {verdict} the rate of genuine follow-ups: {moved}"
