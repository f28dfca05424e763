"""Openings of the test half: every look at it is counted, since each makes it less of a test."""

from dataclasses import asdict, dataclass

from sqlite_utils import Database

from generation.clock import now
from generation.database import immediate
from judge.calibration.splits.frozen_split import FrozenSplit
from rubrics import InputError

FEWEST_WORDS, MOST_CHARACTERS = 3, 500  # of a sentence of intent


@dataclass(frozen=True)
class Opening:
    """A look at the test half, the `number`-th in all and the `of_this_judge`-th of its judge.

    `intent` says what it was for; None of openings from before that was asked.
    """

    number: int
    of_this_judge: int
    judge_id: str
    rubric_version: str
    split_hash: str
    opened_at: str
    intent: str | None

    def as_dict(self) -> dict[str, object]:
        return asdict(self)


def record_opening(
    pipeline_db: Database, split: FrozenSplit, judge_id: str, rubric_version: str, intent: str
) -> Opening:
    """Record that the test half is opened for a judge; to be called before it is looked at.

    Raises InputError where the intent is no sentence.
    """
    intent = checked_intent(intent)
    with immediate(pipeline_db):
        pipeline_db["test_openings"].insert(
            {
                "split_hash": split.split_hash,
                "judge_id": judge_id,
                "rubric_version": rubric_version,
                "opened_at": now(),
                "intent": intent,
            }
        )
        return openings(pipeline_db)[-1]


def checked_intent(intent: str) -> str:
    """The sentence of intent; raises InputError for fewer than three words or too many signs."""
    intent = " ".join(intent.split())
    if len(intent.split()) < FEWEST_WORDS or len(intent) > MOST_CHARACTERS:
        raise InputError(
            f"{intent!r:.60} says too little or too much of why the test half is opened; expected "
            f"a sentence of at least {FEWEST_WORDS} words and at most {MOST_CHARACTERS} "
            'characters: --final "v3 is chosen; this is the number to publish"'
        )
    if not intent.isprintable():
        raise InputError("the intent holds signs that cannot be printed; write plain text")
    return intent


def openings(pipeline_db: Database) -> tuple[Opening, ...]:
    """All openings of the study's test half, oldest first."""
    rows = pipeline_db.query(
        """SELECT row_number() OVER (ORDER BY opening_id) AS number,
                  row_number() OVER (PARTITION BY judge_id ORDER BY opening_id) AS of_this_judge,
                  judge_id, rubric_version, split_hash, opened_at, intent
           FROM test_openings ORDER BY opening_id"""
    )
    return tuple(Opening(**row) for row in rows)
