"""A chart of rows: names on the left, a plot, and a number on the right of each row."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import blended_transform_factory

from judge.calibration.main_run.figures.canvas import SMALL
from judge.calibration.main_run.figures.lettering import LINE, widest
from judge.calibration.main_run.figures.sheet import MARGIN, WIDTH, Heading, Key, sheet

_APART = 0.45  # of a row, between groups
_PAD = 0.08  # inches, between columns
_HEAD, _X_AXIS = SMALL * LINE + 0.05, 0.36  # inches
_BACKING = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}  # no grid through letters
_TALL = 5.0  # inches, from which on the axis is shown at the top too


@dataclass(frozen=True)
class Row:
    """`name` and `detail` stand on the left, `told` on the right; `starts` a group of rows.

    `gap` says inside the plot why there is nothing; `over` stands on a line of its own above.
    """

    name: str
    detail: str = ""
    told: str = ""
    starts: bool = False
    gap: str = ""
    over: str = ""


@dataclass(frozen=True)
class RowChart:
    """`places` are the rows' y in the axes, downwards, a row being 1 high."""

    figure: Figure
    axes: Axes
    places: tuple[float, ...]


def row_chart(
    heading: Heading,
    rows: Sequence[Row],
    *,
    x_label: str,
    told: str,
    key: Key,
    notes: Sequence[str],
    pitch: float = 0.152,
) -> RowChart:
    """Empty axes beside their rows, `pitch` inches apart; `told` heads the column on the right."""
    places = tuple(_places(rows))
    rows_high = places[-1] + 0.5
    plot = rows_high * pitch
    top = _HEAD + (0.2 if plot > _TALL else 0.0)
    page = sheet(heading, top + plot + _X_AXIS, key=key, notes=notes)
    names, details = widest((r.name for r in rows), SMALL), widest((r.detail for r in rows), SMALL)
    left = MARGIN + names + _PAD + (details + _PAD if details else 0.0)
    right = WIDTH - MARGIN - max(0.15, widest([told, *(r.told for r in rows)], SMALL) + 2 * _PAD)
    axes = page.axes(left, top, right - left, plot)
    axes.set(ylim=(rows_high, 0), yticks=())
    axes.set_xlabel(x_label, labelpad=2)
    axes.spines["left"].set_visible(False)
    axes.tick_params(top=plot > _TALL, labeltop=plot > _TALL)
    beside = blended_transform_factory(page.figure.dpi_scale_trans, axes.transData)
    page.text(WIDTH - MARGIN, 0, told, SMALL, ha="right")
    for row, y in zip(rows, places, strict=True):
        placed = (
            (MARGIN + names, y, row.name, "right"),
            (left - _PAD, y, row.detail, "right"),
            (WIDTH - MARGIN, y, row.told, "right"),
            (left + _PAD, y, row.gap, "left"),
            (MARGIN, y - 1, row.over, "left"),
        )
        for x, at, words, ha in placed:
            if words:
                how = {"ha": ha, "va": "center_baseline", "size": SMALL, "transform": beside}
                axes.text(x, at, words, bbox=_BACKING, **how)
    return RowChart(page.figure, axes, places)


def _places(rows: Sequence[Row]) -> Iterator[float]:
    at = 0.5
    for number, row in enumerate(rows):
        at += (_APART if row.starts and number else 0.0) + bool(row.over)
        yield at
        at += 1
