"""A table for the terminal: at most 100 columns wide, intervals beside or below their values."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from rich.cells import cell_len

from judge.calibration.main_run.tables.folded import folded
from judge.calibration.main_run.tables.shown import Shown, ShownTable, one_line, shown
from judge.calibration.main_run.tables.table import Column, Kind, Table
from judge.plain_text import WIDTH

PAGE = 40  # lines, after which the headers are said again
LEAST = 12  # columns for a name that is folded; tighter layouts are tried before it gets less
GAP_WIDTH = 9  # of a gap's words below each other


@dataclass(frozen=True)
class Side:
    """A column set in type: the lines of each row's cell, and how wide it is.

    It may be folded to `least`; numbers may not.
    """

    header: str
    cells: tuple[tuple[str, ...], ...]
    width: int
    least: int
    right: bool


Setter = Callable[[Column, Sequence[Shown]], tuple[tuple[str, ...], ...]]


def as_text(table: Table) -> str:
    """The table with its notes; no control character, no line of more than 100 columns."""
    of = shown(table)
    blocks = list(_blocks(of))
    if len(blocks) > 1:
        of = shown(table, once=(Kind.COUNT, Kind.NUMBER))
        blocks = list(_blocks(of))
    lines = folded(of.title, WIDTH)
    if of.once:
        lines += folded(f"every row: {'; '.join(of.once)}", WIDTH)
    for sides, apart in blocks:
        lines += ["", *_block(of, sides, apart)]
    notes = (*(f"({of.sign}) {of.reason}" for of in of.footnotes), *of.notes)
    lines += ["", *_folded(notes)] if notes else []
    return "".join(f"{line.rstrip()}\n" for line in lines)


def tables_text(tables: Sequence[Table]) -> str:
    """One table after the other; the notes that all have in common stand once, at the end."""
    common = [
        note
        for note in (tables[0].notes if tables else ())
        if all(note in table.notes for table in tables)
    ]
    own = [
        replace(table, notes=tuple(note for note in table.notes if note not in common))
        for table in tables
    ]
    closing = "".join(f"{line.rstrip()}\n" for line in _folded(map(one_line, common)))
    return "\n".join([*map(as_text, own), *([f"all tables\n{closing}"] if common else [])])


def _folded(notes: Iterable[str]) -> list[str]:
    return [line for note in notes for line in folded(note, WIDTH)]


def _blocks(of: ShownTable) -> Iterator[tuple[list[Side], int]]:
    """Columns that fit side by side: all, as loosely as they do, or as many at a time as do."""
    rows = [row for section in of.sections for row in section.rows]
    for setter, apart in ((_beside, 2), (_beside, 1), (_below, 2), (_below, 1)):
        sides = [
            _side(column, [row[at] for row in rows], setter) for at, column in enumerate(of.columns)
        ]
        if fitting := _fitted(sides, apart):
            yield fitting, apart
            return
    names = [side for side in sides if not side.right]
    block = list(names)
    for side in (side for side in sides if side.right):
        if len(block) > len(names) and not _fitted([*block, side], apart):
            yield _fitted(block, apart) or block, apart
            block = list(names)
        block.append(side)
    yield _fitted(block, apart) or block, apart


def _fitted(sides: list[Side], apart: int) -> list[Side] | None:
    """The columns with the widest names folded until all fit; None where they cannot."""
    excess = sum(side.width for side in sides) + apart * (len(sides) - 1) - WIDTH
    while excess > 0:
        widest = max(range(len(sides)), key=lambda at: sides[at].width - sides[at].least)
        if sides[widest].width == sides[widest].least:
            return None
        narrower = replace(sides[widest], width=sides[widest].width - 1)
        sides = [*sides[:widest], narrower, *sides[widest + 1 :]]
        excess -= 1
    return sides


def _side(column: Column, values: Sequence[Shown], setter: Setter) -> Side:
    cells = setter(column, values)
    words = min(LEAST, max(map(cell_len, column.header.split()), default=0))
    width = max([words, *(cell_len(line) for cell in cells for line in cell)])
    right = column.kind is not Kind.TEXT
    return Side(column.header, cells, width, width if right else min(width, LEAST), right)


def _beside(column: Column, values: Sequence[Shown]) -> tuple[tuple[str, ...], ...]:
    """Value and interval on one line, each under its like."""
    if column.kind is Kind.TEXT:
        return tuple((of.text,) for of in values)
    found = [of for of in values if not of.gap]
    ends = max((len(_signed(of)) - len(of.text) for of in found), default=0)
    wide = max((len(of.text) for of in found), default=0)
    room = max((len(of.interval) for of in found), default=0)

    def line(of: Shown) -> str:
        if of.gap:
            return _signed(of)
        value = of.text.rjust(wide) + _signed(of).removeprefix(of.text).ljust(ends)
        interval = f"[{of.interval}]".rjust(room + 2) if of.interval else " " * (room + 2)
        return f"{value} {interval}" if room else value

    return tuple((line(of),) for of in values)


def _below(column: Column, values: Sequence[Shown]) -> tuple[tuple[str, ...], ...]:
    """The interval under its value."""
    if column.kind is Kind.TEXT:
        return tuple((of.text,) for of in values)
    return tuple(
        tuple(folded(_signed(of), GAP_WIDTH)) if of.gap
        else tuple(filter(None, (_signed(of), of.interval)))
        for of in values
    )  # fmt: skip


def _signed(of: Shown) -> str:
    return f"{of.text}({of.sign})" if of.sign else of.text


def _block(of: ShownTable, sides: list[Side], apart: int) -> Iterator[str]:
    """Headers, then section by section; the headers again after each page's worth of lines."""
    heading = [*_lines([folded(side.header, side.width) for side in sides], sides, apart)]
    heading.append("─" * (sum(side.width for side in sides) + apart * (len(sides) - 1)))
    yield from heading
    since, at = 0, 0
    for number, section in enumerate(of.sections):
        if number:
            yield ""
        if since > PAGE:
            yield from heading
            since = 0
        if of.heads:
            yield from folded(", ".join(section.heads), WIDTH)
        for row in range(at, at + len(section.rows)):
            cells = [
                side.cells[row]
                if side.right
                else [line for text in side.cells[row] for line in folded(text, side.width)]
                for side in sides
            ]
            lines = _lines(cells, sides, apart)
            yield from lines
            since += len(lines)
        at += len(section.rows)


def _lines(cells: Sequence[Sequence[str]], sides: list[Side], apart: int) -> list[str]:
    """The lines of one row."""
    return [
        (" " * apart).join(_padded(text, side) for text, side in zip(line, sides, strict=True))
        for line in zip_longest(*cells, fillvalue="")
    ]


def _padded(text: str, side: Side) -> str:
    blanks = " " * (side.width - cell_len(text))
    return blanks + text if side.right else text + blanks
