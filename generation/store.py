"""pipeline.db, the generation part: what the probe made, append-only and keyed by content."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from generation.database import keep, open_database
from generation.item import Item, Message, messages_from
from generation.migrations import generation_migrations
from rubrics import canonical_json, fingerprint


@dataclass(frozen=True)
class Run:
    """One act that added rows: a probe, an import, the example. Equal provenance, equal run."""

    kind: str
    provenance: dict[str, Any]

    @property
    def run_id(self) -> str:
        return fingerprint({"kind": self.kind, "provenance": self.provenance})


@dataclass(frozen=True)
class Conversation:
    """Messages ending in q, with the data set and the row that they come from."""

    dataset: str
    source_id: str
    messages: tuple[Message, ...]
    meta: dict[str, Any] = field(default_factory=dict)

    @property
    def conversation_id(self) -> str:
        return fingerprint(
            {
                "dataset": self.dataset,
                "source_id": self.source_id,
                "messages": [message.as_dict() for message in self.messages],
            }
        )


@dataclass(frozen=True)
class Answer:
    """The assistant's answer a; the token fields are None where a was not generated here."""

    conversation: Conversation
    text: str
    model: str | None = None
    temperature: float | None = None
    seed: int | None = None
    text_raw: str | None = None
    token_ids: tuple[int, ...] | None = None
    finish_reason: str | None = None
    stop_token_id: int | None = None

    @property
    def answer_id(self) -> str:
        return fingerprint(
            {
                "conversation": self.conversation.conversation_id,
                "text": self.text,
                "model": self.model,
                "temperature": self.temperature,
                "seed": self.seed,
            }
        )


@dataclass(frozen=True)
class Turn:
    """The user turn u after an answer; `setting` is 'self-generated' or 'held-out'."""

    answer: Answer
    text: str
    setting: str
    model: str | None = None
    temperature: float | None = None
    sample_index: int = 0
    perturbation: str = "none"
    context_mode: str | None = None
    seed: int | None = None
    text_raw: str | None = None
    token_ids: tuple[int, ...] | None = None
    prompt_token_hash: str | None = None
    finish_reason: str | None = None
    stop_token_id: int | None = None
    meta: dict[str, Any] = field(default_factory=dict)

    @property
    def item(self) -> Item:
        return Item(self.answer.conversation.messages, self.answer.text, self.text)

    @property
    def turn_id(self) -> str:
        return fingerprint(
            {
                "answer": self.answer.answer_id,
                "text": self.text,
                "setting": self.setting,
                "model": self.model,
                "temperature": self.temperature,
                "sample_index": self.sample_index,
                "perturbation": self.perturbation,
                "context_mode": self.context_mode,
                "seed": self.seed,
                "meta": self.meta,
            }
        )


@dataclass(frozen=True)
class Added:
    """How many turns a write added and how many the store held already."""

    new: int
    known: int


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
                    "started_at": datetime.now(UTC).isoformat(timespec="seconds"),
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
        return keep(
            self._db,
            "turns",
            {"turn_id": turn.turn_id, "answer_id": answer.answer_id, "run_id": run_id}
            | _row(turn, drop=("answer",))
            | {"item_hash": turn.item.hash, "meta": canonical_json(turn.meta)},
        )

    def turns_by_conversation(self, run_id: str) -> dict[str, int]:
        """How many turns of each conversation a run has stored."""
        rows = self._db.conn.execute(
            """SELECT conversation_id, count(*) FROM turns JOIN answers USING (answer_id)
               WHERE turns.run_id = ? GROUP BY conversation_id""",
            [run_id],
        )
        return dict(rows.fetchall())

    def count_turns(self) -> int:
        return self._db["turns"].count

    def items(self) -> Iterator[tuple[str, Item]]:
        """Each distinct item once with its hash, ordered by hash."""
        rows = self._db.conn.execute(
            """SELECT turns.item_hash, conversations.messages, answers.text, turns.text
               FROM turns JOIN answers USING (answer_id) JOIN conversations USING (conversation_id)
               GROUP BY turns.item_hash ORDER BY turns.item_hash"""
        )
        for item_hash, messages, answer, turn in rows:
            yield item_hash, Item(messages_from(json.loads(messages)), answer, turn)


def _row(record: Answer | Turn, *, drop: tuple[str, ...]) -> dict[str, Any]:
    row = {key: value for key, value in asdict(record).items() if key not in drop}
    if row["token_ids"] is not None:
        row["token_ids"] = json.dumps(row["token_ids"])
    return row
