"""A forest plot's geometry: estimates with their intervals as places on one axis."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from annotator.measures.estimate import Estimate
from judge.calibration.report.wording import interval_text, number

STEPS = (0.05, 0.1, 0.2, 0.5, 1.0)  # between ticks; the smallest that gives few enough
MOST_TICKS = 7


@dataclass(frozen=True)
class ForestRow:
    """One estimate; places are percent of the axis, None where there is nothing to draw."""

    name: str
    value: str
    interval: str
    place: float | None
    low: float | None
    high: float | None
    remark: str = ""


@dataclass(frozen=True)
class Forest:
    """Rows on an axis with ticks (place, label), and where 0 is if it is inside."""

    rows: tuple[ForestRow, ...]
    ticks: tuple[tuple[float, str], ...]
    zero: float | None


def forest(rows: Sequence[tuple[str, Estimate, str]], *, signed: bool = False) -> Forest:
    """Lay out (name, estimate, remark) rows; `signed` is for differences, symmetric around 0."""
    ends = [
        end
        for _, estimate, _ in rows
        for end in (estimate.value, estimate.interval.low, estimate.interval.high)
        if end is not None
    ]
    if signed:
        reach = max((abs(end) for end in ends), default=0.1)
        step = _step(2 * reach)
        high = math.ceil(max(reach, step) / step) * step
        low = -high
    else:
        low, high = (-1.0 if min(ends, default=0) < 0 else 0.0), 1.0
        step = 0.2 if low == 0 else 0.5

    def place(value: float | None) -> float | None:
        return None if value is None else round(100 * (value - low) / (high - low), 2)

    ticks = tuple(
        (place(low + k * step), f"{low + k * step:+.2g}" if signed else f"{low + k * step:g}")
        for k in range(round((high - low) / step) + 1)
    )
    return Forest(
        tuple(_row(name, estimate, remark, place, signed) for name, estimate, remark in rows),
        tuple((x, "0" if label in ("+0", "-0") else label) for x, label in ticks),
        place(0.0) if low < 0 else None,
    )


def _row(name, estimate, remark, place, signed) -> ForestRow:
    value = estimate.value
    shown = "undefined" if value is None else f"{value:+.3f}" if signed else number(value, 2)
    return ForestRow(
        name,
        shown,
        interval_text(estimate.interval).removeprefix("95% CI "),
        place(value),
        place(estimate.interval.low),
        place(estimate.interval.high),
        remark or estimate.undefined or _no_interval(estimate),
    )


def _no_interval(estimate: Estimate) -> str:
    if estimate.interval.low is not None:
        return ""
    return estimate.interval.method.replace("none: ", "no interval: ", 1)


def _step(width: float) -> float:
    return next((step for step in STEPS if width / step <= MOST_TICKS - 1), STEPS[-1])
