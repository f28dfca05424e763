"""What a result rests on, as a few numbers: as long as they stay, the result need not be redone."""

from collections.abc import Hashable, Mapping
from threading import Lock

from sqlite_utils import Database


def labels_state(labels_db: Database) -> Hashable:
    """Changes with every label, skip and decision."""
    return labels_db.conn.execute(
        """SELECT (SELECT max(event_id) FROM events), (SELECT count(*) FROM items),
                  (SELECT max(adjudication_id) FROM adjudications)"""
    ).fetchone()


def study_state(pipeline_db: Database) -> Hashable:
    """Changes with the sample, the split and every opening of its test half."""
    return pipeline_db.conn.execute(
        """SELECT (SELECT count(*) FROM sample_items), (SELECT count(*) FROM sample_repeats),
                  (SELECT max(split_hash) FROM splits), (SELECT count(*) FROM test_openings)"""
    ).fetchone()


class VerdictCounts:
    """How many verdicts each judge has: every view asks, and counting them reads them all.

    They are only ever added, so as long as the newest stays they are not counted anew.
    """

    def __init__(self) -> None:
        self._newest: int | None = None
        self._counts: Mapping[str, int] = {}
        self._lock = Lock()

    def of(self, pipeline_db: Database) -> Mapping[str, int]:
        """By id of every judge that has any, the one that judged last at the end."""
        (newest,) = pipeline_db.conn.execute("SELECT max(judgment_id) FROM judgments").fetchone()
        with self._lock:
            if newest != self._newest:
                rows = pipeline_db.conn.execute(
                    """SELECT judge_id, count(*) FROM judgments
                       GROUP BY judge_id ORDER BY max(judgment_id), judge_id"""
                )
                self._newest, self._counts = newest, dict(rows.fetchall())
            return self._counts
