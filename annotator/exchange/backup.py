"""Copies of labels.db, made while it is in use, and checked before they count as one."""

import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from generation.database import BUSY_TIMEOUT_MS, readable_refusals
from generation.exchange.whole import made_whole
from rubrics import InputError


@dataclass(frozen=True)
class Backup:
    """A copy that was read back: its annotation events and its size in bytes."""

    path: Path
    events: int
    size: int


def back_up(labels: Path, path: Path) -> Backup:
    """Copy labels.db as of one moment to a new file; whoever is saving goes on saving.

    Raises InputError where there is no labels.db, `path` is taken, or the copy is not sound.
    """
    if not labels.exists():
        raise InputError(
            f"{labels} does not exist, so there is nothing to copy; name the study with --study"
        )
    with made_whole(path) as new, readable_refusals(labels):
        events = copy_database(labels, new, "mode=rw")
        shutil.copymode(labels, new)  # password hashes are in it
        size = new.stat().st_size
    return Backup(path, events, size)


def copy_at_rest(source: Path, target: Path) -> int:
    """Copy a file that lies somewhere, and maybe cannot be written; as `copy_database`."""
    # A log beside it holds saves too, or is of somebody who is labelling.
    has_log = Path(f"{source}-wal").exists()
    return copy_database(source, target, "mode=ro" if has_log else "mode=ro&immutable=1")


def copy_database(source: Path, target: Path, how: str) -> int:
    """Copy an SQLite file with what its write-ahead log holds; returns how many events it has.

    `how` it is opened: with "mode=rw" the last to close it takes its log away, with
    "mode=ro&immutable=1" nothing is made beside it. The copy is one file without a log. Raises
    InputError if it is damaged or lacks events.
    """
    with closing(sqlite3.connect(f"{source.resolve().as_uri()}?{how}", uri=True)) as original:
        original.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
        before = _events(original)
        with closing(sqlite3.connect(target)) as copy:
            # In one step: in pieces it would begin anew with every save of another process.
            original.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")
            found = copy.execute("PRAGMA integrity_check").fetchone()[0]
            events = _events(copy)
    if found != "ok" or events < before:
        raise InputError(
            f"the copy of {source} is not sound ({found}, {events} events of {before}), so it was "
            "not kept; look at the disk and at the file itself"
        )
    return events


def _events(connection: sqlite3.Connection) -> int:
    found = connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'events'")
    if not found.fetchone()[0]:
        raise InputError(
            "the file holds no annotation events; expected a labels.db of followupeval"
        )
    return connection.execute("SELECT count(*) FROM events").fetchone()[0]
