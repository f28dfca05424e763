"""Points, the bars of their intervals, and lines between them."""

from collections.abc import Iterable

from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from judge.calibration.main_run.figures.canvas import INK
from judge.calibration.main_run.figures.palette import SOLID, Series, lightness

MARKER_SIZE = 4.8  # points
BAR = 0.9  # points, of an interval's line
_FAINT = 80  # lightness, above which a colour is faint on white

Place = tuple[float, float]  # (x, y)


def mark(axes: Axes, places: Iterable[tuple[float, float, bool]], style: Series) -> None:
    """Points of (x, y, whether it is hollow); whole, where they are at the edge of the axes."""
    places = list(places)
    for hollow in (False, True):
        found = [(x, y) for x, y, is_hollow in places if is_hollow == hollow]
        if found:
            look = marker_look(style, hollow=hollow)
            x, y = zip(*found, strict=True)
            axes.plot(x, y, linestyle="none", clip_on=False, zorder=3, **look)


def bars(axes: Axes, ends: Iterable[tuple[Place, Place]], **how: object) -> None:
    """Straight lines; `how` are properties of a collection of lines."""
    axes.add_collection(LineCollection(list(ends), **how), autolim=False)


def symbol(style: Series, width: float, *, solid: bool = False) -> Line2D:
    """For a legend, with a line of that width through it."""
    line = line_look(style, width) | ({"linestyle": SOLID} if solid else {})
    return Line2D([], [], **line, **marker_look(style, hollow=False))


def marker_look(style: Series, *, hollow: bool) -> dict[str, object]:
    """With a dark edge where it is filled or faint, so that it is seen."""
    dark = not hollow or lightness(style.colour) > _FAINT
    return {
        "marker": style.marker,
        "markersize": MARKER_SIZE,
        "markerfacecolor": "white" if hollow else style.colour,
        "markeredgecolor": INK if dark else style.colour,
        "markeredgewidth": 1.1 if hollow else 0.4,
    }


def line_look(style: Series, width: float) -> dict[str, object]:
    """With a dark rim where it would be faint."""
    faint = lightness(style.colour) > _FAINT
    rim = [withStroke(linewidth=width + 0.7, foreground=INK)] if faint else []
    return {
        "color": style.colour,
        "linestyle": style.line,
        "linewidth": width,
        "path_effects": rim,
    }
