"""The rate of a cell as a figure draws it: corrected where it can be, else as the judge says."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from matplotlib.lines import Line2D

from judge.calibration.main_run.figures.canvas import INK
from judge.calibration.main_run.figures.marks import BAR, MARKER_SIZE
from judge.calibration.main_run.figures.sheet import Key
from judge.calibration.main_run.main_run import CellRate
from judge.calibration.main_run.tables.estimates import corrected_rate, judged_rate


@dataclass(frozen=True)
class RatePoint:
    """Percent, with the ends of the 95% interval, None where there is none."""

    value: float
    low: float | None
    high: float | None
    corrected: bool

    @property
    def hollow(self) -> bool:
        return not self.corrected or self.low is None

    @property
    def most(self) -> float:
        return self.value if self.high is None else self.high


def rate_point(of: CellRate) -> RatePoint | None:
    """None of a cell without a judged turn."""
    if of.rate is None:
        return None
    found = corrected_rate(of)
    corrected = found.value is not None
    if not corrected:
        found = judged_rate(of)
    if found.value is None:
        return None
    low, high = (None if end is None else 100 * end for end in (found.low, found.high))
    return RatePoint(100 * found.value, low, high, corrected)


def correction_text(points: Sequence[RatePoint]) -> str:
    """For a title."""
    if all(point.corrected for point in points):
        return "corrected for the judge's errors"
    if any(point.corrected for point in points):
        return "filled: corrected for the judge's errors"
    return "as judged, not corrected"


def hollow_key(points: Iterable[RatePoint]) -> Key:
    """What hollow symbols stand for, where there are any."""
    points, key = list(points), {}
    marker = {"color": INK, "marker": "o", "markersize": MARKER_SIZE, "linewidth": BAR}
    if any(not point.corrected for point in points):
        if any(point.corrected for point in points):
            key["corrected for the judge's errors"] = Line2D([], [], **marker)
        key["as judged, not corrected"] = Line2D([], [], **marker, markerfacecolor="white")
    if any(point.low is None for point in points):
        lone = marker | {"linewidth": 0}
        key["no interval (such as n = 1)"] = Line2D([], [], **lone, markerfacecolor="white")
    return key
