"""With size: does a rate rise or fall from the small models of a family to the large ones?

The slope of the rate over log10 of the parameters, a contrast of the models' rates on the same
conversations; two-sided, Holm over all families × data sets × settings × temperatures.
"""

from collections import defaultdict
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
from judge.calibration.main_run.main_run import CellRate, MainRun
from judge.calibration.main_run.model_facts import BASE, ModelFacts
from judge.calibration.main_run.statements.sentence import (
    AS_JUDGED,
    UNDECIDED,
    adjusted,
    at,
    gap_of,
    listed,
    points,
    shared_basis,
    tested,
    untested,
)
from judge.calibration.main_run.statements.statement import ALPHA, Kind, Statement

RISES, FALLS = "rises with size", "falls with size"


@dataclass(frozen=True)
class Scaling:
    """Rates of a family's models in order of size; `slope` is the change per tenfold parameters."""

    paired: PairedRates
    slope: Contrast


@dataclass(frozen=True)
class Found:
    """One family on one data set at one temperature; `gap` says what is missing or left out."""

    about: str
    cells: tuple[CellRate, ...]
    sizes: tuple[float, ...]
    scaling: Scaling | None
    gap: str | None


def scaling_of(
    judged: Sequence[Judged], parameters: Sequence[float], sigmas: NDArray[np.int64]
) -> Scaling:
    """Of the conversations that all models share, of which there must be some."""
    paired = paired_rates(shared_conversations(judged), sigmas)
    size = np.log10(parameters)
    away = size - size.mean()
    return Scaling(paired, contrast(paired, away / float(away @ away)))


def series_of(models: Sequence[ModelFacts]) -> dict[str, tuple[ModelFacts, ...]]:
    """Models that differ in size alone, by name of their series: those with two sizes or more.

    Checkpoints after post-training are a series of their own, apart from their bases.
    """
    series: dict[str, list[ModelFacts]] = defaultdict(list)
    for of in models:
        if of.parameters is not None:
            stage = f" {of.stage}" if of.stage not in (None, BASE) else ""
            series[of.family + stage].append(of)
    return {
        name: tuple(sorted(those, key=lambda of: (of.parameters or 0.0, of.name)))
        for name, those in series.items()
        if len({of.parameters for of in those}) > 1
    }


def size_statements(run: MainRun) -> tuple[Statement, ...]:
    """One per family × data set × setting at the lowest temperature, one at the highest."""
    found = [
        of
        for name, models in series_of(tuple(run.models.values())).items()
        for setting, dataset in dict.fromkeys((of.setting, of.dataset) for of in run.groups)
        for of in _over_sizes(run, name, models, setting, dataset)
    ]
    slopes = [of.scaling.slope.p if of.scaling else None for of in found]
    after, tests = adjusted(slopes)
    return tuple(_statement(of, p, tests) for of, p in zip(found, after, strict=True))


def _over_sizes(
    run: MainRun, name: str, models: Sequence[ModelFacts], setting: str, dataset: str
) -> list[Found]:
    names = {of.name for of in models}
    cells = [
        of
        for of in run.plain
        if of.cell.model in names
        and (of.cell.setting, of.cell.dataset) == (setting, dataset)
        and of.cell.temperature is not None
    ]
    temperatures = sorted({of.cell.temperature or 0.0 for of in cells})
    return [
        _found(run, f"{name} on {dataset} ({setting}) {at(T)}", models, [
            of for of in cells if of.cell.temperature == T
        ])
        for T in dict.fromkeys((temperatures[0], temperatures[-1]))
    ] if temperatures else []  # fmt: skip


def _found(
    run: MainRun, about: str, models: Sequence[ModelFacts], cells: Sequence[CellRate]
) -> Found:
    by_model = {of.cell.model: of for of in cells}
    gaps = {of.name: gap_of(by_model.get(of.name), f"of {of.name}") for of in models}
    there = [of for of in models if gaps[of.name] is None]
    missing = [gap for gap in gaps.values() if gap]
    gap = listed(missing) if missing else None
    sizes = tuple(of.parameters or 0.0 for of in there)
    found = tuple(by_model[of.name] for of in there)
    if len(set(sizes)) < 2:
        return Found(about, found, sizes, None, gap)
    judged = [of for of in (run.judged(cell.cell) for cell in found) if of is not None]
    if len(shared_conversations(judged)[0].conversations) < 2:
        return Found(about, found, sizes, None, "its models share less than two conversations")
    return Found(about, found, sizes, scaling_of(judged, sizes, run.sigmas), gap)


def _statement(of: Found, adjusted_p: float | None, tests: int) -> Statement:
    if of.scaling is None or adjusted_p is None or of.scaling.slope.p is None:
        return untested(Kind.SIZE, of.about, of.gap or "", tests)
    slope, paired = of.scaling.slope, of.scaling.paired
    p, n = of.scaling.slope.p, paired.conversations
    verdict = UNDECIDED
    if adjusted_p < ALPHA:
        verdict = RISES if slope.estimate > 0 else FALLS
    left = f"; {of.gap}" if of.gap else ""
    return Statement(
        kind=Kind.SIZE,
        about=of.about,
        verdict=verdict,
        wording=f"{of.about}: {_sentence(of, of.scaling, verdict)}. {AS_JUDGED} in every model; "
        f"{shared_basis(n, of.cells)}; {tested(p, adjusted_p, tests)}{left}.",
        n=n,
        p=p,
        adjusted_p=adjusted_p,
        tests=tests,
        numbers={
            "slope_per_tenfold": slope.estimate,
            "slope_low": slope.interval.low,
            "slope_high": slope.interval.high,
            **{
                f"rate_of_{cell.cell.model}": float(rate)
                for cell, rate in zip(of.cells, paired.rates, strict=True)
            },
        },
    )


def _sentence(of: Found, scaling: Scaling, verdict: str) -> str:
    sizes = " / ".join(f"{size / 1e9:g}" for size in of.sizes)
    rates = " / ".join(f"{100 * rate:.1f}" for rate in scaling.paired.rates)
    slope = points(scaling.slope.estimate, scaling.slope.interval)
    told = f"{rates}% at {sizes} billion parameters, {slope} per tenfold size"
    few = ", between two sizes alone, which is no trend" if len(set(of.sizes)) < 3 else ""
    if verdict == UNDECIDED:
        return f"the data do not decide how the rate goes with size: {told}{few}"
    return f"the rate {verdict}: {told}{few}"
