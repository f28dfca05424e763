"""A page for a figure: title, key and notes around the plots, all laid out in inches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from judge.calibration.main_run.figures.canvas import INK, LARGE, NORMAL, SMALL, new_figure
from judge.calibration.main_run.figures.lettering import LINE, widest, wrapped

WIDTH = 7.2  # inches, of a paper's two columns
MARGIN = 0.12  # inches, around everything
HANDLE = 0.42  # inches, of a legend's symbol and the gap after it
_GAP = 0.09  # inches, between title, key, plots and notes
_BETWEEN = 0.2  # inches, between a legend's columns
_ROW = 1.6  # of a legend, in sizes of its font
_GREY = "#555555"

Key = Mapping[str, Artist]  # symbols by what they stand for, in order


@dataclass(frozen=True)
class Sheet:
    """A page with room for plots; `top` is where the room begins, in inches from the upper edge."""

    figure: Figure
    width: float
    height: float
    top: float

    def axes(self, left: float, top: float, width: float, height: float) -> Axes:
        """Axes in the room, `top` inches below its beginning."""
        bottom = self.height - self.top - top - height
        return self.figure.add_axes(
            (left / self.width, bottom / self.height, width / self.width, height / self.height)
        )

    def text(self, left: float, top: float, words: str, size: float, **how: object) -> None:
        """One line, its upper left corner in the room."""
        placed = {"va": "top", "transform": self.figure.dpi_scale_trans} | how
        self.figure.text(left, self.height - self.top - top, words, size=size, **placed)

    def legend(self, left: float, top: float, key: Key, columns: int = 1) -> None:
        """Its upper left corner in the room."""
        self.figure.legend(
            list(key.values()),
            list(key),
            loc="upper left",
            bbox_to_anchor=(left, self.height - self.top - top),
            bbox_transform=self.figure.dpi_scale_trans,
            ncols=columns,
            frameon=False,
            borderpad=0,
            borderaxespad=0,
            handlelength=(HANDLE - 0.07) * 72 / SMALL,
            handletextpad=0.07 * 72 / SMALL,
            columnspacing=_BETWEEN * 72 / SMALL,
            labelspacing=0.45,
        )


@dataclass(frozen=True)
class Heading:
    """What a figure shows, and below it how that was found."""

    title: str
    detail: str

    def __str__(self) -> str:
        return f"{self.title} ({self.detail})"


def sheet(
    heading: Heading, room: float, *, width: float = WIDTH, key: Key, notes: Sequence[str]
) -> Sheet:
    """A page as high as its heading, its key, `room` inches for plots and its notes need."""
    inner = width - 2 * MARGIN
    title = wrapped(heading.title, inner, LARGE)
    detail = wrapped(heading.detail, inner, NORMAL)
    note_lines = [line for note in notes for line in wrapped(note, inner, SMALL)]
    columns = legend_columns(key, inner)
    key_height = legend_height(len(key), columns) + _GAP if key else 0.0
    top = MARGIN + (len(title) * LARGE + len(detail) * NORMAL) * LINE + _GAP + key_height
    foot = len(note_lines) * SMALL * LINE + (_GAP if note_lines else 0.0)
    height = top + room + foot + MARGIN
    page = Sheet(new_figure(width, height), width, height, top)
    _lines(page, MARGIN - top, title, LARGE, INK)
    _lines(page, MARGIN - top + len(title) * LARGE * LINE, detail, NORMAL, _GREY)
    if key:
        page.legend(MARGIN, -key_height, key, columns)
    _lines(page, room + _GAP, note_lines, SMALL, _GREY)
    return page


def legend_height(entries: int, columns: int = 1) -> float:
    """In inches."""
    return ceil(entries / columns) * _ROW * SMALL / 72


def legend_columns(key: Key, inches: float) -> int:
    """As many as there is room for."""
    each = HANDLE + widest(key, SMALL) + _BETWEEN
    return max(1, min(len(key), int((inches + _BETWEEN) / each)))


def _lines(page: Sheet, top: float, lines: Sequence[str], size: float, colour: str) -> None:
    for number, line in enumerate(lines):
        page.text(MARGIN, top + number * size * LINE, line, size, color=colour)
