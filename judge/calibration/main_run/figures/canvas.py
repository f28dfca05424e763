"""A drawn figure and its files: the same bytes whenever and wherever they are written."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

SMALL, NORMAL, LARGE = 6.5, 7.5, 9.0  # points: legends and notes, axes, titles
FONT = "DejaVu Sans"  # comes with matplotlib
INK, PALE, RULE = "#222222", "#bbbbbb", "#e4e4e4"
_DPI = 200  # of the PNG
# No metadata that tell the time or the version: a file depends on what is drawn alone.
_WRITTEN: dict[str, dict[str, object]] = {
    "png": {"metadata": {"Software": None}, "pil_kwargs": {"compress_level": 1}},
    "svg": {"metadata": {"Date": None, "Creator": None}},
    "pdf": {"metadata": {"CreationDate": None, "Creator": None, "Producer": None}},
}
_OURS = {
    "axes.edgecolor": "#666666",
    "axes.labelcolor": INK,
    "axes.labelsize": NORMAL,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.family": [FONT],
    "font.size": NORMAL,
    "hatch.linewidth": 0.5,
    "legend.fontsize": SMALL,
    "pdf.fonttype": 42,  # TrueType, embedded: many journals refuse Type 3
    "svg.fonttype": "path",
    "svg.hashsalt": "followupeval",
    "text.color": INK,
    "text.parse_math": False,  # a model may be named $x_1$
    "xtick.color": "#666666",
    "xtick.labelcolor": INK,
    "xtick.labelsize": NORMAL,
    "xtick.major.size": 2.5,
    "xtick.major.width": 0.6,
    "ytick.color": "#666666",
    "ytick.labelcolor": INK,
    "ytick.labelsize": NORMAL,
    "ytick.major.size": 2.5,
    "ytick.major.width": 0.6,
}


@dataclass(frozen=True)
class Drawn:
    """A figure; `name` is its files' stem, `title` says what it shows."""

    name: str
    title: str
    figure: Figure


def drawing() -> AbstractContextManager[None]:
    """What figures are made and saved in: our settings, whatever the user's own are."""
    defaults = {
        key: value
        for key, value in matplotlib.rcParamsDefault.items()
        if not key.startswith("backend")
    }
    return matplotlib.rc_context({**defaults, **_OURS})


def new_figure(width: float, height: float) -> Figure:
    """Blank, in inches."""
    figure = Figure(figsize=(width, height), dpi=_DPI)
    FigureCanvasAgg(figure)
    return figure


def save(drawn: Drawn, folder: Path) -> tuple[Path, ...]:
    """Write NAME.png, NAME.svg and NAME.pdf to `folder`; raises OSError where that fails."""
    paths = tuple(folder / f"{drawn.name}.{ending}" for ending in _WRITTEN)
    with drawing():
        for path, how in zip(paths, _WRITTEN.values(), strict=True):
            drawn.figure.savefig(path, dpi=_DPI, **how)
    return paths
