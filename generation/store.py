"""pipeline.db, the generation part: runs and turns, keyed by content; this store only adds."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from generation.clock import now
from generation.database import immediate, keep, open_database
from generation.item import Item, messages_from
from generation.migrations import generation_migrations
from generation.turn import Added, Answer, Conversation, Run, Turn
from rubrics import canonical_json

READ_AT_ONCE = 1_000  # turns with all their texts


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
        with immediate(self._db):
            self.keep_run(run)
            for turn in turns:
                if self.keep_turn(run.run_id, turn):
                    new += 1
                else:
                    known += 1
        return Added(new, known)

    def add_answers(self, run: Run, answers: Iterable[Answer]) -> None:
        """Store answers that have no turn yet, in one transaction; equal rows once."""
        with immediate(self._db):
            self.keep_run(run)
            for answer in answers:
                self.keep_answer(run.run_id, answer)

    def keep_run(self, run: Run) -> None:
        row = {
            "run_id": run.run_id,
            "kind": run.kind,
            "provenance": canonical_json(run.provenance),
            "started_at": now(),
        }
        keep(self._db, "runs", row)

    def runs_named(self, name: str) -> list[str]:
        """The ids, by age, of the runs that it may mean: by name, by plan, by the head of an id."""
        rows = self._db.conn.execute(
            """SELECT run_id FROM
                   (SELECT *, coalesce(json_extract(provenance, '$.name'), kind) AS name FROM runs)
               WHERE name = :name OR substr(name, 1, length(:name) + 1) = :name || '/'
                  OR substr(replace(run_id, 'sha256:', ''), 1, length(:id)) = :id
               ORDER BY started_at, run_id""",
            {"name": name, "id": name.removeprefix("sha256:") or name},
        )
        return [run_id for (run_id,) in rows]

    def keep_conversation(self, conversation: Conversation) -> None:
        conversation_id = conversation.conversation_id
        if self._has("conversations", "conversation_id", conversation_id):
            return
        row = {
            "conversation_id": conversation_id,
            "dataset": conversation.dataset,
            "source_id": conversation.source_id,
            "messages": canonical_json([m.as_dict() for m in conversation.messages]),
            "meta": canonical_json(conversation.meta),
            "root": conversation.root,
        }
        keep(self._db, "conversations", row)

    def keep_answer(self, run_id: str, answer: Answer) -> bool:
        """Store an answer with its conversation; says whether it is new. The run must be kept."""
        if self._has("answers", "answer_id", answer.answer_id):
            return False
        self.keep_conversation(answer.conversation)
        row = {
            "answer_id": answer.answer_id,
            "conversation_id": answer.conversation.conversation_id,
            "run_id": run_id,
        }
        return keep(self._db, "answers", row | _row(answer, drop=("conversation",)))

    def keep_turn(self, run_id: str, turn: Turn) -> bool:
        """Store a turn with all it rests on; says whether it is new. The run must be kept."""
        self.keep_answer(run_id, turn.answer)
        row = {
            "turn_id": turn.turn_id,
            "answer_id": turn.answer.answer_id,
            "run_id": run_id,
            "item_hash": turn.item.hash,
            "condition": turn.condition,
        }
        new = keep(self._db, "turns", _row(turn, drop=("answer",)) | row)
        keep(self._db, "run_turns", {"run_id": run_id, "turn_id": turn.turn_id})
        return new

    def _has(self, table: str, key: str, value: str) -> bool:
        # Asked before a row is written out: most turns rest on an answer that is there already.
        found = self._db.conn.execute(f"SELECT 1 FROM {table} WHERE {key} = ?", [value])
        return found.fetchone() is not None

    def turns(self, run_id: str | None = None) -> Iterator[Turn]:
        """Every turn, or every one that a run gave, with all it rests on; followed ones first."""
        of_run = "JOIN run_turns USING (turn_id) WHERE run_turns.run_id = ?" if run_id else ""
        numbers = self._db.conn.execute("SELECT DISTINCT number FROM turns ORDER BY number")
        for (number,) in numbers.fetchall():
            joint = "AND" if run_id else "WHERE"
            rows = self._db.conn.execute(
                f"""SELECT {_columns("turns", Turn, "answer")}, {_ANSWER_COLUMNS}
                    FROM turns JOIN answers USING (answer_id)
                    JOIN conversations USING (conversation_id)
                    {of_run} {joint} turns.number = ? ORDER BY turns.rowid""",
                [run_id, number] if run_id else [number],
            )
            for row in rows:
                yield _turn_from(row)

    def turns_of_rows(self, row_ids: Sequence[str]) -> Iterator[Turn]:
        """The turns that these rows of a plan gave, in their order, as far as they are there."""
        for first in range(0, len(row_ids), READ_AT_ONCE):
            rows = self._db.conn.execute(
                f"""SELECT {_columns("turns", Turn, "answer")}, {_ANSWER_COLUMNS}
                    FROM json_each(?) AS asked JOIN turns ON turns.row_id = asked.value
                    JOIN answers USING (answer_id) JOIN conversations USING (conversation_id)
                    ORDER BY asked.key""",
                [json.dumps(row_ids[first : first + READ_AT_ONCE])],
            )
            yield from map(_turn_from, rows.fetchall())

    def answer(self, answer_id: str) -> Answer:
        """One stored answer with its conversation."""
        row = self._db.conn.execute(
            f"""SELECT {_ANSWER_COLUMNS} FROM answers JOIN conversations USING (conversation_id)
                WHERE answer_id = ?""",
            [answer_id],
        ).fetchone()
        return _answer_from(row)

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
    row = {f.name: getattr(record, f.name) for f in fields(record) if f.name not in drop}
    for name in _JSON_COLUMNS & row.keys():
        if row[name] is not None:
            row[name] = canonical_json(row[name])
    return row


def _names(record: type, *, drop: str) -> list[str]:
    return [field.name for field in fields(record) if field.name != drop]


def _columns(table: str, record: type, drop: str) -> str:
    return ", ".join(f"{table}.{name}" for name in _names(record, drop=drop))


def conversation_columns() -> str:
    """The columns that `conversation_from` reads, in its order."""
    return _columns("conversations", Conversation, drop="")


def conversation_from(row: Sequence[Any]) -> Conversation:
    values = dict(zip(_names(Conversation, drop=""), row, strict=True))
    messages = messages_from(json.loads(values.pop("messages")))
    return Conversation(messages=messages, **_parsed(values))


_JSON_COLUMNS = {"token_ids", "meta", "flags"}
_ANSWER_COLUMNS = f"{_columns('answers', Answer, 'conversation')}, {conversation_columns()}"


def _turn_from(row: tuple[Any, ...]) -> Turn:
    names = _names(Turn, drop="answer")
    values = _parsed(dict(zip(names, row, strict=False)))
    values["flags"] = tuple(values["flags"])
    return Turn(answer=_answer_from(row[len(names) :]), **values)


def _answer_from(row: tuple[Any, ...]) -> Answer:
    names = _names(Answer, drop="conversation")
    conversation = conversation_from(row[len(names) :])
    return Answer(conversation, **_parsed(dict(zip(names, row, strict=False))))


def _parsed(values: dict[str, Any]) -> dict[str, Any]:
    for name in _JSON_COLUMNS & values.keys():
        if values[name] is not None:
            values[name] = json.loads(values[name])
    if values.get("token_ids") is not None:
        values["token_ids"] = tuple(values["token_ids"])
    return values
