"""This labels.db and the other one during a merge: their rows, and what was added so far."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlite_utils import Database

from annotator.exchange.merging.conflict import Conflict

Row = dict[str, Any]


@dataclass
class SideBySide:
    """Inside of a transaction on `here`. `there` is a copy, and `source` the other file's name.

    `added` counts rows by table; `kept` says in words what differs there and was not taken.
    """

    here: Database
    there: Database
    source: str
    added: Counter[str] = field(default_factory=Counter)
    conflicts: list[Conflict] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)

    def rows_here(self, table: str) -> Iterator[Row]:
        return self.here[table].rows

    def rows_there(self, table: str, order: str = "rowid") -> Iterator[Row]:
        return self.there[table].rows_where(order_by=order)

    def keys_here(self, table: str, key: Sequence[str]) -> set[tuple[Any, ...]]:
        return set(self.here.conn.execute(f"SELECT {', '.join(key)} FROM {table}"))

    def missing(self, table: str, key: Sequence[str], order: str = "rowid") -> list[Row]:
        """The rows of the other file whose key is not here."""
        known = self.keys_here(table, key)
        return [row for row in self.rows_there(table, order) if key_of(row, key) not in known]

    def append(self, table: str, row: Row, *, without: str | None = None) -> int:
        """Add a row; `without` a column, it gets a number of our own, which is returned."""
        names = [name for name in row if name != without]
        places = ", ".join(f":{name}" for name in names)
        self.added[table] += 1
        return self.here.conn.execute(
            f"INSERT INTO {table} ({', '.join(names)}) VALUES ({places})", row
        ).lastrowid

    def append_unknown(self, table: str, rows: list[Row], *, without: str, time: str) -> None:
        """Add, in order of `time`, the rows that have no equal here but for one column."""
        known = {content_of(row, without) for row in self.rows_here(table)}
        for row in sorted(rows, key=lambda row: (row[time], row[without])):
            if content_of(row, without) not in known:
                self.append(table, row, without=without)


def key_of(row: Row, key: Sequence[str]) -> tuple[Any, ...]:
    return tuple(row[name] for name in key)


def content_of(row: Row, without: str) -> tuple[Any, ...]:
    return tuple(value for name, value in row.items() if name != without)
