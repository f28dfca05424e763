"""The canonical export: one JSON object per line, from which an equal labels.db can be made.

The first line counts what follows. Every other line is one row of one table: its "type", and the
cells by the names of their columns. All is ASCII: no reader of lines finds an end of line in study
text.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from annotator.exchange.tables import EXPORTED, Table
from annotator.exchange.who import People, Who
from annotator.labels import open_labels
from generation.database import immediate
from generation.exchange.whole import made_whole
from generation.item import is_storable
from generation.study import Study
from generation.version import tool_version
from rubrics import InputError, canonical_json

FORMAT = 1
HEADER = "labels"
EXPECTED = "a file that annotate export --format jsonl has written"

Record = dict[str, Any]


def canonical_lines(database: Database, people: People) -> Iterator[str]:
    """The lines of the export, as of one moment."""
    with database.atomic():
        counts = {t.record: database[t.name].count for t in _tables(people.who)}
        yield _line(
            {
                "type": HEADER,
                "format": FORMAT,
                "made_by": f"followupeval {tool_version()}",
                "who": people.who.value,
                "records": {record: count for record, count in counts.items() if count},
            }
        )
        standing = {row[0] for row in database.conn.execute("SELECT event_id FROM standing_events")}
        for table in _tables(people.who):
            for row in database[table.name].rows_where(order_by=table.order):
                record = {"type": table.record} | _record(row, table, people)
                if table.name == "events":
                    record["stands"] = row["event_id"] in standing
                yield _line(record)


def write_jsonl(database: Database, path: Path, people: People) -> None:
    with path.open("w", encoding="ascii", newline="") as file:
        file.writelines(canonical_lines(database, people))


def import_jsonl(file: Path, labels: Path) -> dict[str, int]:
    """Make labels.db from a canonical export; returns how many records of each kind it has.

    Raises InputError, and leaves nothing, where labels.db is there already, or where the file is
    cut short, changed in a way that shows, or not such an export.
    """
    if labels.exists():
        raise InputError(
            f"{labels} exists already and is not overwritten; import into another study, then "
            f"bring both together: annotate import {file} --study OTHER; annotate merge "
            f"OTHER/labels.db{Study(labels.parent).option}"
        )
    if (log := Path(f"{labels}-wal")).exists():
        raise InputError(
            f"{log} is left of another labels.db, and SQLite would play it into the new one; move "
            "it away, then try again"
        )
    labels.parent.mkdir(parents=True, exist_ok=True)
    with (
        file.open("rb") as lines,
        made_whole(labels) as new,
        open_labels(new, create=True) as database,
        immediate(database),
    ):
        # Displays and events name each other.
        database.conn.execute("PRAGMA defer_foreign_keys = ON")
        counts = _fill(database, enumerate(lines, start=1), file.name)
        broken = database.conn.execute("PRAGMA foreign_key_check").fetchone()
        if broken:
            raise InputError(
                f"{file.name}: a row of {broken[0]} belongs to one of {broken[2]} that is not in "
                f"the file; expected {EXPECTED}"
            )
    return counts


def _fill(database: Database, lines: Iterator[tuple[int, bytes]], source: str) -> dict[str, int]:
    tables = {table.record: table for table in EXPORTED}
    columns = {t.record: set(database[t.name].columns_dict) for t in EXPORTED}
    expected = _header(next(lines, (1, b""))[1], source)
    counts: Counter[str] = Counter()
    standing: set[int] = set()
    for number, line in lines:
        where = f"{source}: line {number}"
        record = _parsed(line, where)
        table = tables.get(str(record.pop("type", None)))
        if table is None:
            raise InputError(f"{where}: no record of a known kind; expected {EXPECTED}")
        if table.name == "events" and record.pop("stands", None):
            standing.add(record.get("event_id"))
        row = _row(record, table)
        if row.keys() != columns[table.record]:
            wrong = ", ".join(sorted(row.keys() ^ columns[table.record]))
            raise InputError(
                f"{where}: {table.record} with other columns than this version has: {wrong}; "
                "import it with the followupeval that wrote it, then bring labels.db here"
            )
        _insert(database, table, row, where)
        counts[table.record] += 1
    if counts != expected:
        raise InputError(
            f"{source}: holds {_counted(counts)}, expected {_counted(expected)} as its first line "
            "says; it was cut short or changed: export it again"
        )
    found = {row[0] for row in database.conn.execute("SELECT event_id FROM standing_events")}
    if found != standing:
        raise InputError(
            f"{source}: other annotations stand than the file says; it was changed: export it again"
        )
    return dict(counts)


def _insert(database: Database, table: Table, row: Record, where: str) -> None:
    places = ", ".join(f":{name}" for name in row)
    try:
        database.conn.execute(f"INSERT INTO {table.name} ({', '.join(row)}) VALUES ({places})", row)
    except (sqlite3.IntegrityError, sqlite3.InterfaceError, sqlite3.ProgrammingError) as error:
        raise InputError(f"{where}: {table.record}: {error}; expected {EXPECTED}") from None


def _header(line: bytes, source: str) -> Mapping[str, int]:
    record = _parsed(line, f"{source}: line 1")
    if record.get("type") != HEADER or not isinstance(record.get("records"), dict):
        raise InputError(f"{source}: line 1 is no header; expected {EXPECTED}")
    if record.get("format") != FORMAT:
        raise InputError(
            f"{source}: format {record.get('format')!r}, expected {FORMAT}; "
            "upgrade: pip install -U followupeval"
        )
    return record["records"]


def _parsed(line: bytes, where: str) -> Record:
    try:
        record = json.loads(line, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not JSON ({error}); expected {EXPECTED}") from None
    if not isinstance(record, dict):
        raise InputError(f"{where}: {type(record).__name__}, expected an object")
    if not all(map(is_storable, _texts(record))):
        raise InputError(f"{where}: a NUL or a lone surrogate, which no store keeps")
    return record


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


def _record(row: Record, table: Table, people: People) -> Record:
    """A row for the export: JSON nested where that loses nothing, people as they are called."""
    record = dict(row)
    for column in table.people:
        record[column] = people.called(row[column])
    for column in table.json:
        value = json.loads(row[column])
        if isinstance(value, list | dict) and canonical_json(value) == row[column]:
            record[column] = value
    return record


def _row(record: Record, table: Table) -> Record:
    """The inverse of `_record`, but for the names."""
    nested = {c: canonical_json(v) for c in table.json if not isinstance(v := record.get(c), str)}
    return record | nested


def _tables(who: Who) -> tuple[Table, ...]:
    # The conflicts of a merge name people inside of a text.
    return tuple(t for t in EXPORTED if who is Who.NAMES or t.name != "merges")


def _line(record: Record) -> str:
    return json.dumps(record, allow_nan=False) + "\n"


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {record}" for record, count in sorted(counts.items())) or "nothing"
