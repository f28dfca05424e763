"""Other judges against the run's own: a forest of differences of kappa with people."""

from collections.abc import Iterator, Sequence

from matplotlib.lines import Line2D

from annotator.measures.estimate import Estimate
from judge.calibration.comparison.difference import Difference
from judge.calibration.main_run.figures.absence import Absent
from judge.calibration.main_run.figures.canvas import SMALL, Drawn
from judge.calibration.main_run.figures.lettering import clean, distinct
from judge.calibration.main_run.figures.marks import BAR, MARKER_SIZE, bars, mark
from judge.calibration.main_run.figures.palette import BLUE, Series
from judge.calibration.main_run.figures.row_chart import Row, row_chart
from judge.calibration.main_run.figures.sheet import Heading
from judge.calibration.main_run.figures.zero_axis import signed_estimate, zero_axis

NAME = "judges"
_STEPS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)  # between ticks
_PLACES = 2
_WIDE, _PITCH = 2.6, 0.19  # inches
_LOOK = Series(BLUE, "s", ())


def judge_figures(rows: Sequence[tuple[str, Difference]]) -> Iterator[Drawn | Absent]:
    """One, of the rows of `comparison.text.forest_rows`; absent where there are none."""
    if any(difference.estimate.value is not None for _, difference in rows):
        yield _figure(rows)
    elif rows:
        yield Absent(NAME, "no difference of kappa has a value")
    else:
        yield Absent(NAME, "no other judge is compared")


def _figure(rows: Sequence[tuple[str, Difference]]) -> Drawn:
    heading = Heading(
        "Difference of kappa with people: another judge's less this judge's",
        "above 0 the other agrees better with people; bars: 95% intervals",
    )
    shown = distinct((name for name, _ in rows), _WIDE, SMALL)
    estimates = [(shown[name], difference.estimate) for name, difference in rows]
    hollow = Line2D([], [], color=BLUE, marker="s", markersize=MARKER_SIZE, mfc="white", lw=0)
    lone = any(of.value is not None and of.interval.low is None for _, of in estimates)
    chart = row_chart(
        heading,
        [
            Row(name, told=_told(of), gap="undefined" if of.value is None else "")
            for name, of in estimates
        ],
        x_label="difference of kappa",
        told="difference [95% interval]",
        key={"no interval": hollow} if lone else {},
        notes=[
            f"{name}: undefined, {clean(of.undefined or '')}"
            for name, of in estimates
            if of.value is None
        ],
        pitch=_PITCH,
    )
    drawn = [
        (of.value, of.interval, y)
        for (_, of), y in zip(estimates, chart.places, strict=True)
        if of.value is not None
    ]
    reach = [end for value, of, _ in drawn for end in (value, of.low, of.high) if end is not None]
    zero_axis(chart.axes, reach, _STEPS, _PLACES)
    ends = [((of.low, y), (of.high, y)) for _, of, y in drawn if of.low is not None]
    bars(chart.axes, ends, color=BLUE, linewidth=BAR)
    mark(chart.axes, [(value, y, of.low is None) for value, of, y in drawn], _LOOK)
    return Drawn(NAME, str(heading), chart.figure)


def _told(of: Estimate) -> str:
    if of.value is None:
        return "–"
    return signed_estimate(of.value, of.interval.low, of.interval.high, _PLACES)
