"""One study's generated rows into another: what shards on machines that share nothing made."""

from dataclasses import dataclass
from pathlib import Path

from sqlite_utils import Database

from generation.database import immediate, open_database, readable_refusals
from generation.migrations import generation_migrations
from generation.process_lock import generation_lock
from generation.study import Study
from rubrics import InputError


@dataclass(frozen=True)
class Merged:
    """What a merge brought: new rows, and rows that both sides made and say differently.

    Of those ours stands; `orphans` are theirs that rest on one of them and were left out.
    """

    answers: int
    turns: int
    known: int
    conflicts: int
    orphans: int


def merge_study(study: Study, other: Path) -> Merged:
    """Add the other study's conversations, answers, turns, failures, scores and runs to this one.

    `other` is a study's folder or its pipeline.db. All of it or, on any failure, nothing. Raises
    InputError where either is not a study of ours.
    """
    source = other / "pipeline.db" if other.is_dir() else other
    if not source.exists():
        raise InputError(f"{source} does not exist; expected another study's folder or pipeline.db")
    if study.pipeline.exists() and source.exists() and source.samefile(study.pipeline):
        raise InputError(f"{source} is this study itself; expected another one")
    open_database(source, (generation_migrations,)).close()  # checked, and of our schema
    study.folder.mkdir(parents=True, exist_ok=True)
    with generation_lock(study):
        return _merge_file(study, source)


def _merge_file(study: Study, source: Path) -> Merged:
    database = open_database(study.pipeline, (generation_migrations,), create=True)
    with readable_refusals(study.pipeline):
        database.conn.execute("ATTACH ? AS other", [str(source)])
        try:
            with immediate(database):
                return _merge(database)
        finally:
            database.conn.execute("DETACH other")
            database.close()


def _merge(database: Database) -> Merged:
    theirs = _count(database, "SELECT count(*) FROM other.turns")
    conflicts = sum(_conflicts(database, table, key) for table, key in _MADE)
    _copy(database, "runs")
    _copy(database, "conversations", "ORDER BY root IS NOT NULL")
    answers = _copy(database, "answers", "ORDER BY parent_id IS NOT NULL", _RESTS_ON["answers"])
    turns = 0
    for (number,) in database.conn.execute("SELECT DISTINCT number FROM other.turns ORDER BY 1"):
        of_number = f"{_RESTS_ON['turns']} AND number = {int(number)}"
        turns += _copy(database, "turns", "ORDER BY rowid", of_number)
    _copy(database, "run_turns", where="turn_id IN (SELECT turn_id FROM main.turns)")
    _copy(database, "answer_scores", where="answer_id IN (SELECT answer_id FROM main.answers)")
    _copy_log(database, "failures", "failure_id", ("row_id", "at"))
    _copy_log(database, "run_sittings", "sitting_id", ("run_id", "act", "started_at"))
    known = _count(database, "SELECT count(*) FROM other.turns JOIN main.turns USING (turn_id)")
    conflicting_turns = _conflicts(database, "turns", "turn_id")
    return Merged(answers, turns, known - turns, conflicts, theirs - known - conflicting_turns)


_MADE = (("answers", "answer_id"), ("turns", "turn_id"))
_RESTS_ON = {
    "answers": """(row_id IS NULL OR row_id NOT IN
        (SELECT row_id FROM main.answers WHERE row_id IS NOT NULL))
        AND (parent_id IS NULL OR parent_id IN (SELECT answer_id FROM main.answers)
             OR parent_id IN (SELECT theirs.answer_id FROM other.answers AS theirs
                              WHERE theirs.row_id IS NULL OR theirs.row_id NOT IN
                              (SELECT row_id FROM main.answers WHERE row_id IS NOT NULL)))""",
    "turns": """(row_id IS NULL OR row_id NOT IN
        (SELECT row_id FROM main.turns WHERE row_id IS NOT NULL))
        AND answer_id IN (SELECT answer_id FROM main.answers)
        AND (follows IS NULL OR follows IN (SELECT turn_id FROM main.turns))""",
}  # what a row of theirs needs here: no other text under its row_id, and what it rests on


def _conflicts(database: Database, table: str, key: str) -> int:
    return _count(
        database,
        f"""SELECT count(*) FROM other.{table} AS theirs JOIN main.{table} AS ours
            ON ours.row_id = theirs.row_id WHERE ours.{key} <> theirs.{key}""",
    )


def _copy(database: Database, table: str, order: str = "", where: str = "1") -> int:
    columns = ", ".join(column.name for column in database[table].columns)
    return database.conn.execute(
        f"""INSERT INTO main.{table} ({columns}) SELECT {columns} FROM other.{table}
            WHERE {where} {order} ON CONFLICT DO NOTHING"""
    ).rowcount


def _copy_log(database: Database, table: str, number: str, key: tuple[str, ...]) -> None:
    """Rows whose own key is a running number: what was merged before is brought up to date."""
    names = [column.name for column in database[table].columns if column.name != number]
    columns = ", ".join(names)
    same = " AND ".join(f"theirs.{name} = {table}.{name}" for name in key)
    there = f"SELECT 1 FROM other.{table} AS theirs WHERE {same}"
    database.conn.execute(f"DELETE FROM main.{table} WHERE EXISTS ({there})")
    database.conn.execute(
        f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM other.{table}"
    )


def _count(database: Database, sql: str) -> int:
    return database.conn.execute(sql).fetchone()[0]
