"""Two runs: the difference of their rates cell by cell, as judged and corrected."""

from collections import Counter
from collections.abc import Iterator, Sequence

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from generation.perturbation import UNPERTURBED
from judge.calibration.main_run.figures.absence import Absent
from judge.calibration.main_run.figures.canvas import INK, LARGE, SMALL, Drawn
from judge.calibration.main_run.figures.file_stem import file_stem
from judge.calibration.main_run.figures.gap_notes import at_temperature
from judge.calibration.main_run.figures.lettering import clean, distinct, shown_dataset
from judge.calibration.main_run.figures.marks import BAR, bars, mark, marker_look, symbol
from judge.calibration.main_run.figures.palette import BLUE, ORANGE, Series
from judge.calibration.main_run.figures.row_chart import Row, row_chart
from judge.calibration.main_run.figures.sheet import Heading, Key
from judge.calibration.main_run.figures.zero_axis import signed, signed_estimate, zero_axis
from judge.calibration.main_run.run_comparison import (
    FEWER,
    MORE,
    PAIRED,
    UNPAIRED,
    CellDifference,
    RunComparison,
)
from judge.calibration.main_run.statements.statement import ALPHA
from judge.calibration.main_run.tables.table import Estimate
from judge.plural import counted

NAME = "differences"
_MOST = 60  # rows of a figure that has several groups: about a page
_STEPS = (1, 2, 5, 10, 20, 50)  # points, between ticks
_RUN, _MODEL, _DETAIL, _GROUP = 2.5, 1.5, 1.2, 3.0  # inches
_PITCH, _AWAY = 0.21, 0.19  # inches; of a row, from its middle to either of its points
_JUDGED, _CORRECTED = Series(BLUE, "o", ()), Series(ORANGE, "D", ())

Groups = dict[tuple[str, str], Sequence[CellDifference]]  # by setting and data set


def difference_figures(comparison: RunComparison) -> Iterator[Drawn | Absent]:
    """One of all cells; where they are too many for a page, one per setting and data set."""
    groups = dict(comparison.groups)
    if len(comparison.differences) <= _MOST:
        yield _figure(comparison, NAME, groups)
    else:
        for key, cells in groups.items():
            yield _figure(comparison, file_stem(NAME, *key), {key: cells})


def _figure(comparison: RunComparison, name: str, groups: Groups) -> Drawn | Absent:
    cells = [of for found in groups.values() for of in found]
    judged, corrected = zip(*(of.estimates for of in cells), strict=True)
    if all(of.value is None for of in judged):
        reasons = "; ".join(dict.fromkeys(str(of.gap) for of in judged))
        return Absent(name, f"no cell has a difference: {reasons}")
    both = any(of.value is not None for of in corrected)
    heading = _heading(comparison, groups)
    chart = row_chart(
        heading,
        list(_rows(groups)),
        x_label="difference of the follow-up rate (percentage points)",
        told="judged [95% interval]",
        key=_key(both=both),
        notes=[*_notes(cells), *map(clean, comparison.absent)],
        pitch=_PITCH,
    )
    ends = [
        100 * end
        for of in (*judged, *corrected)
        for end in (of.value, of.low, of.high)
        if end is not None
    ]
    zero_axis(chart.axes, ends, _STEPS, 0)
    hollow = [of.verdict not in (MORE, FEWER) for of in cells]
    away = _AWAY if both else 0.0
    for estimates, style, to in ((judged, _JUDGED, -away), (corrected, _CORRECTED, away)):
        places = [y + to for y in chart.places]
        _draw(chart.axes, list(zip(estimates, places, hollow, strict=True)), style)
    return Drawn(name, str(heading), chart.figure)


