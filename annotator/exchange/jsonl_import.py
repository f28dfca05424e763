"""Import of the canonical export: every line checked, then all of it into a labels.db, or none."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from annotator.exchange.jsonl import FORMAT, HEADER, Record
from annotator.exchange.row_check import RowCheck
from annotator.exchange.tables import EXPORTED, Table
from annotator.labels import open_labels
from annotator.nearest import did_you_mean
from generation.database import immediate
from generation.exchange.whole import made_whole
from generation.item import is_storable
from generation.study import Study
from rubrics import InputError, canonical_json

TOLD = "annotator/exchange/README.md tells the format"
EXPECTED = f"a canonical export (.jsonl): {TOLD}"
_REFUSALS = (
    sqlite3.IntegrityError,
    sqlite3.InterfaceError,
    sqlite3.ProgrammingError,
    OverflowError,  # a number beyond 64 bits
)


def import_jsonl(file: Path, labels: Path) -> dict[str, int]:
    """Make labels.db from a canonical export; returns how many records of each kind it has.

    Raises InputError, and leaves nothing, where labels.db is there already, or where the file is
    cut short, changed in a way that shows, or not such an export.
    """
    with file.open("rb") as lines:
        numbered = enumerate(lines, start=1)
        first = next(numbered, (1, b""))[1]
        if not first.strip():
            raise InputError(f"{file.name}: line 1 is empty; expected {EXPECTED}")
        expected = _header(first, file.name)
        _refuse_existing(labels, file)
        labels.parent.mkdir(parents=True, exist_ok=True)
        with (
            made_whole(labels) as new,
            open_labels(new, create=True) as database,
            immediate(database),
        ):
            # Displays and events name each other.
            database.conn.execute("PRAGMA defer_foreign_keys = ON")
            check = RowCheck(database, Study(labels.parent))
            counts, stands = _fill(database, numbered, file.name, check)
            _check_counts(counts, expected, file.name)
            _check_whole(database, stands, file.name)
    return counts


def _refuse_existing(labels: Path, file: Path) -> None:
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


def _fill(
    database: Database, lines: Iterator[tuple[int, bytes]], source: str, check: RowCheck
) -> tuple[dict[str, int], dict[int, bool]]:
    """Store every line; returns how many of each kind, and which events the file says stand."""
    tables = {table.record: table for table in EXPORTED}
    counts: Counter[str] = Counter()
    stands: dict[int, bool] = {}
    for number, line in lines:
        if not line.strip():
            continue
        where = f"{source}: line {number}"
        record = _parsed(line, where)
        kind = str(record.pop("type", None))
        table = tables.get(kind)
        if table is None:
            raise InputError(
                f"{where}: the type is {kind!r:.80}; expected one of {', '.join(tables)}"
                f"{did_you_mean(kind, tables)}; {TOLD}"
            )
        said = record.pop("stands", None) if table.name == "events" else None
        try:
            row = check.checked(_row(record, table), table)
        except InputError as error:
            raise InputError(f"{where}: {kind}: {error}; {TOLD}") from None
        _insert(database, table, row, where)
        counts[kind] += 1
        if said is not None:
            stands[row["event_id"]] = bool(said)
    return dict(counts), stands


def _check_counts(counts: Mapping[str, int], expected: Mapping[str, int], source: str) -> None:
    wrong = [k for k in {**counts, **expected} if counts.get(k, 0) != expected.get(k, 0)]
    if wrong:
        found, said = ({kind: of.get(kind, 0) for kind in wrong} for of in (counts, expected))
        raise InputError(
            f"{source}: holds {_counted(found)}, expected {_counted(said)} as its first line "
            "says; it was cut short or changed: export it again, or count anew in its first line"
        )


def _check_whole(database: Database, stands: Mapping[int, bool], source: str) -> None:
    broken = database.conn.execute("PRAGMA foreign_key_check").fetchone()
    if broken:
        raise InputError(f"{source}: {_dangling(database, *broken)}; {TOLD}")
    found = {row[0] for row in database.conn.execute("SELECT event_id FROM standing_events")}
    wrong = [str(event) for event, said in stands.items() if said != (event in found)]
    if wrong:
        raise InputError(
            f"{source}: other annotations stand than the file says of event {', '.join(wrong):.80}"
            "; of what one person says of one item the latest saved_at stands: export it again, "
            "or leave stands out"
        )


def _dangling(database: Database, table: str, row: int | None, parent: str, key: int) -> str:
    """What a row names that is not in the file; the numbers are SQLite's."""
    told = f"one of {table} belongs to one of {parent} that is not in the file"
    if row is None:  # of a table without row ids
        return told
    keys = database.conn.execute(f"PRAGMA foreign_key_list({table})").fetchall()
    columns = [column for number, _, _, column, *_ in keys if number == key]
    found = database.conn.execute(
        f"SELECT {', '.join(columns)} FROM {table} WHERE rowid = ?", [row]
    ).fetchone()
    named = ", ".join(f"{c} {value!r:.80}" for c, value in zip(columns, found, strict=True))
    return f"{told}: {named}"


def _insert(database: Database, table: Table, row: Record, where: str) -> None:
    places = ", ".join(f":{name}" for name in row)
    try:
        database.conn.execute(f"INSERT INTO {table.name} ({', '.join(row)}) VALUES ({places})", row)
    except _REFUSALS as error:
        raise InputError(f"{where}: {table.record}: {error}; {TOLD}") from None


def _header(line: bytes, source: str) -> Mapping[str, int]:
    try:
        record = _parsed(line, f"{source}: line 1")
    except InputError as error:
        raise InputError(f"{error}; for a table of labels: calibrate agreement {source}") from None
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
        record = json.loads(line.decode("utf-8-sig"), parse_constant=_no_number)
    except UnicodeDecodeError as error:
        found = f"byte 0x{line[error.start]:02x}"
        raise InputError(
            f"{where}: not UTF-8 ({found}); unpack it or save it as UTF-8; expected {EXPECTED}"
        ) from None
    except RecursionError:
        raise InputError(f"{where}: nested too deep; expected {EXPECTED}") from None
    except ValueError as error:
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


def _row(record: Record, table: Table) -> Record:
    """The inverse of `_record`, but for the names."""
    nested = {c: v for c in table.json if not isinstance(v := record.get(c, ""), str)}
    return record | {column: canonical_json(value) for column, value in nested.items()}


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {record}" for record, count in sorted(counts.items()))
