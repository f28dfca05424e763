"""Small multiples: panels side by side, each with its title above and its legend below it."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from judge.calibration.main_run.figures.lettering import LINE, fitted
from judge.calibration.main_run.figures.sheet import (
    MARGIN,
    WIDTH,
    Heading,
    Key,
    legend_columns,
    legend_height,
    sheet,
)

_LEFT, _RIGHT, _APART = 0.42, 0.1, 0.3  # inches, beside and between panels
_TITLE = 8.0  # points
_HEAD, _PLOT, _X_AXIS, _BELOW = _TITLE * LINE + 0.06, 1.65, 0.44, 0.2  # inches, heights
_ALONE = 4.6  # inches, width of a figure with a single panel


@dataclass(frozen=True)
class Panel:
    """`key` is its legend."""

    title: str
    key: Key


def small_multiples(
    heading: Heading,
    panels: Sequence[Panel],
    *,
    x_label: str,
    y_label: str,
    key: Key,
    notes: Sequence[str],
) -> tuple[Figure, tuple[Axes, ...]]:
    """Empty axes, one per panel, up to three in a row; those of the first column have the y label.

    `key` stands above the panels, `notes` below them.
    """
    across = _columns(len(panels))
    width = _ALONE if across == 1 else WIDTH
    inner = width - 2 * MARGIN - _LEFT - _RIGHT
    each = (inner - (across - 1) * _APART) / across
    rows = [panels[start : start + across] for start in range(0, len(panels), across)]
    heights = [
        _HEAD + _PLOT + _X_AXIS + max(_legend(panel, each)[1] for panel in row) for row in rows
    ]
    room = sum(heights) + _BELOW * (len(rows) - 1)
    page = sheet(heading, room, width=width, key=key, notes=notes)
    found, top = [], 0.0
    for row, height in zip(rows, heights, strict=True):
        for number, panel in enumerate(row):
            left = MARGIN + _LEFT + number * (each + _APART)
            page.text(left, top, fitted(panel.title, each, _TITLE), _TITLE)
            axes = page.axes(left, top + _HEAD, each, _PLOT)
            axes.set_xlabel(x_label, labelpad=2)
            if number == 0:
                axes.set_ylabel(y_label, labelpad=3)
            legend_top = top + _HEAD + _PLOT + _X_AXIS
            page.legend(left, legend_top, panel.key, _legend(panel, each)[0])
            found.append(axes)
        top += height + _BELOW
    return page.figure, tuple(found)


def _columns(panels: int) -> int:
    return 2 if panels == 4 else min(3, panels)


def _legend(panel: Panel, inches: float) -> tuple[int, float]:
    """How many columns it has, and its height."""
    columns = legend_columns(panel.key, inches)
    return columns, legend_height(len(panel.key), columns)
