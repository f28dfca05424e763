"""Opening a store: pragmas, migrations, and SQLite's refusals as one clear line."""

import contextlib
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sqlite_utils import Database, Migrations

from generation.study import Study
from rubrics import InputError

BUSY_TIMEOUT_MS = 10_000


def open_database(
    path: Path,
    migration_sets: Sequence[Migrations],
    *,
    durable: bool = False,
    create: bool = False,
) -> Database:
    """Open the SQLite store at `path`, brought up to the newest schema of `migration_sets`.

    `durable` waits for the disk at every commit (people's labels); without it WAL may lose the
    last commits on power loss, never on a crash of the program. The connection may be used from
    several threads if the caller serialises them.

    Raises InputError when the file is missing (unless `create`), is not a database, cannot be
    written, or holds migrations that this version does not know.
    """
    if not create and not path.exists():
        option = Study(path.parent).option
        raise InputError(f"{path} does not exist; make a study first: generate example{option}")
    with readable_refusals(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        try:
            connection.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
            _use_wal(connection)
            if durable:
                connection.execute("PRAGMA synchronous=FULL")
                # The file itself holds every commit: people copy labels.db without its -wal.
                connection.execute("PRAGMA wal_autocheckpoint=1")
            else:
                connection.execute("PRAGMA synchronous=NORMAL")
            connection.execute("PRAGMA foreign_keys=ON")
            database = Database(connection, strict=True)
            for migrations in migration_sets:
                _refuse_newer(database, migrations, path)
                if migrations.pending(database):
                    migrations.apply(database)
        except BaseException:
            connection.close()
            raise
    return database


@contextlib.contextmanager
def immediate(database: Database) -> Iterator[None]:
    """One write transaction that takes SQLite's write lock before it reads."""
    database.conn.execute("BEGIN IMMEDIATE")
    try:
        yield
        database.conn.execute("COMMIT")
    except BaseException:
        database.rollback()
        raise


def keep(database: Database, table: str, row: dict[str, Any]) -> bool:
    """Insert a row unless its key is taken already; says whether it is new.

    Not INSERT OR IGNORE: that would also drop, in silence, a row that a CHECK or NOT NULL refuses.
    """
    names = ", ".join(row)
    places = ", ".join(f":{name}" for name in row)
    cursor = database.conn.execute(
        f"INSERT INTO {table} ({names}) VALUES ({places}) ON CONFLICT DO NOTHING", row
    )
    return cursor.rowcount > 0


@contextlib.contextmanager
def readable_refusals(path: Path) -> Iterator[None]:
    """Turn SQLite's and the file system's refusals into an InputError that names the file."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        refusal = storage_refusal(error)
        if refusal is None:  # a defect of ours, such as a broken constraint
            raise
        raise InputError(f"{path}: {refusal}") from error
    except OSError as error:
        raise InputError(f"{error.filename or path}: {error.strerror or error}") from error


def storage_refusal(error: sqlite3.DatabaseError) -> str | None:
    """The message and what to do, where the machine refuses; None for a defect of ours."""
    message = str(error)
    hints = {
        "readonly": "make the folder and the file writable, or copy the study elsewhere",
        "unable to open": "the folder must exist and be writable",
        "disk is full": "free some disk space and run the command again; nothing was half-written",
        "locked": "another program holds the file; close it and run the command again",
        "disk I/O error": "see whether the disk works and has room, then run the command again",
        "malformed": "the file is damaged; put a copy of the study in its place",
        "not a database": "expected an SQLite file made by followupeval",
    }
    hint = next((hint for part, hint in hints.items() if part in message), None)
    return f"{message}; {hint}" if hint else None


def _use_wal(connection: sqlite3.Connection) -> None:
    """Switch to write-ahead logging; SQLite's busy timeout does not cover this one statement."""
    deadline = time.monotonic() + BUSY_TIMEOUT_MS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def _refuse_newer(database: Database, migrations: Migrations, path: Path) -> None:
    known = {migration.name for migration in migrations.pending(Database(memory=True))}
    unknown = [m.name for m in migrations.applied(database) if m.name not in known]
    if unknown:
        raise InputError(
            f"{path} was written by a newer followupeval (it has {unknown[-1]!r}); "
            "upgrade: pip install -U followupeval"
        )
