"""Studies to be judged, and what became of them, read from the store as it is."""

import json
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from generation.item import Message
from generation.store import TurnStore
from generation.study import Study
from generation.turn import Answer, Conversation, Run, Turn
from judge.store import open_pipeline


def make_study(folder: Path, texts: Iterable[str], *, copies: int = 1) -> Study:
    """A study of one turn per text after the same answer; with more copies, as many equal ones."""
    study = Study(folder)
    conversation = Conversation("test", "1", (Message("user", "How many clips in April?"),))
    answer = Answer(conversation, "She sold 48 clips.")
    database = open_pipeline(study.pipeline, create=True)
    turns = (
        Turn(answer, text, "held-out", sample_index=copy)
        for text in texts
        for copy in range(copies)
    )
    TurnStore(database).add_turns(Run("import", {"file": "test"}), turns)
    database.close()
    return study


def rows(study: Study, sql: str, *values: object) -> list[dict[str, Any]]:
    connection = sqlite3.connect(study.pipeline)
    connection.row_factory = sqlite3.Row
    found = [dict(row) for row in connection.execute(sql, values)]
    connection.close()
    return found


def judgments(study: Study) -> list[dict[str, Any]]:
    """Every judgment with its judge's parameters and the turn that it is about."""
    return rows(
        study,
        """SELECT judgments.*, model, parameters,
           (SELECT text FROM turns WHERE turns.item_hash = judgments.item_hash) AS turn
           FROM judgments JOIN judges USING (judge_id)
           ORDER BY judge_id, item_hash, run_index""",
    )


def judges(study: Study) -> list[dict[str, Any]]:
    """The parameters of every judge that has a row, in order of their first use."""
    found = rows(study, "SELECT parameters FROM judges ORDER BY rowid")
    return [json.loads(row["parameters"]) for row in found]
