"""What a result rests on, as a few numbers: as long as they stay, the result need not be redone."""

from collections.abc import Hashable

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


def judge_state(pipeline_db: Database, judge_id: str) -> int:
    """Changes with every verdict of this judge: they are only ever added."""
    return pipeline_db.conn.execute(
        "SELECT count(*) FROM judgments WHERE judge_id = ?", [judge_id]
    ).fetchone()[0]
