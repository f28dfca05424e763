"""With temperature: does a rate rise with T, at every step, or is it not monotone?

Of each group every step between neighbouring temperatures is tested, and the trend over all of
them, paired by conversation. All these two-sided tests of all groups are one family for Holm, so
any of them may be claimed, with its direction:

    rises at every step   every step's test, the largest p (intersection-union)
    not monotone          a rise and a fall, of steps or trend, the larger p of the clearest two
    rises                 the trend's test; no step is shown to fall

and likewise for falling.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.measures.double_sample import Judged
from annotator.measures.paired_rates import (
    Contrast,
    PairedRates,
    contrast,
    paired_rates,
    shared_conversations,
)
from judge.calibration.main_run.main_run import CellRate, Group, MainRun
from judge.calibration.main_run.statements.sentence import (
    AS_JUDGED,
    UNDECIDED,
    adjusted,
    at,
    gap_of,
    listed,
    name_of,
    points,
    shared_basis,
    tested,
    untested,
)
from judge.calibration.main_run.statements.statement import ALPHA, Kind, Statement

NOT_MONOTONE = "not monotone"
RISES, FALLS = "rises", "falls"
EVERY_STEP = " at every step"


@dataclass(frozen=True)
class Course:
    """A rate over temperatures: `trend` is the change over all of them, by a straight line.

    Between two temperatures there is one step, which is the trend.
    """

    paired: PairedRates
    trend: Contrast
    steps: tuple[Contrast, ...]

    @property
    def tests(self) -> tuple[Contrast, ...]:
        return (self.trend, *(self.steps if len(self.steps) > 1 else ()))


@dataclass(frozen=True)
class Found:
    group: Group
    cells: tuple[CellRate, ...]
    course: Course | None
    gap: str | None = None


@dataclass(frozen=True)
class Decision:
    verdict: str
    p: float
    adjusted_p: float


def course_of(
    judged: Sequence[Judged], temperatures: Sequence[float], sigmas: NDArray[np.int64]
) -> Course:
    """Of the conversations that all temperatures share, of which there must be some."""
    paired = paired_rates(shared_conversations(judged), sigmas)
    away = np.array(temperatures) - np.mean(temperatures)
    trend = away * (temperatures[-1] - temperatures[0]) / float(away @ away)
    steps = np.diff(np.eye(len(judged)), axis=0)
    return Course(paired, contrast(paired, trend), tuple(contrast(paired, row) for row in steps))


def decide(course: Course, after: Sequence[float]) -> Decision:
    """The strongest verdict that the tests' adjusted p values (in order of `tests`) allow."""
    rows = [(of.estimate, of.p or 0.0, p) for of, p in zip(course.tests, after, strict=True)]
    trend, steps = rows[0], rows[1:]
    shown = [row for row in rows if row[2] < ALPHA]
    ups, downs = [row for row in shown if row[0] > 0], [row for row in shown if row[0] < 0]
    if ups and downs:
        decisive = [min(side, key=lambda row: row[1]) for side in (ups, downs)]
        return _decision(NOT_MONOTONE, decisive)
    verdict = RISES if trend[0] > 0 else FALLS
    if steps and all(row in shown for row in steps):
        return _decision(verdict + EVERY_STEP, steps)
    if trend[2] < ALPHA:
        return _decision(verdict, [trend])
    return _decision(UNDECIDED, [trend])


def temperature_statements(run: MainRun) -> tuple[Statement, ...]:
    """One per model × data set × setting."""
    found = [_found(run, group) for group in run.groups]
    after, tests = adjusted([test.p for of in found if of.course for test in of.course.tests])
    rest = iter([p for p in after if p is not None])
    return tuple(
        _statement(of, [next(rest) for _ in of.course.tests] if of.course else [], tests)
        for of in found
    )


