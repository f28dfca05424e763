"""A table for GitHub and other readers of Markdown with tables."""

import re
from collections.abc import Iterator, Sequence

from rich.cells import cell_len

from judge.calibration.main_run.tables.shown import Shown, one_line, shown
from judge.calibration.main_run.tables.table import Kind, Table

# What Markdown or GitHub takes for a sign of its own; of underscores those at a word's end.
_SIGNS = re.compile(r"[\\`*{}\[\]<>|~#$&!@]|(?<![^\W_])_|_(?![^\W_])")


def as_markdown(table: Table) -> str:
    """A heading, the table, footnotes and notes; what rows have in common stands in columns."""
    of = shown(table)
    headers = [*of.heads, *(column.header for column in of.columns)]
    right = [False] * len(of.heads) + [column.kind is not Kind.TEXT for column in of.columns]
    rows = [
        [*map(escaped, section.heads), *map(_cell, row)]
        for section in of.sections
        for row in section.rows
    ]
    once = [f"Every row: {escaped('; '.join(of.once))}.", ""] if of.once else []
    notes = [f"- <sup>{note.sign}</sup> {escaped(note.reason)}" for note in of.footnotes]
    notes += [f"- {escaped(note)}" for note in of.notes]
    lines = [
        f"### {escaped(of.title)}",
        "",
        *once,
        *_lines(list(map(escaped, headers)), rows, right),
    ]
    return "\n".join([*lines, "", *notes]) + "\n"


def escaped(text: str) -> str:
    """Text that reads as it is, on one line.

    >>> escaped("a|b <i> gpqa_diamond _x_")
    'a\\\\|b \\\\<i\\\\> gpqa_diamond \\\\_x\\\\_'
    """
    return _SIGNS.sub(r"\\\g<0>", one_line(text))


def _cell(of: Shown) -> str:
    sign = f"<sup>{of.sign}</sup>" if of.sign else ""
    interval = f" \\[{of.interval}\\]" if of.interval else ""
    return f"{escaped(of.text)}{sign}{interval}"


def _lines(headers: list[str], rows: list[list[str]], right: Sequence[bool]) -> Iterator[str]:
    """Padded, so that the source reads well too."""
    widths = [max(3, *map(cell_len, column)) for column in zip(headers, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        padded = [
            " " * (width - cell_len(cell)) + cell
            if to_right
            else cell + " " * (width - cell_len(cell))
            for cell, width, to_right in zip(cells, widths, right, strict=True)
        ]
        return f"| {' | '.join(padded)} |"

    yield line(headers)
    yield line(["-" * (w - 1) + (":" if r else "-") for w, r in zip(widths, right, strict=True)])
    yield from map(line, rows)
