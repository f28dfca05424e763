"""A table as people read it in any format: rounded, gaps short, long reasons as footnotes."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import groupby

from judge.calibration.main_run.tables.table import Column, Estimate, Kind, Table, Value
from judge.plain_text import visible

SHORT = 12  # characters of a gap that stands in its cell; of a longer one a footnote tells
NOTHING = "–"


@dataclass(frozen=True)
class Shown:
    """A value's text, its interval and the sign of its footnote, '' where it has none.

    A `gap` stands for a value that is not there.
    """

    text: str
    interval: str = ""
    sign: str = ""
    gap: bool = False


@dataclass(frozen=True)
class Footnote:
    sign: str
    reason: str


@dataclass(frozen=True)
class Section:
    """Rows that stand together, under what they have in common, '' where that is nothing."""

    heads: tuple[str, ...]
    rows: tuple[tuple[Shown, ...], ...]


@dataclass(frozen=True)
class ShownTable:
    """`heads` are the headers of the columns that rows stand together by, `columns` the others.

    `once` says of each column that is the same in all rows what it is. Every text is on one line.
    """

    title: str
    heads: tuple[str, ...]
    columns: tuple[Column, ...]
    sections: tuple[Section, ...]
    once: tuple[str, ...]
    footnotes: tuple[Footnote, ...]
    notes: tuple[str, ...]


def shown(table: Table, once: Collection[Kind] = ()) -> ShownTable:
    """What of a table is shown, and how, before any format escapes or aligns it.

    Columns of the kinds `once` are said once wherever they can be, to save room.
    """
    columns = [replace(of, header=one_line(of.header)) for of in table.columns]
    signs: dict[str, str] = {}
    places = range(len(columns))
    grouped = [at for at in places if columns[at].group]
    same = [
        at
        for at in places
        if (columns[at].once or columns[at].kind in once)
        and len({row[at] for row in table.rows}) == 1
    ]
    kept = [at for at in places if at not in grouped and at not in same]

    def texts(row: tuple[Value, ...], of: list[int]) -> tuple[Shown, ...]:
        return tuple(shown_value(row[at], columns[at], signs) for at in of)

    rows = [(tuple(of.text for of in texts(row, grouped)), row) for row in table.rows]
    sections = tuple(
        Section(heads, tuple(texts(row, kept) for _, row in found))
        for heads, found in groupby(rows, key=lambda row: row[0])
    )
    said = [(columns[at].header, f"{of.text}({of.sign})" if of.sign else of.text)
            for row in table.rows[:1]
            for at, of in zip(same, texts(row, same), strict=True)]  # fmt: skip
    return ShownTable(
        one_line(table.title),
        tuple(columns[at].header for at in grouped),
        tuple(columns[at] for at in kept),
        sections,
        tuple(f"{header} {text}" for header, text in said),
        tuple(Footnote(sign, one_line(reason)) for reason, sign in signs.items()),
        tuple(map(one_line, table.notes)),
    )


def shown_value(value: Value, column: Column, signs: dict[str, str]) -> Shown:
    """One value; a reason too long for its cell gets the next sign, or the one it has in `signs`.

    >>> shown_value(Estimate(0.5, 0.25, 0.75), Column("x", "x", Kind.SHARE), {})
    Shown(text='50.0', interval='25.0–75.0', sign='', gap=False)
    """
    if isinstance(value, str):
        return Shown(one_line(column.short.get(value, value)))
    if isinstance(value, int):
        return Shown(f"{value:,}")
    if value.value is None:
        gap = value.gap or ""
        if len(gap) <= SHORT:
            return Shown(one_line(gap), gap=True)
        return Shown(NOTHING, sign=_sign(gap, signs), gap=True)
    return Shown(
        _number(value.value, column.kind),
        # Of a kappa, which all rows have in common, a note tells the interval.
        _range(value, column.kind) if column.kind is Kind.SHARE else "",
        _sign(value.gap, signs) if value.gap else "",
    )


def one_line(text: str) -> str:
    r"""With everything spelt out that could not be seen or would end the line.

    >>> one_line("a\nb\u202e")
    'a<U+000A>b<U+202E>'
    """
    return visible(text).replace("\n", "<U+000A>")


def _sign(reason: str, signs: dict[str, str]) -> str:
    return signs.setdefault(reason, letters(len(signs)))


def letters(number: int) -> str:
    """A footnote's sign.

    >>> [letters(n) for n in (0, 25, 26, 27)]
    ['a', 'z', 'aa', 'ab']
    """
    return (letters(number // 26 - 1) if number >= 26 else "") + chr(ord("a") + number % 26)


def _number(value: float, kind: Kind) -> str:
    """Percent with one decimal, other numbers with two; no -0."""
    if kind is Kind.SHARE:
        return f"{round(100 * value, 1) + 0.0:.1f}"
    return f"{round(value, 2) + 0.0:.2f}"


def _range(found: Estimate, kind: Kind) -> str:
    if found.low is None or found.high is None:
        return ""
    to = " to " if found.low < 0 else "–"
    return f"{_number(found.low, kind)}{to}{_number(found.high, kind)}"
