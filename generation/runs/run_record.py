"""The runs of a study: which there are, what they rest on, and by which engines they were made."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlite_utils import Database

from rubrics import InputError, short


@dataclass(frozen=True)
class RunRecord:
    """One run with its turns counted."""

    run_id: str
    kind: str
    name: str
    started_at: str
    turns: int
    provenance: dict[str, Any]


@dataclass(frozen=True)
class EngineWork:
    """What engines of one kind and version did for a run: rows, output tokens, seconds."""

    act: str
    record: dict[str, Any]
    started_at: str
    rows: int
    output_tokens: int
    seconds: float

    @property
    def tokens_per_second(self) -> float | None:
        return self.output_tokens / self.seconds if self.seconds else None


def run_records(database: Database) -> list[RunRecord]:
    """Every run, in the order in which they began."""
    rows = database.conn.execute(
        """SELECT run_id, kind, started_at, provenance,
                  (SELECT count(*) FROM run_turns WHERE run_turns.run_id = runs.run_id)
           FROM runs ORDER BY started_at, run_id"""
    )
    return [_record(*row) for row in rows]


def find_run(database: Database, text: str, option: str) -> RunRecord:
    """The run of that name or of that plan, or whose id begins so; the last of equal names.

    Raises InputError, with the runs there are, when none or several fit. `option` names the study.
    """
    records = run_records(database)
    named = [record for record in records if record.name == text]
    if named:
        return named[-1]
    digits = text.removeprefix("sha256:")
    fitting = [
        record
        for record in records
        if digits
        and (
            short(record.run_id, 64).startswith(digits)
            or record.name.partition("/")[0] == text  # a plan's name, without its model
        )
    ]
    if len(fitting) == 1:
        return fitting[0]
    known = ", ".join(f"{short(record.run_id)} ({record.name})" for record in records) or "none"
    what = "several runs are named or begin with" if fitting else "no run is named or begins with"
    raise InputError(f"{what} {text!r}; the runs are {known}: generate show{option}")


def engine_work(database: Database, run_id: str) -> list[EngineWork]:
    """Every sitting of a run, in order."""
    rows = database.conn.execute(
        """SELECT act, engine, started_at, rows, output_tokens, seconds FROM run_sittings
           WHERE run_id = ? ORDER BY sitting_id""",
        [run_id],
    )
    return [EngineWork(act, json.loads(engine), *rest) for act, engine, *rest in rows]


def flat(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every leaf of a JSON value with its path, for people to read.

    >>> list(flat({"a": {"b": [1, "x"]}, "c": []}))
    [('a.b', '1, x'), ('c', 'none')]
    """
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from flat(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list) and any(isinstance(inner, dict | list) for inner in value):
        for number, inner in enumerate(value, 1):
            yield from flat(inner, f"{path}.{number}")
    elif isinstance(value, list):
        yield path, ", ".join(map(str, value)) or "none"
    else:
        yield path, "none" if value is None or value == {} else str(value)


def _record(run_id: str, kind: str, started_at: str, provenance: str, turns: int) -> RunRecord:
    values = json.loads(provenance)
    return RunRecord(run_id, kind, values.get("name", kind), started_at, turns, values)
