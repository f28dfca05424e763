"""The columns of a LaTeX table: the lines of each cell, and how many columns fit side by side."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from judge.calibration.main_run.tables.folded import folded
from judge.calibration.main_run.tables.latex_text import escaped, spelt
from judge.calibration.main_run.tables.shown import Shown, ShownTable
from judge.calibration.main_run.tables.table import Column, Kind

TEXT_WIDTH = 469.0  # points: 6.5 inches, that of letter paper with margins of one
APART = 6.0  # points between columns
DIGIT = 4.25  # points of a digit in Computer Modern, which is wide, at \footnotesize
SMALLER = 0.94  # of that at \scriptsize
NAMES = (40, 28, 20, 14)  # characters, after which names are folded: as late as the columns fit
HEADER = 9  # characters of a header's line, or as many as its longest word has, up to a name's
GAP = 9  # characters of a gap's line
_NARROW, _WIDE = frozenset("ijl.,:;'|!I ()[]"), frozenset("mwMW%@&<>+=")


@dataclass(frozen=True)
class Setting:
    """A column as it is set: the lines of its header, those of each row's cell, and its points."""

    header: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    width: float
    right: bool


def blocks(of: ShownTable) -> list[list[Setting]]:
    """All columns side by side, or else as many at a time as fit, those of names in each."""
    rows = [row for section in of.sections for row in section.rows]
    for name in NAMES:
        settings = [
            _setting(column, [row[at] for row in rows], name)
            for at, column in enumerate(of.columns)
        ]
        if _fits(settings):
            return [settings]
    return list(_parted(settings))


def _parted(settings: Sequence[Setting]) -> Iterator[list[Setting]]:
    names = [of for of in settings if not of.right]
    block = list(names)
    for of in settings:
        if not of.right:
            continue
        if len(block) > len(names) and not _fits([*block, of]):
            yield block
            block = list(names)
        block.append(of)
    yield block


def _fits(settings: Sequence[Setting]) -> bool:
    return sum(of.width + APART for of in settings) - APART <= TEXT_WIDTH


def _setting(column: Column, values: Sequence[Shown], name: int) -> Setting:
    right = column.kind is not Kind.TEXT
    words = max(map(len, spelt(column.header).split(" ")))
    header = folded(spelt(column.header), min(max(HEADER, words), NAMES[-1]))
    texts = [folded(spelt(of.text), GAP if of.gap else name) for of in values]
    width = max(map(points, [*header, *(line for lines in texts for line in lines)]))
    below = max((SMALLER * points(of.interval) for of in values), default=0.0)
    return Setting(
        tuple(map(escaped, header)),
        tuple(_cell(of, lines, right) for of, lines in zip(values, texts, strict=True)),
        max(width, below),
        right,
    )


def _cell(of: Shown, lines: Sequence[str], right: bool) -> tuple[str, ...]:
    """The interval is below its value; a sign hangs out to the right, so that digits align."""
    said = [_number(line) if right and not of.gap else escaped(line) for line in lines]
    if of.sign:
        said[-1] += f"\\rlap{{\\textsuperscript{{{of.sign}}}}}"
    if of.interval:
        said.append(f"{{\\scriptsize {_number(of.interval)}}}")
    return tuple(said)


def _number(text: str) -> str:
    return escaped(text.replace("-", "−"))  # a minus, not a hyphen


def points(text: str) -> float:
    """About how wide a text is at \\footnotesize, rather too much than too little.

    >>> points("46.8"), round(points("WWW"), 3)
    (14.875, 20.4)
    """
    return DIGIT * sum(map(_digits, text))


def _digits(sign: str) -> float:
    if sign in _NARROW:
        return 0.5
    return 1.6 if sign in _WIDE or sign.isupper() else 1.0
