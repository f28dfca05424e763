"""pipeline.db, the batches: which asks a server holds, from before it is told until collected."""

from collections.abc import Iterable
from dataclasses import dataclass

from sqlite_utils import Database

from generation.clock import now
from generation.database import immediate
from judge.batch.lines import BatchAsk
from rubrics import InputError

SUBMITTING = "submitting"  # until it is known that the server has accepted it; then its own status


class IdTaken(InputError):
    """A server's id for a batch that another open batch has, whose `batch_id` it is."""

    def __init__(self, batch_id: str, server: str) -> None:
        super().__init__(
            f"the new batch has the id of another that is still open: {batch_id} at {server}"
        )
        self.batch_id = batch_id


@dataclass(frozen=True)
class Batch:
    """An open batch. While it is `submitting`, its id is the token that the server is told."""

    batch_id: str
    judge_id: str
    model: str
    server: str
    status: str
    submitted_at: str
    asked: int


class BatchStore:
    """Reads and writes the batch tables of an open pipeline.db."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def open_batches(self) -> list[Batch]:
        """In the order of their submission."""
        rows = self._db.conn.execute(
            """SELECT batch_id, batches.judge_id, model, server, status, submitted_at,
               (SELECT count(*) FROM batch_asks WHERE batch_asks.batch_id = batches.batch_id)
               FROM batches JOIN judges USING (judge_id)
               WHERE closed_at IS NULL ORDER BY submitted_at, batch_id"""
        )
        return [Batch(*row) for row in rows]

    def asks(self, batch_id: str) -> dict[str, BatchAsk]:
        """What the batch asks for, by custom_id."""
        rows = self._db.conn.execute(
            """SELECT custom_id, judge_id, item_hash, run_index FROM batch_asks
               WHERE batch_id = ? ORDER BY custom_id""",
            [batch_id],
        )
        return {row[0]: BatchAsk(*row) for row in rows}

    def intend(self, token: str, server: str, asks: Iterable[BatchAsk]) -> None:
        """Before the server is told: from now on nobody else asks for these."""
        asks = list(asks)
        with immediate(self._db):
            self._db.conn.execute(
                "INSERT INTO batches VALUES (?, ?, ?, ?, ?, NULL)",
                [token, asks[0].judge_id, server, SUBMITTING, now()],
            )
            self._db.conn.executemany(
                """INSERT INTO batch_asks (custom_id, batch_id, judge_id, item_hash, run_index)
                   VALUES (?, ?, ?, ?, ?)""",
                ((a.custom_id, token, a.judge_id, a.item_hash, a.run_index) for a in asks),
            )
        self._sync()

    def accepted(self, token: str, batch_id: str, status: str) -> None:
        """The server has accepted it under an id of its own.

        A server that was restarted may begin its ids anew: a closed batch makes way. Raises
        IdTaken where an open one has that id.
        """
        with immediate(self._db):
            self._db.conn.execute("PRAGMA defer_foreign_keys=ON")  # until this commit
            if batch_id != token:
                self._make_way(batch_id)
                self._rename(token, batch_id)
            self._db.conn.execute(
                "UPDATE batches SET status = ? WHERE batch_id = ?", [status, batch_id]
            )
        self._sync()

    def _make_way(self, batch_id: str) -> None:
        found = self._row(batch_id)
        if not found:
            return
        server, submitted_at, closed_at = found
        if closed_at is None:
            raise IdTaken(batch_id, server)
        free = f"{batch_id}#{submitted_at}"
        while self._row(free):
            free += "#"
        self._rename(batch_id, free)

    def _row(self, batch_id: str) -> tuple[str, str, str | None] | None:
        return self._db.conn.execute(
            "SELECT server, submitted_at, closed_at FROM batches WHERE batch_id = ?", [batch_id]
        ).fetchone()

    def _rename(self, batch_id: str, new: str) -> None:
        for table in ("batches", "batch_asks"):
            self._db.conn.execute(
                f"UPDATE {table} SET batch_id = ? WHERE batch_id = ?", [new, batch_id]
            )

    def forget(self, token: str) -> None:
        """The server never accepted it: its asks are waiting again."""
        with immediate(self._db):
            self._db.conn.execute("DELETE FROM batch_asks WHERE batch_id = ?", [token])
            self._db.conn.execute("DELETE FROM batches WHERE batch_id = ?", [token])

    def set_status(self, batch_id: str, status: str) -> None:
        self._db.conn.execute(
            "UPDATE batches SET status = ? WHERE batch_id = ? AND status != ?",
            [status, batch_id, status],
        )

    def close(self, batch_id: str, status: str) -> int:
        """All that it brought is stored; returns how many of its asks are waiting again."""
        with immediate(self._db):
            self._db.conn.execute(
                "UPDATE batches SET status = ?, closed_at = ? WHERE batch_id = ?",
                [status, now(), batch_id],
            )
            (waiting,) = self._db.conn.execute(_UNJUDGED, [batch_id]).fetchone()
        self._sync()
        return waiting

    def _sync(self) -> None:
        """Onto the disk itself: what a loss of power took away would be paid for twice."""
        self._db.conn.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()


_UNJUDGED = """
    SELECT count(*) FROM batch_asks AS asked WHERE batch_id = ? AND NOT EXISTS (
        SELECT 1 FROM judgments WHERE judge_id = asked.judge_id
        AND item_hash = asked.item_hash AND run_index = asked.run_index)"""
