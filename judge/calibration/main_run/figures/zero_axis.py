"""A horizontal axis of differences: as far on either side of 0, with a line there."""

from collections.abc import Iterable, Sequence
from math import ceil

from matplotlib.axes import Axes

from judge.calibration.main_run.figures.canvas import INK
from judge.calibration.main_run.figures.percent_axis import set_ticks

_MOST_STEPS = 4  # on either side of 0


def zero_axis(axes: Axes, ends: Iterable[float], steps: Sequence[float], places: int) -> None:
    """Until the farthest of the `ends`, by the least of the `steps` between ticks that will do."""
    most = max(map(abs, ends), default=0.0)
    step = next((step for step in steps if most <= _MOST_STEPS * step + 1e-9), steps[-1])
    count = max(1, ceil(most / step - 1e-9))
    ticks = [(k * step, signed(k * step, places)) for k in range(-count, count + 1)]
    set_ticks(axes, "x", ticks)
    axes.set_xlim(-count * step, count * step)
    axes.axvline(0, color=INK, linewidth=0.8, zorder=1.5)


def signed(value: float, places: int) -> str:
    """With a true minus.

    >>> signed(-0.125, 1), signed(0.04, 1), signed(3, 0)
    ('−0.1', '0', '+3')
    """
    text = f"{value:+.{places}f}".replace("-", "−")
    return text if round(value, places) else "0"


def signed_estimate(value: float, low: float | None, high: float | None, places: int) -> str:
    """With its interval, if it has one.

    >>> signed_estimate(0.08, -0.01, 0.17, 2), signed_estimate(-3.0, None, None, 1)
    ('+0.08 [−0.01, +0.17]', '−3.0')
    """
    if low is None or high is None:
        return signed(value, places)
    return f"{signed(value, places)} [{signed(low, places)}, {signed(high, places)}]"
