"""Latent or absent: is a rate near 0 at T = 0, and does it stay so at T = 1?

The verdicts claim something of two true rates, r0 at T = 0 and r1 at T = 1:

    present   r0 ≥ δ             one-sided test at T = 0
    absent    r0 < δ and r1 < δ  both one-sided tests, the larger p (intersection-union)
    latent    r0 < δ and r1 > δ  the same

One of them is true and two can be claimed falsely: a group's p is twice the smallest of the three,
and Holm over the groups holds the chance of any false verdict (Shaffer 1980, Ann Stat 8:1342, on
Holm's procedure where a direction is claimed). Two rates in [0, δ) differ by less than δ, so
"absent" is a test of equivalence too. Where nobody labelled, the judge's own rates are tested.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from annotator.measures.paired_difference import PairedDifference, paired_difference
from annotator.measures.rate_difference import CorrectedDifference, corrected_difference
from judge.calibration.main_run.main_run import CellRate, Group, MainRun
from judge.calibration.main_run.statements.bound import (
    BoundTest,
    ErrorShares,
    bound_test,
    error_shares,
)
from judge.calibration.main_run.statements.sentence import (
    UNDECIDED,
    adjusted,
    at,
    basis,
    gap_of,
    listed,
    name_of,
    percent,
    points,
    tested,
    untested,
)
from judge.calibration.main_run.statements.statement import ALPHA, Kind, Statement

# "Near 0". The paper calls rates of 0% to 1.5% so, and one of 13% not; and a judge with some 5% of
# false alarms and a few hundred labels hardly tells a smaller rate from 0.
NEAR_ZERO = 0.05
NEAR = f"{100 * NEAR_ZERO:g}%"
PRESENT, ABSENT, LATENT = "present", "absent", "latent"
MODE, DISTRIBUTION = 0.0, 1.0  # temperatures


@dataclass(frozen=True)
class Claim:
    """The verdict that the tests are nearest to, and its p; `agrees` with the rates' intervals."""

    verdict: str
    p: float
    agrees: bool

    def decided(self, adjusted_p: float) -> str:
        return self.verdict if adjusted_p < ALPHA and self.agrees else UNDECIDED


@dataclass(frozen=True)
class Found:
    """The tests of a group by temperature, T = 0 first; `gap` says why one or both are missing.

    `difference` is r1 - r0, paired by conversation.
    """

    group: Group
    cells: tuple[CellRate, ...]
    tests: Mapping[float, BoundTest]
    corrected: bool
    difference: PairedDifference | CorrectedDifference | None
    gap: str | None

    @property
    def claim(self) -> Claim | None:
        return latency_claim(*self.tests.values()) if self.tests else None


def latency_claim(mode: BoundTest, distribution: BoundTest | None = None) -> Claim:
    """Without a rate at T = 1 only "present" can be claimed."""
    claims = [(mode.above, PRESENT, mode.is_above)]
    if distribution is not None:
        claims += [
            (max(mode.below, distribution.below), ABSENT, mode.is_below and distribution.is_below),
            (max(mode.below, distribution.above), LATENT, mode.is_below and distribution.is_above),
        ]
    p, verdict, agrees = min(claims)
    return Claim(verdict, min(1.0, 2 * p), agrees)


def latency_statements(run: MainRun) -> tuple[Statement, ...]:
    """One per model × data set × setting."""
    errors = error_shares(run.labelled, run.sigmas)
    found = [_found(run, group, errors) for group in run.groups]
    after, tests = adjusted([of.claim.p if of.claim else None for of in found])
    return tuple(_statement(of, p, tests) for of, p in zip(found, after, strict=True))


