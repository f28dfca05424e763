"""Which fields pages were ever sent, without their contents: what the blindness report rests on."""

import re
import sqlite3
from collections.abc import Mapping
from typing import Any

from sqlite_utils import Database

from generation.clock import now

# The keys of all replies to an act so far: a look-up per key, as this is in the way of every save.
_Shape = dict[Any, Any]
_ENTRY, _VALUE = object(), object()

_NAME = re.compile(r"[A-Za-z_][A-Za-z_]*")


class SentFields:
    """Notes in labels.db every field that a reply held, the first time that it is sent.

    Not safe for threads: whoever calls it holds the lock of the database.
    """

    def __init__(self, database: Database) -> None:
        self._db = database
        self._known: dict[str, set[str]] = {}
        self._shapes: dict[str, _Shape] = {}
        for act, field in database.conn.execute("SELECT act, field FROM sent_fields"):
            self._known.setdefault(act, set()).add(field)

    def note(self, act: str, view: Mapping[str, Any]) -> None:
        """Note the fields of a reply to `act`.

        A store that cannot be written just now must not turn a label that was saved into an
        error: such fields stay unknown, so that the next reply with them is noted.
        """
        shape = self._shapes.setdefault(act, {})
        if _fits(view, shape):
            return
        known = self._known.setdefault(act, set())
        new, at = field_paths(view) - known, now()
        try:
            self._db.conn.executemany(
                """INSERT INTO sent_fields (act, field, first_sent_at) VALUES (?, ?, ?)
                   ON CONFLICT DO NOTHING""",
                [(act, field, at) for field in sorted(new)],
            )
        except sqlite3.OperationalError:
            return
        known |= new
        _learn(view, shape)


def field_paths(view: Mapping[str, Any]) -> set[str]:
    """The paths of all values in a JSON object; of a list the fields of all its entries.

    A key that is no name, such as an item's id, stands as `*`.

    >>> sorted(field_paths({"refused": False, "screen": {"parts": [{"html": ""}, {"role": ""}]}}))
    ['refused', 'screen.parts[].html', 'screen.parts[].role']
    """
    paths: set[str] = set()
    _add(view, "", paths)
    return paths


def _add(value: Any, path: str, paths: set[str]) -> None:
    if isinstance(value, dict):
        for key, part in value.items():
            name = key if _NAME.fullmatch(key) else "*"
            _add(part, f"{path}.{name}" if path else name, paths)
    elif isinstance(value, list):
        entry = f"{path}[]"
        for part in value:
            _add(part, entry, paths)
    else:
        paths.add(path)


def _fits(value: Any, shape: _Shape) -> bool:
    """Whether nothing of a reply is new."""
    # A loop: a generator for every object would cost twice as much.
    if isinstance(value, dict):
        for key, part in value.items():
            below = shape.get(key)
            if below is None or not _fits(part, below):
                return False
        return True
    if isinstance(value, list):
        return all(_fits(part, shape.get(_ENTRY, {})) for part in value)
    return _VALUE in shape


def _learn(value: Any, shape: _Shape) -> None:
    if isinstance(value, dict):
        for key, part in value.items():
            if _NAME.fullmatch(key):  # not the ids of items, which have no end
                _learn(part, shape.setdefault(key, {}))
    elif isinstance(value, list):
        for part in value:
            _learn(part, shape.setdefault(_ENTRY, {}))
    else:
        shape[_VALUE] = True
