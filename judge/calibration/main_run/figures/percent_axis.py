"""Axes in percent with limits that are ticks, and a quiet grid."""

from collections.abc import Iterable
from typing import Literal

from matplotlib.axes import Axes

from judge.calibration.main_run.figures.canvas import RULE

_TICKS = {10: 2, 20: 5, 30: 10, 40: 10, 50: 10, 60: 20, 80: 20, 100: 20}  # by upper limit
MOST_PERCENT = 100


def percent_limit(values: Iterable[float]) -> int:
    """The least of some round limits that no value is above.

    >>> percent_limit([3.5, 11]), percent_limit([])
    (20, 10)
    """
    most = max(values, default=0.0)
    return next((limit for limit in _TICKS if most <= limit + 1e-9), MOST_PERCENT)


def percent_axis(axes: Axes, along: Literal["x", "y"], limit: int) -> None:
    """From 0 to one of the limits of `percent_limit`."""
    ticks = range(0, limit + 1, _TICKS[limit])
    set_ticks(axes, along, [(float(tick), str(tick)) for tick in ticks])
    axes.set(**{f"{along}lim": (0, limit)})


def set_ticks(axes: Axes, along: Literal["x", "y"], ticks: list[tuple[float, str]]) -> None:
    places, labels = zip(*ticks, strict=True)
    axes.set(**{f"{along}ticks": places, f"{along}ticklabels": labels})
    axes.grid(axis=along, color=RULE, linewidth=0.5)
    axes.set_axisbelow(True)
