"""The genuine follow-up rate before and after an answer is perturbed: does the turn follow it?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from generation.perturbation import ASK, DROP_LAST, TRUNCATE, UNPERTURBED
from judge.calibration.main_run.figures.absence import Absent
from judge.calibration.main_run.figures.canvas import PALE, SMALL, Drawn
from judge.calibration.main_run.figures.families import family_of, in_order, shown_models
from judge.calibration.main_run.figures.file_stem import file_stem
from judge.calibration.main_run.figures.gap_notes import (
    at_temperature,
    gap_notes,
    unjudged_note,
)
from judge.calibration.main_run.figures.lettering import clean, fitted, shown_dataset
from judge.calibration.main_run.figures.marks import BAR, bars, mark, symbol
from judge.calibration.main_run.figures.palette import BLUE, ORANGE, Series
from judge.calibration.main_run.figures.percent_axis import percent_axis, percent_limit
from judge.calibration.main_run.figures.rate_point import (
    RatePoint,
    correction_text,
    hollow_key,
    rate_point,
)
from judge.calibration.main_run.figures.row_chart import Row, row_chart
from judge.calibration.main_run.figures.sheet import Heading
from judge.calibration.main_run.main_run import CellRate, MainRun

_BEFORE, _AFTER = Series(BLUE, "o", ()), Series(ORANGE, "D", ())
_WORDS = {
    TRUNCATE: "the answer cut to its beginning",
    DROP_LAST: "the end of the answer dropped",
    ASK: "a question put after the answer",
}
_AWAY = 0.19  # of a row, from its middle to either of its points
_PITCH, _NAME = 0.21, 1.5  # inches


@dataclass(frozen=True)
class _Pair:
    """A model's cell without and with the perturbation."""

    model: str
    plain: CellRate
    perturbed: CellRate

    @property
    def points(self) -> tuple[RatePoint | None, RatePoint | None]:
        return rate_point(self.plain), rate_point(self.perturbed)


def perturbation_figures(run: MainRun) -> Iterator[Drawn | Absent]:
    """One per setting, data set and perturbation."""
    found: dict[tuple[str, str, str], list[_Pair]] = {}
    for of in run.cells:
        if of.cell.perturbation != UNPERTURBED and not of.cell.condition:
            key = (of.cell.setting, of.cell.dataset, of.cell.perturbation)
            pair = _Pair(of.cell.model or "", run.unperturbed(of.cell), of)
            found.setdefault(key, []).append(pair)
    for key in sorted(found):
        yield _figure(run, *key, found[key])


def _figure(
    run: MainRun, setting: str, dataset: str, perturbation: str, pairs: list[_Pair]
) -> Drawn | Absent:
    name = file_stem("perturbation", setting, dataset, perturbation)
    order = in_order(run, {pair.model for pair in pairs})
    pairs = sorted(pairs, key=lambda of: (order.index(of.model), of.plain.cell.temperature or 0.0))
    points = [point for pair in pairs for point in pair.points if point is not None]
    notes = _gaps(pairs, shown_models(run))
    if not any(pair.points[1] for pair in pairs):
        return Absent(name, "; ".join(notes))
    temperatures = {at_temperature(pair.plain.cell) for pair in pairs}
    at = f" at {next(iter(temperatures))}" if len(temperatures) == 1 else ""
    short = fitted(clean(perturbation), _NAME, SMALL)
    what = _WORDS.get(perturbation, short)
    heading = Heading(
        f"Genuine follow-up rate{at} without and with {what}, {setting}, {shown_dataset(dataset)}",
        f"{correction_text(points)}; bars: 95% intervals; turns changed: the share that is not "
        "the same as the turn without it",
    )
    sides = {
        "without": symbol(_BEFORE, BAR, solid=True),
        f"with ({short})": symbol(_AFTER, BAR, solid=True),
    }
    chart = row_chart(
        heading,
        _rows(run, pairs, detailed=not at),
        x_label="follow-up rate (%)",
        told="turns changed",
        key=sides | hollow_key(points),
        notes=[
            *notes,
            *unjudged_note(of for pair in pairs for of in (pair.plain, pair.perturbed)),
        ],
        pitch=_PITCH,
    )
    percent_axis(chart.axes, "x", percent_limit(point.most for point in points))
    _draw(chart.axes, pairs, chart.places)
    return Drawn(name, str(heading), chart.figure)


def _rows(run: MainRun, pairs: Sequence[_Pair], *, detailed: bool) -> list[Row]:
    shown, rows, family = shown_models(run), [], None
    for pair in pairs:
        starts = family_of(run, pair.model) != family
        family = family_of(run, pair.model)
        changed = pair.perturbed.changed
        rows.append(
            Row(
                shown[pair.model],
                at_temperature(pair.plain.cell) if detailed else "",
                f"{100 * changed.share:.0f}%" if changed and changed.compared else "–",
                starts,
                "" if any(pair.points) else str(pair.perturbed.gap),
            )
        )
    return rows


def _gaps(pairs: Sequence[_Pair], shown: dict[str, str]) -> list[str]:
    return gap_notes(
        (of.gap, shown[pair.model], words)
        for pair in pairs
        for words, of in (("without", pair.plain), ("with", pair.perturbed))
        if of.gap
    )


def _draw(axes: Axes, pairs: Sequence[_Pair], places: Sequence[float]) -> None:
    rows = [(*pair.points, y) for pair, y in zip(pairs, places, strict=True)]
    joined = [
        ((before.value, y - _AWAY), (after.value, y + _AWAY))
        for before, after, y in rows
        if before and after
    ]
    bars(axes, joined, color=PALE, linewidth=1.6, zorder=1.5)
    for side, style, away in ((0, _BEFORE, -_AWAY), (1, _AFTER, _AWAY)):
        points = [(row[side], row[2] + away) for row in rows if row[side] is not None]
        ends = [((of.low, y), (of.high, y)) for of, y in points if of.low is not None]
        bars(axes, ends, color=style.colour, linewidth=BAR, zorder=2)
        mark(axes, [(of.value, y, of.hollow) for of, y in points], style)
