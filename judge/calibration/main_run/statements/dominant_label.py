"""Dominant label: which way do turns that are no genuine follow-ups degenerate?

The degenerate label with the largest judged share is compared with every other, paired by
conversation, by two-sided tests of all sign flips; the largest p counts. That pays for choosing
the winner: comparing it with the runner-up is enough (Hung and Fithian 2019, Ann Stat 47:758).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotator.measures.double_sample import Judged
from annotator.measures.paired_difference import PairedDifference, difference_of
from annotator.measures.rate_difference import shares_of
from judge.calibration.main_run.main_run import CellRate, MainRun
from judge.calibration.main_run.statements.sentence import (
    UNDECIDED,
    adjusted,
    at,
    basis,
    gap_of,
    name_of,
    points,
    tested,
    untested,
)
from judge.calibration.main_run.statements.statement import ALPHA, Kind, Statement
from judge.plural import counted

NONE_DEGENERATE = "no turn has a degenerate label"


@dataclass(frozen=True)
class Dominance:
    """The label with the largest share, the one that comes nearest, and how far it is behind."""

    winner: int
    runner_up: int
    margin: PairedDifference


@dataclass(frozen=True)
class Found:
    about: str
    cell: CellRate | None
    dominance: Dominance | None
    gap: str | None


def dominance_of(judged: Judged, labels: Sequence[int], *, seed: int) -> Dominance | None:
    """Among these outcomes, of which there are two or more; None where no turn has any."""
    outcomes = np.eye(judged.counts.shape[1], dtype=np.int64)
    by_label = {label: shares_of(judged, outcomes[label]) for label in labels}
    means = {label: float(of.mean()) for label, of in by_label.items()}
    winner = max(labels, key=means.__getitem__)
    if not means[winner]:
        return None
    margins = {
        label: difference_of(by_label[label], by_label[winner], seed=seed)
        for label in labels
        if label != winner
    }
    runner_up = max(margins, key=lambda label: (margins[label].p or 0.0, means[label]))
    return Dominance(winner, runner_up, margins[runner_up])


def dominant_label_statements(run: MainRun) -> tuple[Statement, ...]:
    """One per model × data set × setting at the lowest temperature, one at the highest."""
    labels = [k for k, of in enumerate(run.rubric.categories) if not of.sigma]
    found = []
    for group in run.groups:
        sweep, about = run.sweep(group), name_of(group)
        cells = dict.fromkeys((sweep[0].cell, sweep[-1].cell)) if sweep else {}
        found += [_found(run, about, run.by_cell[cell], labels) for cell in cells]
        if not cells:
            found.append(Found(about, None, None, "there are no turns of a known T"))
    after, tests = adjusted([of.dominance.margin.p if of.dominance else None for of in found])
    return tuple(_statement(run, of, p, tests) for of, p in zip(found, after, strict=True))


def _found(run: MainRun, about: str, cell: CellRate, labels: Sequence[int]) -> Found:
    where = at(cell.cell.temperature)
    about, gap, judged = f"{about} {where}", gap_of(cell, where), run.judged(cell.cell)
    if len(labels) < 2:
        gap = f"the rubric has {counted(len(labels), 'degenerate label')}, none to compare"
    if gap or judged is None:
        return Found(about, cell, None, gap)
    dominance = dominance_of(judged, labels, seed=run.seed)
    return Found(about, cell, dominance, None if dominance else NONE_DEGENERATE)


def _statement(run: MainRun, of: Found, adjusted_p: float | None, tests: int) -> Statement:
    if of.dominance is None or of.cell is None or adjusted_p is None:
        return untested(Kind.LABEL, of.about, of.gap or "", tests)
    margin, p = of.dominance.margin, of.dominance.margin.p or 0.0
    winner, runner_up = (
        run.rubric.category_ids[label] for label in (of.dominance.winner, of.dominance.runner_up)
    )
    verdict = winner if adjusted_p < ALPHA else UNDECIDED
    compared = (
        f"{100 * (margin.second or 0.0):.1f}% of the turns, before {runner_up} with "
        f"{100 * (margin.first or 0.0):.1f}%, {points(margin.value or 0.0, margin.interval)}"
    )
    told = (
        f"degenerate turns are most often {winner}, {compared}"
        if verdict != UNDECIDED
        else f"the data do not decide on a dominant degenerate label: {winner} has {compared}"
    )
    return Statement(
        kind=Kind.LABEL,
        about=of.about,
        verdict=verdict,
        wording=f"{of.about}: {told}. Shares as judged, each conversation counted once; "
        f"{basis(margin.conversations, [of.cell])}; {tested(p, adjusted_p, tests)}.",
        n=margin.conversations,
        p=p,
        adjusted_p=adjusted_p,
        tests=tests,
        numbers={
            f"share_of_{winner}": margin.second,
            f"share_of_{runner_up}": margin.first,
            "margin": margin.value,
            "margin_low": margin.interval.low,
            "margin_high": margin.interval.high,
        },
    )
