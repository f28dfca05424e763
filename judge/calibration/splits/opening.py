"""Openings of the test half: every look at it is counted, since each makes it less of a test."""

from dataclasses import asdict, dataclass

from sqlite_utils import Database

from generation.clock import now
from generation.database import immediate
from judge.calibration.splits.frozen_split import FrozenSplit


@dataclass(frozen=True)
class Opening:
    """A look at the test half, the `number`-th in all and the `of_this_judge`-th of its judge."""

    number: int
    of_this_judge: int
    judge_id: str
    rubric_version: str
    split_hash: str
    opened_at: str

    def as_dict(self) -> dict[str, object]:
        return asdict(self)


def record_opening(
    pipeline_db: Database, split: FrozenSplit, judge_id: str, rubric_version: str
) -> Opening:
    """Record that the test half is opened for a judge; to be called before it is looked at."""
    with immediate(pipeline_db):
        pipeline_db["test_openings"].insert(
            {
                "split_hash": split.split_hash,
                "judge_id": judge_id,
                "rubric_version": rubric_version,
                "opened_at": now(),
            }
        )
        return openings(pipeline_db)[-1]


def openings(pipeline_db: Database) -> tuple[Opening, ...]:
    """All openings of the study's test half, oldest first."""
    rows = pipeline_db.query(
        """SELECT row_number() OVER (ORDER BY opening_id) AS number,
                  row_number() OVER (PARTITION BY judge_id ORDER BY opening_id) AS of_this_judge,
                  judge_id, rubric_version, split_hash, opened_at
           FROM test_openings ORDER BY opening_id"""
    )
    return tuple(Opening(**row) for row in rows)