def _found(run: MainRun, group: Group) -> Found:
    sweep = run.sweep(group)
    cells = tuple(of for of in sweep if gap_of(of, "") is None)
    gaps = [gap for of in sweep if (gap := gap_of(of, at(of.cell.temperature)))]
    left = listed(gaps) if gaps else None
    if len(cells) < 2:
        only = f"only turns {at(cells[0].cell.temperature)}" if cells else "no turns of a known T"
        return Found(group, cells, None, left or f"there are {only}")
    judged = [of for of in (run.judged(cell.cell) for cell in cells) if of is not None]
    if len(shared_conversations(judged)[0].conversations) < 2:
        return Found(group, cells, None, "its temperatures share less than two conversations")
    temperatures = [of.cell.temperature or 0.0 for of in cells]
    return Found(group, cells, course_of(judged, temperatures, run.sigmas), left)


def _decision(verdict: str, rows: Sequence[tuple[float, float, float]]) -> Decision:
    return Decision(verdict, max(row[1] for row in rows), max(row[2] for row in rows))


def _statement(of: Found, after: Sequence[float], tests: int) -> Statement:
    about, course = name_of(of.group), of.course
    if course is None:
        return untested(Kind.TEMPERATURE, about, of.gap or "", tests)
    found, n = decide(course, after), course.paired.conversations
    left = f"; {of.gap}" if of.gap else ""
    return Statement(
        kind=Kind.TEMPERATURE,
        about=about,
        verdict=found.verdict,
        wording=f"{about}: {_sentence(of, course, found.verdict)}. {AS_JUDGED} at every T; "
        f"{shared_basis(n, of.cells)}; {tested(found.p, found.adjusted_p, tests)}{left}.",
        n=n,
        p=found.p,
        adjusted_p=found.adjusted_p,
        tests=tests,
        numbers=_numbers(of, course),
    )


def _sentence(of: Found, course: Course, verdict: str) -> str:
    temperatures = [cell.cell.temperature_text for cell in of.cells]
    over = f"from T = {temperatures[0]} to {temperatures[-1]}"
    rates = " / ".join(f"{100 * rate:.1f}" for rate in course.paired.rates)
    rates = f"{rates}% at T = {' / '.join(temperatures)}"
    trend = f"{points(course.trend.estimate, course.trend.interval)} {over} by the trend"
    if verdict == UNDECIDED:
        ends = (course.trend.interval.low, course.trend.interval.high)
        most = max(abs(end) for end in ends if end is not None)
        return (
            f"the data do not decide how the rate goes with T: {rates}, {trend}, so that a change "
            f"by {100 * most:.1f} points is not excluded"
        )
    if verdict == NOT_MONOTONE:
        steps = {
            word: sign * max(sign * step.estimate for step in course.steps)
            for word, sign in (("rise", 1), ("fall", -1))
        }
        largest = listed([f"a {word} by {100 * abs(by):.1f}" for word, by in steps.items()])
        return f"the rate is not monotone in T: {rates}, with {largest} points between neighbours"
    if verdict.endswith(EVERY_STEP):
        return f"the rate {verdict} of T: {rates}, {trend}"
    other = "fall" if verdict == RISES else "rise"
    shown = f", and no step is shown to {other}" if len(course.steps) > 1 else ""
    return f"the rate {verdict} with T: {rates}, {trend}{shown}"


def _numbers(of: Found, course: Course) -> dict[str, float | None]:
    names = [cell.cell.temperature_text for cell in of.cells]
    numbers: dict[str, float | None] = {
        f"rate_at_{name}": float(rate)
        for name, rate in zip(names, course.paired.rates, strict=True)
    }
    contrasts = {"trend": course.trend}
    contrasts |= {
        f"step_{first}_{second}": step
        for first, second, step in zip(names, names[1:], course.steps, strict=False)
    }
    for name, found in contrasts.items():
        numbers[name] = found.estimate
        numbers |= {f"{name}_low": found.interval.low, f"{name}_high": found.interval.high}
    return numbers
