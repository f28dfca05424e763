"""The canonical export: one JSON object per line, from which an equal labels.db can be made.

The first line counts what follows. Every other line is one row of one table: its "type", and the
cells by the names of their columns. All that is written is ASCII: no reader of lines finds an end
of line in study text. README.md beside this file tells the format to people.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from annotator.exchange.tables import EXPORTED, Table
from annotator.exchange.who import People, Who
from generation.version import tool_version
from rubrics import canonical_json

FORMAT = 1
HEADER = "labels"

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


def _tables(who: Who) -> tuple[Table, ...]:
    # The conflicts of a merge name people inside of a text.
    return tuple(t for t in EXPORTED if who is Who.NAMES or t.name != "merges")


def _line(record: Record) -> str:
    return json.dumps(record, allow_nan=False) + "\n"
