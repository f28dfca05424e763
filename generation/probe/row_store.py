"""Which rows of a plan a study holds, which failed, and what the engine's sittings gave."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from generation.clock import now
from generation.database import immediate, open_database
from generation.failed_row import FailedRow
from generation.migrations import generation_migrations
from generation.probe.scoring import score_answers
from generation.store import TurnStore, conversation_columns, conversation_from
from generation.turn import Answer, Run, Turn
from rubrics import canonical_json

LINKED_AT_ONCE = 10_000  # rows joined to a run in one statement


@dataclass(frozen=True)
class StoredAnswer:
    """What the turns after an answer need to know of it before its text is read."""

    answer_id: str
    unusable: str | None


@dataclass(frozen=True)
class Sitting:
    """One stretch of an engine's work: `seconds` of it gave so many rows and output tokens."""

    sitting_id: int
    rows: int
    output_tokens: int
    seconds: float


class RowStore:
    """The rows of plans in an open pipeline.db; `turns` writes and reads the texts."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self.turns = TurnStore(database)

    def close(self) -> None:
        self._db.close()

    def answers(self) -> dict[str, StoredAnswer]:
        """Every generated answer by its row_id."""
        rows = self._db.conn.execute(
            "SELECT row_id, answer_id, unusable FROM answers WHERE row_id IS NOT NULL"
        )
        return {row_id: StoredAnswer(*rest) for row_id, *rest in rows}

    def turn_rows(self) -> set[str]:
        """The row_id of every generated turn: there may be millions."""
        rows = self._db.conn.execute("SELECT row_id FROM turns WHERE row_id IS NOT NULL")
        return {row_id for (row_id,) in rows}

    def failed_rows(self) -> set[str]:
        """The row_id of every row that failed; some may have been made since."""
        rows = self._db.conn.execute("SELECT DISTINCT row_id FROM failures")
        return {row_id for (row_id,) in rows}

    def failures(self) -> list[FailedRow]:
        """The rows that failed and have not been made since, each with its last failure."""
        rows = self._db.conn.execute(
            f"""SELECT row_id, act, kind, message, {conversation_columns()}
                FROM failures JOIN conversations USING (conversation_id)
                WHERE failure_id IN (SELECT max(failure_id) FROM failures GROUP BY row_id)
                AND row_id NOT IN (SELECT row_id FROM turns WHERE row_id IS NOT NULL)
                AND row_id NOT IN (SELECT row_id FROM answers WHERE row_id IS NOT NULL)
                ORDER BY failure_id"""
        )
        return [
            FailedRow(row_id, act, conversation_from(conversation), kind, message)
            for row_id, act, kind, message, *conversation in rows
        ]

    def start_sitting(self, run: Run, act: str, engine: dict[str, Any]) -> int:
        """Begin a stretch of work; returns its id."""
        with immediate(self._db):
            self.turns.keep_run(run)
            cursor = self._db.conn.execute(
                "INSERT INTO run_sittings (run_id, act, engine, started_at) VALUES (?, ?, ?, ?)",
                [run.run_id, act, canonical_json(engine), now()],
            )
        return cursor.lastrowid

    def add(self, run: Run, made: Iterable[Answer | Turn | FailedRow], sitting: Sitting) -> int:
        """Store outcomes and how far their sitting is, in one transaction; how many were new.

        A turn that is stored already under its row_id stays as it is.
        """
        new = 0
        with immediate(self._db):
            for row in made:
                if isinstance(row, FailedRow):
                    self._add_failure(run, row)
                elif isinstance(row, Answer):
                    new += self.turns.keep_answer(run.run_id, row)
                else:
                    new += self.turns.keep_turn(run.run_id, row)
            self._db.conn.execute(
                "UPDATE run_sittings SET rows = ?, output_tokens = ?, seconds = ?"
                " WHERE sitting_id = ?",
                [sitting.rows, sitting.output_tokens, sitting.seconds, sitting.sitting_id],
            )
        return new

    def _add_failure(self, run: Run, row: FailedRow) -> None:
        self.turns.keep_conversation(row.conversation)
        self._db.conn.execute(
            """INSERT INTO failures (row_id, act, run_id, conversation_id, kind, message, at)
               VALUES (?, ?, ?, ?, ?, ?, ?)""",
            [row.row_id, row.act, run.run_id, row.conversation.conversation_id, row.kind,
             row.message, now()],
        )  # fmt: skip

    def score(self, answer_ids: Iterable[str], *, again: bool) -> int:
        """Score answers that have no score yet; see `score_answers`."""
        return score_answers(self._db, answer_ids, again=again)

    def links(self, run: Run) -> int:
        """How many turns a run is said to have."""
        rows = self._db.conn.execute(
            "SELECT count(*) FROM run_turns WHERE run_id = ?", [run.run_id]
        )
        return rows.fetchone()[0]

    def link(self, run: Run, row_ids: Iterable[str]) -> None:
        """Say that a run has these turns, as far as they are stored: another may have made them."""
        upcoming = iter(row_ids)
        while some := list(islice(upcoming, LINKED_AT_ONCE)):
            with immediate(self._db):
                self._db.conn.execute(
                    """INSERT OR IGNORE INTO run_turns (run_id, turn_id)
                       SELECT ?, turn_id FROM turns
                       WHERE row_id IN (SELECT value FROM json_each(?))""",
                    [run.run_id, json.dumps(some)],
                )

    def keep_run(self, run: Run) -> None:
        with immediate(self._db):
            self.turns.keep_run(run)


def open_rows(path: Path) -> RowStore:
    """The row store at `path`, made when it is missing; raises InputError if it cannot be."""
    return RowStore(open_database(path, (generation_migrations,), create=True))
