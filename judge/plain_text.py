"""Plain text that fits 100 columns and cannot act on a terminal, whatever a study holds."""

import io
from collections.abc import Iterable

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from annotator.verbatim import is_invisible
from judge.plural import counted

WIDTH = 100  # columns, on a terminal or piped, so that a saved report reads the same
TEXT_LIMIT = 600  # characters shown of a text; a disagreement is understood from its beginning


def visible(text: str) -> str:
    """`text` with everything that a terminal might obey or hide spelt out; line feeds stay.

    >>> visible("a\\x1b[31m\\u202eb")
    'a<U+001B>[31m<U+202E>b'
    """
    return "".join(f"<U+{ord(c):04X}>" if is_invisible(c) or c == "\t" else c for c in text)


def shortened(text: str) -> str:
    """The beginning of a text, and how many characters are left out.

    >>> shortened("a" * 602).lstrip("a")
    ' … (2 more characters)'
    """
    left = len(text) - TEXT_LIMIT
    return text if left <= 0 else f"{text[:TEXT_LIMIT]} … ({counted(left, 'more character')})"


def new_table(*headers: str) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    for header in headers:
        table.add_column(cell(header))
    return table


def cell(value: str) -> Text:
    # Text, not str: rich would read "[red]" in a str as markup.
    return Text(visible(value))


def cells(*values: str) -> tuple[Text, ...]:
    return tuple(map(cell, values))


def rendered(table: Table) -> str:
    console = Console(file=io.StringIO(), width=WIDTH, color_system=None, force_terminal=False)
    with console.capture() as captured:
        console.print(table)
    lines = (line.rstrip() for line in captured.get().split("\n"))
    return "\n".join(lines).strip("\n") + "\n"


def wrapped(lines: Iterable[str]) -> str:
    """One paragraph per line, wrapped to the width."""
    grid = Table.grid()
    for line in lines:
        grid.add_row(cell(line))
    return rendered(grid) if grid.rows else ""
