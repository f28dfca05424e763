"""How a judge's labels are distributed: which way a model's user turns degenerate."""

from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch, PathPatch
from matplotlib.path import Path
from numpy.typing import NDArray

from judge.calibration.main_run.figures.absence import Absent
from judge.calibration.main_run.figures.canvas import SMALL, Drawn
from judge.calibration.main_run.figures.families import plain_cells, shown_models
from judge.calibration.main_run.figures.file_stem import file_stem
from judge.calibration.main_run.figures.gap_notes import (
    at_temperature,
    gap_notes,
    unjudged_note,
)
from judge.calibration.main_run.figures.lettering import distinct, shown_dataset
from judge.calibration.main_run.figures.palette import NO_LABEL, Fill, fills
from judge.calibration.main_run.figures.percent_axis import MOST_PERCENT, percent_axis
from judge.calibration.main_run.figures.row_chart import Row, row_chart
from judge.calibration.main_run.figures.sheet import Heading
from judge.calibration.main_run.main_run import CellRate, MainRun
from judge.calibration.rates.rate import Rate

_HALF = 0.4  # of a row, half a bar's height
_NAME = 1.7  # inches, of a category in the key
_HATCH = "#00000088"


def label_figures(run: MainRun) -> Iterator[Drawn | Absent]:
    """One per setting and data set."""
    groups = plain_cells(run).items()
    for key, found in groupby(groups, lambda of: (of[0].setting, of[0].dataset)):
        yield _figure(run, *key, [of for _, cells in found for of in cells])


def _figure(run: MainRun, setting: str, dataset: str, cells: Sequence[CellRate]) -> Drawn | Absent:
    name, shown = file_stem("labels", setting, dataset), shown_models(run)
    gaps = gap_notes(
        (of.gap, shown[of.cell.model or ""], at_temperature(of.cell)) for of in cells if of.gap
    )
    if all(of.rate is None for of in cells):
        return Absent(name, "; ".join(gaps))
    heading = Heading(
        f"Labels of the user turns by model and temperature, {setting}, {shown_dataset(dataset)}",
        "as judged, not corrected for the judge's errors; turns: those judged",
    )
    names = distinct([of.name for of in run.rubric.categories], _NAME, SMALL)
    looks = dict(zip(names.values(), fills(len(names)), strict=True)) | {
        "unreadable verdict": NO_LABEL
    }
    chart = row_chart(
        heading,
        _rows(cells, shown),
        x_label="share of the judged turns (%)",
        told="turns",
        key={words: Patch(**_look(fill)) for words, fill in looks.items()},
        notes=[*gaps, *unjudged_note(cells)],
    )
    percent_axis(chart.axes, "x", MOST_PERCENT)
    there = [(y, of.rate) for y, of in zip(chart.places, cells, strict=True) if of.rate]
    _draw(
        chart.axes,
        np.array([y for y, _ in there]),
        np.array([_shares(rate) for _, rate in there]),
        list(looks.values()),
    )
    return Drawn(name, str(heading), chart.figure)


def _rows(cells: Sequence[CellRate], shown: dict[str, str]) -> list[Row]:
    rows, last = [], None
    for of in cells:
        model = of.cell.model or ""
        rows.append(
            Row(
                shown[model] if model != last else "",
                at_temperature(of.cell),
                f"{of.rate.turns:,}" if of.rate else "–",
                model != last,
                of.gap or "",
            )
        )
        last = model
    return rows


def _shares(rate: Rate) -> list[float]:
    """Of each label, then of verdicts that could not be read."""
    labels = [of.raw.value for of in rate.labels]
    return [*labels, max(0.0, 1 - sum(labels))]


def _draw(
    axes: Axes, places: NDArray[np.float64], shares: NDArray[np.float64], looks: Sequence[Fill]
) -> None:
    """`places` (R,) of the rows, `shares` (R, L) of the labels in each."""
    ends = 100 * np.cumsum(shares, axis=1)
    starts = ends - 100 * shares
    for label, fill in enumerate(looks):
        rows = shares[:, label] > 0
        low, high = places[rows] - _HALF, places[rows] + _HALF
        left, right = starts[rows, label], ends[rows, label]
        corners = [(left, low), (right, low), (right, high), (left, high)]
        bars = np.stack([np.stack(corner, axis=1) for corner in corners], axis=1)
        path = Path.make_compound_path_from_polys(bars)  # a hatch is costly for each path
        axes.add_patch(PathPatch(path, **_look(fill)))


def _look(fill: Fill) -> dict[str, object]:
    return {
        "facecolor": fill.colour,
        "edgecolor": _HATCH,
        "hatch": fill.hatch,
        "linewidth": 0.4,
    }
