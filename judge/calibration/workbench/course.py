"""The course of kappa over prompt versions: estimates with intervals as places in a plot."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 640, 220, 44, 12, 28  # of the drawing, in its own units


@dataclass(frozen=True)
class Point:
    """One version; `y`, `low` and `high` are None where there is nothing to draw."""

    name: str
    x: float
    y: float | None
    low: float | None
    high: float | None
    words: str


@dataclass(frozen=True)
class Course:
    points: tuple[Point, ...]
    ticks: tuple[tuple[float, str], ...]
    ceiling: float | None
    line: str


def course(versions: Sequence[tuple[str, dict[str, Any] | None]], ceiling: float | None) -> Course:
    """Lay out (name, a kappa as JSON has it or None) from left to right; `ceiling` is people's.

    >>> course([("v1", {"kappa": 0.5, "interval": {"low": 0.0, "high": 1.0}})], None).points[0].y
    102.0
    """
    ends = [
        end
        for _, kappa in versions
        for end in _ends(kappa)
        if end is not None
    ]  # fmt: skip
    low = -1.0 if min(ends, default=0.0) < 0 else 0.0

    def y(value: float | None) -> float | None:
        if value is None:
            return None
        return round(TOP + (HEIGHT - TOP - BOTTOM) * (1 - (value - low) / (1 - low)), 2)

    step = (WIDTH - LEFT) / max(1, len(versions))
    points = tuple(
        Point(name, round(LEFT + step * (k + 0.5), 2), *map(y, _ends(kappa)), _words(kappa))
        for k, (name, kappa) in enumerate(versions)
    )
    marks = [low + k * (1 - low) / 4 for k in range(5)]
    line = " ".join(f"{point.x},{point.y}" for point in points if point.y is not None)
    return Course(points, tuple((y(mark), f"{mark:g}") for mark in marks), y(ceiling), line)


def _ends(kappa: dict[str, Any] | None) -> tuple[float | None, float | None, float | None]:
    if kappa is None:
        return None, None, None
    return kappa["kappa"], kappa["interval"]["low"], kappa["interval"]["high"]


def _words(kappa: dict[str, Any] | None) -> str:
    value, low, high = _ends(kappa)
    if value is None:
        return "no kappa"
    return f"{value:.3f}" if low is None else f"{value:.3f}, {low:.2f} to {high:.2f}"
