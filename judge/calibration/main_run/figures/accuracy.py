"""Task accuracy against the genuine follow-up rate: do models that answer well react well?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from generation.plan.plan import SELF_GENERATED
from judge.calibration.main_run.figures.absence import Absent
from judge.calibration.main_run.figures.canvas import PALE, Drawn
from judge.calibration.main_run.figures.families import (
    FamilyPart,
    family_parts,
    shown_models,
    styles_of,
)
from judge.calibration.main_run.figures.file_stem import file_stem
from judge.calibration.main_run.figures.gap_notes import (
    at_temperature,
    gap_notes,
    unjudged_note,
)
from judge.calibration.main_run.figures.lettering import shown_dataset
from judge.calibration.main_run.figures.marks import BAR, bars, mark, symbol
from judge.calibration.main_run.figures.palette import Series
from judge.calibration.main_run.figures.panels import Panel, small_multiples
from judge.calibration.main_run.figures.percent_axis import (
    MOST_PERCENT,
    percent_axis,
    percent_limit,
)
from judge.calibration.main_run.figures.rate_point import (
    RatePoint,
    correction_text,
    hollow_key,
    rate_point,
)
from judge.calibration.main_run.figures.sheet import Heading
from judge.calibration.main_run.main_run import Accuracy, CellRate, MainRun

_OTHERS = {"color": PALE, "marker": "o", "markersize": 2.5}
_JOINED = {"color": "#888888", "linewidth": 0.7}


@dataclass(frozen=True)
class _Place:
    """A model's accuracy in percent with its interval, and its rate."""

    accuracy: float
    low: float
    high: float
    rate: RatePoint


def accuracy_figures(run: MainRun) -> Iterator[Drawn | Absent]:
    """One per data set that models answered themselves."""
    for dataset in dict.fromkeys(of.dataset for of in run.groups if of.setting == SELF_GENERATED):
        yield _figure(run, dataset)


def _figure(run: MainRun, dataset: str) -> Drawn | Absent:
    name = file_stem("accuracy", dataset)
    cells, shown = _lowest(run, dataset), shown_models(run)
    places, gaps = {}, []
    for model, of in cells.items():
        place = _place(of, run.accuracy(model, dataset))
        if place is None:
            gaps.append((of.gap or "accuracy not known", shown[model] or "no model", ""))
        else:
            places[model] = place
    if not places:
        return Absent(name, "; ".join(gap_notes(gaps)))
    points = [place.rate for place in places.values()]
    lowest = at_temperature(next(iter(cells.values())).cell)
    heading = Heading(
        f"Genuine follow-up rate at {lowest} against task accuracy, {shown_dataset(dataset)}",
        f"{correction_text(points)}; bars: 95% intervals",
    )
    parts = family_parts(run, places)
    styles = styles_of(parts)
    figure, found = small_multiples(
        heading,
        [_panel(part, shown, styles) for part in parts],
        x_label="task accuracy (%)",
        y_label="follow-up rate (%)",
        key=_key(parts) | hollow_key(points),
        notes=[*gap_notes(gaps), *unjudged_note(cells.values())],
    )
    limit = percent_limit(point.most for point in points)
    for part, axes in zip(parts, found, strict=True):
        percent_axis(axes, "x", MOST_PERCENT)
        percent_axis(axes, "y", limit)
        _background(axes, [places[model] for model in places if model not in part.models])
        _joined(axes, [places[m] for m in part.models if run.models[m].parameters is not None])
        _draw(axes, [(places[model], styles[model]) for model in part.models])
    return Drawn(name, str(heading), figure)


def _panel(part: FamilyPart, shown: Mapping[str, str], styles: Mapping[str, Series]) -> Panel:
    symbols = {model: symbol(styles[model], BAR, solid=True) for model in part.models}
    return Panel(part.title, {shown[model]: found for model, found in symbols.items()})


def _key(parts: Sequence[FamilyPart]) -> dict[str, Line2D]:
    key = {}
    if any(len(part.models) > 1 for part in parts):
        key["models joined in order of size"] = Line2D([], [], **_JOINED)
    if len(parts) > 1:
        key["models of the other panels"] = Line2D([], [], linestyle="none", **_OTHERS)
    return key


def _lowest(run: MainRun, dataset: str) -> dict[str, CellRate]:
    """Each model's cell at the lowest temperature that the data set has."""
    cells = [
        of for of in run.plain if (of.cell.setting, of.cell.dataset) == (SELF_GENERATED, dataset)
    ]
    told = [of.cell.temperature for of in cells if of.cell.temperature is not None]
    lowest = min(told, default=None)
    gap = "no turns at the temperature of the others"
    elsewhere = [CellRate(replace(of.cell, temperature=lowest), None, 0, gap) for of in cells]
    there = [of for of in cells if of.cell.temperature == lowest]
    return {of.cell.model or "": of for of in (*elsewhere, *there)}


def _place(of: CellRate, accuracy: Accuracy | None) -> _Place | None:
    rate = rate_point(of)
    if rate is None or accuracy is None or accuracy.value is None:
        return None
    ends = accuracy.interval.low or 0.0, accuracy.interval.high or 1.0
    return _Place(100 * accuracy.value, 100 * ends[0], 100 * ends[1], rate)


def _background(axes: Axes, places: Sequence[_Place]) -> None:
    x, y = [of.accuracy for of in places], [of.rate.value for of in places]
    axes.plot(x, y, linestyle="none", clip_on=False, zorder=1.5, **_OTHERS)


def _joined(axes: Axes, places: Sequence[_Place]) -> None:
    """In order of size."""
    x, y = [of.accuracy for of in places], [of.rate.value for of in places]
    axes.plot(x, y, zorder=2, **_JOINED)


def _draw(axes: Axes, found: Sequence[tuple[_Place, Series]]) -> None:
    """Points with both of their intervals."""
    across = [((of.low, of.rate.value), (of.high, of.rate.value)) for of, _ in found]
    upright = [
        ((of.accuracy, of.rate.low), (of.accuracy, of.rate.high))
        for of, _ in found
        if of.rate.low is not None
    ]
    colours = [style.colour for _, style in found]
    colours += [style.colour for of, style in found if of.rate.low is not None]
    bars(axes, across + upright, colors=colours, linewidth=BAR, alpha=0.5, zorder=2.2)
    for of, style in found:
        mark(axes, [(of.accuracy, of.rate.value, of.rate.hollow)], style)