def _found(run: MainRun, group: Group, errors: ErrorShares | None) -> Found:
    sweep = {of.cell.temperature: of for of in run.sweep(group)}
    cells: list[CellRate] = []
    gap = None
    for temperature in (MODE, DISTRIBUTION):
        cell = sweep.get(temperature)
        gap = gap_of(cell, at(temperature))
        if gap or cell is None:
            break
        cells.append(cell)
    told = [(of.rate, run.judged(of.cell)) for of in cells]
    both = [(rate, judged) for rate, judged in told if rate is not None and judged is not None]
    refused = [rate.sigma.undefined for rate, _ in both if rate.sigma.value is None]
    if refused and run.labelled is not None:  # false alarms alone could pass for a rate
        return Found(group, (), {}, False, None, f"the rates are not corrected, as {refused[0]}")
    corrected = not refused
    tests = {
        temperature: bound_test(rate, judged, run.sigmas, errors, NEAR_ZERO, corrected=corrected)
        for temperature, (rate, judged) in zip((MODE, DISTRIBUTION), both, strict=False)
    }
    difference: PairedDifference | CorrectedDifference | None = None
    if len(both) > 1:
        difference = paired_difference(both[0][1], both[1][1], run.sigmas, seed=run.seed)
        if corrected:
            difference = corrected_difference(difference, run.errors)
    return Found(group, tuple(cells), tests, corrected, difference, gap)


def _statement(of: Found, adjusted_p: float | None, tests: int) -> Statement:
    about, claim = name_of(of.group), of.claim
    if claim is None or adjusted_p is None:
        return untested(Kind.LATENCY, about, of.gap or "", tests)
    verdict = claim.decided(adjusted_p)
    n = min(cell.rate.conversations for cell in of.cells if cell.rate is not None)
    kind = "Corrected rates" if of.corrected else "Judged rates, not corrected"
    return Statement(
        kind=Kind.LATENCY,
        about=about,
        verdict=verdict,
        wording=f"{about}: {_sentence(of, claim, verdict)}. {kind}, {basis(n, of.cells)}; "
        f"{tested(claim.p, adjusted_p, tests)}.",
        n=n,
        p=claim.p,
        adjusted_p=adjusted_p,
        tests=tests,
        numbers=_numbers(of),
    )


def _sentence(of: Found, claim: Claim, verdict: str) -> str:
    rates = listed([f"{percent(test.rate)} {at(T)}" for T, test in of.tests.items()])
    if verdict == PRESENT:
        return f"genuine follow-ups are present, {rates}: above {NEAR} at T = 0 already"
    if verdict == ABSENT:
        return (
            f"genuine follow-ups are absent, {rates}: both below {NEAR}, and so less than "
            f"{100 * NEAR_ZERO:g} points apart"
        )
    if verdict == LATENT:
        return (
            f"genuine follow-ups are latent, {rates}: below {NEAR} at T = 0, above it at T = 1"
            f"{_rise(of)}"
        )
    return f"the data do not decide: genuine follow-ups are {rates}; {_missing(of, claim)}"


def _rise(of: Found) -> str:
    if of.difference is None or of.difference.value is None:
        return ""
    return f", paired {points(of.difference.value, of.difference.interval)}"


def _missing(of: Found, claim: Claim) -> str:
    """What the nearest verdict, which is not reached, would need."""
    asked = [MODE] if claim.verdict == PRESENT else list(of.tests)
    unclear = [T for T in asked if not (of.tests[T].is_below or of.tests[T].is_above)]
    around = [at(T) for T in unclear if of.tests[T].rate.low is not None]
    missing = [f"the interval {listed(around)} has {NEAR} in it"] if around else []
    missing += [f"{at(T)} {gap}" for T in unclear if (gap := of.tests[T].rate.gap)]
    missing += [of.gap] if of.gap and not of.tests[MODE].is_above else []
    clear = "the intervals are" if len(asked) > 1 else f"the interval {at(MODE)} is"
    return listed(missing or [f"{clear} clear of {NEAR}, but not by enough for the test"])


def _numbers(of: Found) -> dict[str, float | None]:
    numbers: dict[str, float | None] = {"bound": NEAR_ZERO}
    for temperature, test in of.tests.items():
        name = f"rate_at_{temperature:g}"
        numbers[name] = test.rate.value
        numbers |= {f"{name}_low": test.rate.low, f"{name}_high": test.rate.high}
    if of.difference is not None:
        interval = of.difference.interval
        numbers["difference"] = of.difference.value
        numbers |= {"difference_low": interval.low, "difference_high": interval.high}
    return numbers