def _heading(comparison: RunComparison, groups: Groups) -> Heading:
    """What all rows have in common is said here, and not in them."""
    runs = distinct((comparison.base, comparison.other), _RUN, LARGE)
    title = (
        f"Difference of the genuine follow-up rate: {runs[comparison.other]} less "
        f"{runs[comparison.base]}, percentage points"
    )
    if len(groups) == 1:
        ((setting, dataset),) = groups
        title += f", {setting}, {shown_dataset(dataset)}"
    cells = [of for found in groups.values() for of in found]
    models = list({of.model for of in cells})
    tests = comparison.tests
    parts = [
        f"model {clean(models[0])}" if len(models) == 1 else "",
        "bars: 95% intervals, each for one test",
        f"differs: p below {ALPHA:g} after Holm's correction over {counted(tests, 'cell')}"
        if tests
        else "no cell has a test",
    ]
    hows = {of.paired for of in cells if of.found}
    if len(hows) == 1:
        parts.append(_how(next(iter(hows))))
    return Heading(title, "; ".join(filter(None, parts)))


def _how(paired: bool) -> str:
    return f"{PAIRED} by conversation" if paired else f"{UNPAIRED}: two samples of conversations"


def _key(*, both: bool) -> Key:
    key = {"as judged": symbol(_JUDGED, BAR, solid=True)}
    if both:
        key["corrected, if the judge errs alike in both runs"] = symbol(_CORRECTED, BAR, solid=True)
    for words, hollow in (("differs", False), ("the data do not decide", True)):
        key[words] = Line2D([], [], lw=0, **marker_look(Series(INK, "o", ()), hollow=hollow))
    return key


def _rows(groups: Groups) -> Iterator[Row]:
    cells = [of for found in groups.values() for of in found]
    models = distinct((of.model for of in cells), _MODEL, SMALL)
    details = distinct(map(_detail, cells), _DETAIL, SMALL)
    headed = distinct((f"{dataset}, {setting}" for setting, dataset in groups), _GROUP, SMALL)
    for (setting, dataset), found in groups.items():
        last = None
        for number, of in enumerate(found):
            new = len(models) > 1 and of.model != last
            last = of.model
            judged, _ = of.estimates
            yield Row(
                models[of.model] if new else "",
                details[_detail(of)],
                _told(judged),
                starts=new or not number,
                gap=clean(str(judged.gap)) if judged.value is None else "",
                over=headed[f"{dataset}, {setting}"] if len(groups) > 1 and not number else "",
            )


def _detail(of: CellDifference) -> str:
    changed = of.cell.perturbation if of.cell.perturbation != UNPERTURBED else None
    return ", ".join(filter(None, (changed, of.cell.condition, at_temperature(of.cell))))


def _told(of: Estimate) -> str:
    if of.value is None:
        return "–"
    if of.low is None or of.high is None:
        return f"{signed(100 * of.value, 1)}, one conversation"
    return signed_estimate(100 * of.value, 100 * of.low, 100 * of.high, 1)


def _notes(cells: Sequence[CellDifference]) -> Iterator[str]:
    hows = Counter(of.paired for of in cells if of.found)
    if len(hows) > 1:
        yield "; ".join(f"{_how(paired)}, {counted(n, 'cell')}" for paired, n in hows.items())
    estimates = [of.estimates for of in cells if of.found]
    reasons = Counter(str(of.gap) for _, of in estimates if of.value is None)
    for reason, n in reasons.items():
        yield clean(reason) + (f" ({counted(n, 'cell')})" if n < len(estimates) else "")


def _draw(axes: Axes, rows: Sequence[tuple[Estimate, float, bool]], style: Series) -> None:
    """Of (estimate, its y, whether it is hollow)."""
    there = [(of, y, hollow) for of, y, hollow in rows if of.value is not None]
    ends = [
        ((100 * of.low, y), (100 * of.high, y))
        for of, y, _ in there
        if of.low is not None and of.high is not None
    ]
    bars(axes, ends, color=style.colour, linewidth=BAR, zorder=2)
    mark(axes, [(100 * of.value, y, hollow) for of, y, hollow in there], style)
