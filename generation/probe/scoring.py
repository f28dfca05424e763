"""Task accuracy beside the answers: whatever a run's first answers have not been scored by yet."""

import json
from collections.abc import Iterable

from sqlite_utils import Database

from generation.accuracy.score import NOT_CHECKABLE, scores
from generation.database import immediate
from generation.store import TurnStore
from rubrics import canonical_json

SCORED_AT_ONCE = 256


def score_answers(database: Database, answer_ids: Iterable[str], *, again: bool) -> int:
    """Score those answers that have no score; with `again` those too that could not be checked.

    Answers of a data set that has nothing to hold them against have none. Returns how many
    scores were added. An answer without visible text is scored as it is: not right.
    """
    store = TurnStore(database)
    waiting = _unscored(database, list(answer_ids), again)
    added = 0
    for first in range(0, len(waiting), SCORED_AT_ONCE):
        answers = [store.answer(answer_id) for answer_id in waiting[first : first + SCORED_AT_ONCE]]
        scored = [
            (answer.answer_id, score.scorer, score.outcome, canonical_json(score.detail))
            for answer in answers
            for score in scores(answer.conversation, answer.text)
        ]
        with immediate(database):
            database.conn.executemany(
                "DELETE FROM answer_scores WHERE answer_id = ? AND outcome = ?",
                [(answer_id, NOT_CHECKABLE) for answer_id, *_ in scored],
            )
            database.conn.executemany(
                "INSERT INTO answer_scores (answer_id, scorer, outcome, detail)"
                " VALUES (?, ?, ?, ?)",
                scored,
            )
        added += len(scored)
    return added


def _unscored(database: Database, answer_ids: list[str], again: bool) -> list[str]:
    rows = database.conn.execute(
        """SELECT asked.value FROM json_each(?) AS asked
           JOIN answers ON answers.answer_id = asked.value
           JOIN conversations USING (conversation_id)
           WHERE (meta LIKE '%"reference%' OR meta LIKE '%"instruction_id_list"%')
             AND asked.value NOT IN
                 (SELECT answer_id FROM answer_scores WHERE NOT ? OR outcome <> ?)""",
        [json.dumps(answer_ids), again, NOT_CHECKABLE],
    )
    return [answer_id for (answer_id,) in rows]
