"""Where judge and people differ: people's labels by what the judge said of the same turns."""

from collections.abc import Iterator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_hex

from annotator.measures.confusion import INVALID, Confusion
from judge.calibration.main_run.figures.absence import Absent
from judge.calibration.main_run.figures.canvas import INK, NORMAL, SMALL, Drawn
from judge.calibration.main_run.figures.lettering import LINE, clean, fitted, wrapped
from judge.calibration.main_run.figures.palette import lightness
from judge.calibration.main_run.figures.sheet import MARGIN, Heading, sheet
from judge.calibration.main_run.main_run import MainRun

NAME = "confusion"
_WIDE, _HIGH = 0.64, 0.4  # inches
_SIDE = 1.3  # inches, of a row's name
_TOTAL = 0.5  # inches, of a row's n
_LINES = 3  # of a name, that fit a row
_STEP = SMALL * LINE
_SHADES = LinearSegmentedColormap.from_list("shares", ["#f4f6f8", "#004a75"])
_DARK = 60  # lightness, below which letters are white


def confusion_figures(run: MainRun) -> Iterator[Drawn | Absent]:
    """One, where people labelled."""
    if run.quality.confusion is None or not run.quality.confusion.n:
        yield Absent(NAME, run.quality.source)
    else:
        yield _figure(run, run.quality.confusion)


def _figure(run: MainRun, confusion: Confusion) -> Drawn:
    heading = Heading(
        "People's labels by the judge's",
        f"items, and their share of the row; n = {confusion.n:,}; {clean(run.quality.source)}",
    )
    known = {of.id: of.name for of in run.rubric.categories} | {INVALID: "unreadable"}
    names = [clean(known.get(name, name)) for name in confusion.columns]
    heads = [_lines(name, _WIDE - 0.08) for name in names]
    rows, columns = len(confusion.categories), len(confusion.columns)
    top = NORMAL * LINE + max(map(len, heads)) * _STEP + 0.12
    page = sheet(
        heading,
        top + rows * _HIGH,
        width=2 * MARGIN + _SIDE + columns * _WIDE + _TOTAL,
        key={},
        notes=(),
    )
    left = MARGIN + _SIDE
    page.text(left + columns * _WIDE / 2, 0, "judge", NORMAL, ha="center")
    page.text(left - 0.08, top - NORMAL * LINE - 0.05, "people", NORMAL, ha="right")
    page.text(left + columns * _WIDE + _TOTAL, top - _STEP - 0.05, "n", SMALL, ha="right")
    for column, lines in enumerate(heads):
        middle, lowest = left + (column + 0.5) * _WIDE, top - 0.05
        for line, words in enumerate(reversed(lines)):
            page.text(middle, lowest - (line + 1) * _STEP, words, SMALL, ha="center")
    for row, (name, of_row) in enumerate(zip(names, confusion.counts, strict=False)):
        middle = top + (row + 0.5) * _HIGH
        lines = _lines(name, _SIDE - 0.1)
        for line, words in enumerate(lines):
            down = middle + (line - len(lines) / 2) * _STEP
            page.text(left - 0.08, down, words, SMALL, ha="right")
        page.text(
            left + columns * _WIDE + _TOTAL, middle, f"{sum(of_row):,}", SMALL,
            ha="right", va="center",
        )  # fmt: skip
    _cells(page.axes(left, top, columns * _WIDE, rows * _HIGH), confusion)
    return Drawn(NAME, str(heading), page.figure)


def _lines(name: str, inches: float) -> list[str]:
    """As much of a name as so many lines hold."""
    tries = (
        wrapped(fitted(name, share * inches, SMALL), inches, SMALL) for share in (9, 3, 2.5, 2, 1.5)
    )
    return next((lines for lines in tries if len(lines) <= _LINES), [fitted(name, inches, SMALL)])


def _cells(axes: Axes, confusion: Confusion) -> None:
    """Darker, the larger the share of the row; of a row without items there is no share."""
    counts = confusion.table
    totals = counts.sum(axis=1, keepdims=True)
    shares = counts / np.maximum(totals, 1)
    axes.pcolormesh(shares, cmap=_SHADES, vmin=0, vmax=1, edgecolors="white", linewidth=1)
    axes.set(ylim=(len(counts), 0), xticks=(), yticks=())
    axes.spines[:].set_visible(False)
    for (row, column), count in np.ndenumerate(counts):
        share = float(shares[row, column])
        ink = "white" if lightness(to_hex(_SHADES(share))) < _DARK else INK
        how = {"ha": "center", "va": "center", "color": ink}
        if not count:
            axes.text(column + 0.5, row + 0.5, "0", size=SMALL, alpha=0.5, **how)
            continue
        axes.text(column + 0.5, row + 0.33, f"{count:,}", size=NORMAL, **how)
        axes.text(column + 0.5, row + 0.71, f"{100 * share:.0f}%", size=SMALL, **how)
