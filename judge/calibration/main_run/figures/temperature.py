"""The genuine follow-up rate by temperature: latent behaviour shows above T = 0."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from matplotlib.axes import Axes

from judge.calibration.main_run.figures.absence import Absent
from judge.calibration.main_run.figures.canvas import NORMAL, Drawn
from judge.calibration.main_run.figures.families import (
    family_parts,
    plain_cells,
    shown_models,
    styles_of,
)
from judge.calibration.main_run.figures.file_stem import file_stem
from judge.calibration.main_run.figures.gap_notes import (
    at_temperature,
    gap_notes,
    unjudged_note,
)
from judge.calibration.main_run.figures.lettering import shown_dataset, width_of
from judge.calibration.main_run.figures.marks import (
    BAR,
    bars,
    line_look,
    mark,
    symbol,
)
from judge.calibration.main_run.figures.palette import Series
from judge.calibration.main_run.figures.panels import Panel, small_multiples
from judge.calibration.main_run.figures.percent_axis import (
    percent_axis,
    percent_limit,
    set_ticks,
)
from judge.calibration.main_run.figures.rate_point import (
    RatePoint,
    correction_text,
    hollow_key,
    rate_point,
)
from judge.calibration.main_run.figures.sheet import Heading
from judge.calibration.main_run.main_run import CellRate, MainRun

_LINE = 1.2  # points

_Curve = dict[float, RatePoint]


def temperature_figures(run: MainRun) -> Iterator[Drawn | Absent]:
    """One per setting and data set."""
    groups = plain_cells(run).items()
    for key, found in groupby(groups, lambda of: (of[0].setting, of[0].dataset)):
        yield _figure(run, *key, {group.model: cells for group, cells in found})


def _figure(
    run: MainRun, setting: str, dataset: str, cells: Mapping[str, list[CellRate]]
) -> Drawn | Absent:
    name, shown = file_stem("temperature", setting, dataset), shown_models(run)
    curves = {model: curve for model, found in cells.items() if (curve := _curve(found))}
    temperatures = sorted({at for curve in curves.values() for at in curve})
    if len(temperatures) < 2:
        return Absent(name, "a curve takes judged turns at two temperatures or more")
    gaps = [
        (of.gap or "no curve", shown[model], at_temperature(of.cell))
        for model, found in cells.items()
        for of in found
        if of.gap or of.cell.temperature is None
    ]
    points = [point for curve in curves.values() for point in curve.values()]
    heading = Heading(
        f"Genuine follow-up rate by temperature, {setting}, {shown_dataset(dataset)}",
        f"{correction_text(points)}; bands: 95% intervals",
    )
    parts = family_parts(run, curves)
    styles = styles_of(parts)
    figure, found = small_multiples(
        heading,
        [
            Panel(part.title, {shown[model]: symbol(styles[model], _LINE) for model in part.models})
            for part in parts
        ],
        x_label="temperature",
        y_label="follow-up rate (%)",
        key=hollow_key(points),
        notes=[*gap_notes(gaps), *unjudged_note(of for each in cells.values() for of in each)],
    )
    limit = percent_limit(point.most for point in points)
    for part, axes in zip(parts, found, strict=True):
        _temperature_axis(axes, temperatures)
        percent_axis(axes, "y", limit)
        for model in part.models:
            _draw(axes, curves[model], styles[model], temperatures)
    return Drawn(name, str(heading), figure)


def _curve(cells: Iterable[CellRate]) -> _Curve:
    return {
        of.cell.temperature: point
        for of in cells
        if of.cell.temperature is not None and (point := rate_point(of)) is not None
    }


def _temperature_axis(axes: Axes, temperatures: Sequence[float]) -> None:
    """With a tick at each temperature that has room for one."""
    first, last = temperatures[0], temperatures[-1]
    margin = 0.05 * (last - first)
    axes.set_xlim(first - margin, last + margin)
    width = axes.get_window_extent().width / axes.figure.dpi
    ticks: list[tuple[float, str]] = []
    free = -1.0
    for at in temperatures:
        label = f"{at:g}"
        place, half = width * (at - first) / (last - first), width_of(label, NORMAL) / 2
        if place - half > free:
            ticks.append((at, label))
            free = place + half + 0.06
    set_ticks(axes, "x", ticks)


def _draw(axes: Axes, curve: _Curve, style: Series, temperatures: Sequence[float]) -> None:
    """Neither line nor band crosses a temperature at which the model has no point."""
    for stretch in _stretches(curve, temperatures):
        values = [curve[at].value for at in stretch]
        axes.plot(stretch, values, **line_look(style, _LINE))
    with_interval = [at for at, point in curve.items() if point.low is not None]
    for stretch in _stretches(with_interval, temperatures):
        lows, highs = zip(*((curve[at].low, curve[at].high) for at in stretch), strict=True)
        if len(stretch) > 1:
            axes.fill_between(stretch, lows, highs, color=style.colour, alpha=0.12, linewidth=0.5)
        else:
            ends = ((stretch[0], lows[0]), (stretch[0], highs[0]))
            bars(axes, [ends], color=style.colour, linewidth=BAR)
    mark(axes, [(at, point.value, point.hollow) for at, point in curve.items()], style)


def _stretches(at: Collection[float], temperatures: Sequence[float]) -> Iterator[list[float]]:
    """Those of the temperatures, as often as they follow upon each other without a gap."""
    for there, stretch in groupby(temperatures, at.__contains__):
        if there:
            yield list(stretch)
