"""A table as CSV by RFC 4180, for machines: every number at full precision, shares from 0 to 1."""

import csv
import io
from collections.abc import Iterator

from judge.calibration.main_run.tables.table import Column, Estimate, Table, Value

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def as_csv(table: Table) -> str:
    """A head of keys, then one record per row; lines end with CR LF.

    An estimate has its value, `_low` and `_high` of its 95% interval where it can have one, and
    `_gap`, which says why one of them is empty. A text that a spreadsheet would take for a formula
    gets an apostrophe before it; JSON has it as it is.
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(key for column in table.columns for key in _keys(column))
    for row in table.rows:
        writer.writerow(
            cell
            for column, value in zip(table.columns, row, strict=True)
            for cell in _cells(column, value)
        )
    return out.getvalue()


def _keys(column: Column) -> Iterator[str]:
    yield column.key
    if column.holds_estimates:
        if column.interval:
            yield f"{column.key}_low"
            yield f"{column.key}_high"
        yield f"{column.key}_gap"


def _cells(column: Column, value: Value) -> Iterator[str]:
    if not isinstance(value, Estimate):
        yield _text(value) if isinstance(value, str) else str(value)
        return
    yield _number(value.value)
    if column.interval:
        yield _number(value.low)
        yield _number(value.high)
    yield _text(value.gap or "")


def _number(value: float | None) -> str:
    return "" if value is None else repr(float(value))


def _text(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text
