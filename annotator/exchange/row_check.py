"""What a row of a canonical export must say before it goes into labels.db, beyond its schema."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlite_utils import Database
from sqlite_utils.db import Column

from annotator.exchange.tables import EXPORTED, Table
from annotator.labelling.choice import CONFIDENCES
from annotator.name import checked_name
from annotator.nearest import check_category
from generation.item import messages_from
from generation.study import Study
from rubrics import InputError, Rubric, parse_rubric, short

Row = dict[str, Any]

KINDS = ("label", "skip")
ONCE = {"event": ("nonce",)}  # besides the key of its table
MAX_INTEGER = 2**63 - 1  # of SQLite
RUBRIC_TEXT = frozenset({"hash", "text"})  # of a rubric that the tool or the study has anyway


@dataclass(frozen=True)
class Keys:
    """The keys that a line has besides its type, in the order of the table's columns."""

    required: tuple[str, ...]
    optional: tuple[str, ...]


def keys_by_record(database: Database) -> dict[str, Keys]:
    """By the name of a record its keys: optional is what is null or has a default without it."""
    return {table.record: _keys(database, table) for table in EXPORTED}


class RowCheck:
    """Checks one row after the other; rubrics come before what was said under them."""

    def __init__(self, database: Database, study: Study) -> None:
        self._keys = keys_by_record(database)
        self._columns = {table.record: database[table.name].columns for table in EXPORTED}
        self._seen: set[tuple] = set()
        self._study = study
        self._rubrics: dict[str, Rubric] = {}

    def checked(self, row: Row, table: Table) -> Row:
        """The row to store, a rubric with its text; raises InputError, which knows no place."""
        _check_keys(row, self._keys[table.record])
        _check_types(row, self._columns[table.record])
        self._check_new(row, table)
        for column in (c for c in row if c.endswith("_at") and row[c] is not None):
            _check_time(column, row[column])
        if table.name == "rubrics":
            return self._with_text(row)
        if table.name == "items":
            _check_messages(row["messages"])
        if table.name == "events":
            _check_kind(row)
        if table.name == "annotators" and checked_name(row["annotator"]) != row["annotator"]:
            raise InputError(f"annotator is {row['annotator']!r}; expected no blanks around, NFC")
        if row.get("category") is not None:
            check_category(self._rubric(row["rubric_version"]), str(row["category"]))
        if row.get("confidence") not in (None, *CONFIDENCES):
            expected = ", ".join(CONFIDENCES)
            raise InputError(f"confidence is {row['confidence']!r:.80}; expected one of {expected}")
        return row

    def _check_new(self, row: Row, table: Table) -> None:
        """No two rows of a kind have one key."""
        keys = [c.name for c in self._columns[table.record] if c.is_pk]
        for names in filter(None, (keys, ONCE.get(table.record, ()))):
            key = (table.record, *((name, row.get(name)) for name in names))
            if key in self._seen:
                told = ", ".join(f"{name} {row.get(name)!r:.80}" for name in names)
                raise InputError(f"{told} is in the file twice; expected each once")
            self._seen.add(key)

    def _rubric(self, version: object) -> Rubric:
        known = self._rubrics.get(str(version))
        if known is None:
            expected = ", ".join(self._rubrics) or "none"
            raise InputError(
                f"rubric_version is {version!r:.80}; the rubric lines before it have {expected}"
            )
        return known

    def _with_text(self, row: Row) -> Row:
        given = RUBRIC_TEXT & row.keys()
        if not given:
            rubric = self._study.rubric(str(row["version"]))
            row = row | {"hash": rubric.hash, "text": rubric.text}
        elif given != RUBRIC_TEXT:
            raise InputError("expected both hash and text, or neither for a rubric known here")
        else:
            rubric = parse_rubric(str(row["text"]), source="text")
            self._check_own(rubric)
        if (rubric.version, rubric.hash) != (row["version"], row["hash"]):
            raise InputError(
                f"its text is that of rubric {rubric.version} ({short(rubric.hash)}), not of "
                f"{row['version']!r:.80} ({row['hash']!r:.80})"
            )
        self._rubrics[rubric.version] = rubric
        return row

    def _check_own(self, rubric: Rubric) -> None:
        """A version has one text: what calibrates the labels goes by the study's."""
        try:
            own = self._study.rubric(rubric.version)
        except InputError:  # not known here, so the file's is the only one
            return
        if own.hash != rubric.hash:
            raise InputError(
                f"its text ({short(rubric.hash)}) is not that of rubric {own.version} here "
                f"({short(own.hash)}); import it into a study without a rubric of its own by that "
                "name: annotate import FILE --study OTHER"
            )


def _keys(database: Database, table: Table) -> Keys:
    columns = database[table.name].columns
    optional = {
        c.name for c in columns if not c.is_pk and (not c.notnull or c.default_value is not None)
    }
    if table.name == "rubrics":
        optional |= RUBRIC_TEXT
    names = [c.name for c in columns]
    return Keys(
        tuple(name for name in names if name not in optional),
        tuple(name for name in names if name in optional),
    )


def _check_keys(row: Mapping[str, Any], keys: Keys) -> None:
    lacking = [key for key in keys.required if key not in row]
    unknown = [key for key in row if key not in (*keys.required, *keys.optional)]
    if not lacking and not unknown:
        return
    found = [f"no key {', '.join(lacking)}"] if lacking else []
    found += [f"an unknown key {', '.join(unknown):.80}"] if unknown else []
    optional = f" and perhaps {', '.join(keys.optional)}" if keys.optional else ""
    raise InputError(f"{' and '.join(found)}; expected {', '.join(keys.required)}{optional}")


def _check_types(row: Row, columns: Sequence[Column]) -> None:
    """A number is a number; SQLite would take the text of one, or true for 1."""
    expected = {c.name: c.type for c in columns}
    for name, value in row.items():
        if value is None or name not in expected:
            continue
        kind = {"INTEGER": int, "TEXT": str}.get(expected[name], (int, float))
        if isinstance(value, bool) or not isinstance(value, kind):
            told = "a whole number" if kind is int else "a text" if kind is str else "a number"
            raise InputError(f"{name} is {value!r:.60}; expected {told}")
        if kind is int and not 0 <= value <= MAX_INTEGER:
            raise InputError(f"{name} is {value:.3e}; expected 0 to {MAX_INTEGER}")


def _check_kind(row: Row) -> None:
    if row["kind"] not in KINDS:
        raise InputError(f"kind is {row['kind']!r:.80}; expected {' or '.join(KINDS)}")
    for kind, key in zip(KINDS, ("category", "skip_reason"), strict=True):
        if (row["kind"] == kind) != (row.get(key) is not None):
            raise InputError(
                f"kind is {row['kind']!r} and {key} {row.get(key)!r:.80}; expected a {key} with a "
                f"{kind}, and none else"
            )


def _check_messages(text: str) -> None:
    try:
        messages_from(json.loads(text))
    except (ValueError, InputError):
        raise InputError(
            f'messages is {text:.60}; expected [{{"role": "user", "content": "…"}}]'
        ) from None


def _check_time(column: str, value: object) -> None:
    """Times are compared as texts, so there is one way to write one."""
    try:
        moment = datetime.fromisoformat(str(value)).astimezone(UTC)
    except (ValueError, OverflowError):
        moment = None
    if moment is None or moment.isoformat(timespec="milliseconds") != value:
        raise InputError(
            f"{column} is {value!r:.60}; expected a time in UTC such as "
            "2026-01-31T09:30:00.000+00:00"
        )
