"""pipeline.db, the generation part: runs and turns, keyed by content; this store only adds."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from generation.clock import now
from generation.database import keep, open_database
from generation.item import Item, messages_from
from generation.migrations import generation_migrations
from generation.turn import Added, Answer, Run, Turn
from rubrics import canonical_json


def open_turns(path: Path) -> "TurnStore":
    """The turn store at `path`, made when it is missing; raises InputError if it cannot be."""
    return TurnStore(open_database(path, (generation_migrations,), create=True))


class TurnStore:
    """Reads and writes the generation tables of an open pipeline.db."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def add_turns(self, run: Run, turns: Iterable[Turn]) -> Added:
        """Store turns with all that they rest on, in one transaction; equal rows once."""
        new = known = 0
        with self._db.atomic():
            keep(
                self._db,
                "runs",
                {
                    "run_id": run.run_id,
                    "kind": run.kind,
                    "provenance": canonical_json(run.provenance),
                    "started_at": now(),
                },
            )
            for turn in turns:
                if self._keep_turn(run.run_id, turn):
                    new += 1
                else:
                    known += 1
        return Added(new, known)

    def _keep_turn(self, run_id: str, turn: Turn) -> bool:
        answer, conversation = turn.answer, turn.answer.conversation
        keep(
            self._db,
            "conversations",
            {
                "conversation_id": conversation.conversation_id,
                "dataset": conversation.dataset,
                "source_id": conversation.source_id,
                "messages": canonical_json([m.as_dict() for m in conversation.messages]),
                "meta": canonical_json(conversation.meta),
            },
        )
        keep(
            self._db,
            "answers",
            {
                "answer_id": answer.answer_id,
                "conversation_id": conversation.conversation_id,
                "run_id": run_id,
            }
            | _row(answer, drop=("conversation",)),
        )
        new = keep(
            self._db,
            "turns",
            {"turn_id": turn.turn_id, "answer_id": answer.answer_id, "run_id": run_id}
            | _row(turn, drop=("answer",))
            | {"item_hash": turn.item.hash, "meta": canonical_json(turn.meta)},
        )
        keep(self._db, "run_turns", {"run_id": run_id, "turn_id": turn.turn_id})
        return new

    def turns_by_conversation(self, run_id: str) -> dict[str, int]:
        """How many turns of each conversation a run has given, be they first or not."""
        rows = self._db.conn.execute(
            """SELECT answers.conversation_id, count(*) FROM run_turns
               JOIN turns USING (turn_id) JOIN answers USING (answer_id)
               WHERE run_turns.run_id = ? GROUP BY answers.conversation_id""",
            [run_id],
        )
        return dict(rows.fetchall())

    def count(self) -> int:
        """How many turns there are, equal ones each."""
        return self._db["turns"].count

    def items(self) -> Iterator[tuple[str, Item]]:
        """Each distinct item once with its hash, ordered by hash."""
        rows = self._db.conn.execute(
            """SELECT turns.item_hash, conversations.messages, answers.text, turns.text
               FROM turns JOIN answers USING (answer_id) JOIN conversations USING (conversation_id)
               GROUP BY turns.item_hash ORDER BY turns.item_hash"""
        )
        for item_hash, *texts in rows:
            yield item_hash, item_from(*texts)

    def item_count(self) -> int:
        """How many distinct items there are."""
        return self._db.conn.execute("SELECT count(DISTINCT item_hash) FROM turns").fetchone()[0]


def item_from(messages: str, answer: str, turn: str) -> Item:
    """An item from its stored texts, `messages` being JSON; raises InputError if it is not ours."""
    return Item(messages_from(json.loads(messages)), answer, turn)


def _row(record: Answer | Turn, *, drop: tuple[str, ...]) -> dict[str, Any]:
    row = {key: value for key, value in asdict(record).items() if key not in drop}
    if row["token_ids"] is not None:
        row["token_ids"] = json.dumps(row["token_ids"])
    return row
