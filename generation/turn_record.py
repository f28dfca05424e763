"""One turn with its answer and conversation as one JSON object: the native row of the files."""

from dataclasses import dataclass, fields
from typing import Any

from generation.item import messages_from
from generation.turn import Answer, Conversation, Turn
from rubrics import InputError

NATIVE = frozenset(("turn_id", "conversation", "answer", "turn"))


@dataclass(frozen=True)
class Record:
    """A turn that stands alone: with the answer that its perturbed answer was made of, if any."""

    turn: Turn
    parent: Answer | None = None


def record_from_turn(turn: Turn, parent: Answer | None = None) -> dict[str, Any]:
    """The JSON form; `turn_id` lets a reader see that nothing was changed since."""
    conversation = turn.answer.conversation
    messages = [message.as_dict() for message in conversation.messages]
    record = {
        "turn_id": turn.turn_id,
        "conversation": _row(conversation) | {"messages": messages},
        "answer": _row(turn.answer, drop="conversation"),
        "turn": _row(turn, drop="answer"),
    }
    return record | ({"parent": _row(parent, drop="conversation")} if parent else {})


def turn_from_record(record: dict[str, Any], where: str) -> Turn:
    """The turn again; raises InputError when the record is not one or was changed."""
    return read_record(record, where).turn


def read_record(record: dict[str, Any], where: str) -> Record:
    """The turn and the parent of its answer; raises InputError as `turn_from_record`.

    A record of an older version lacks the newer fields and has their defaults.
    """
    try:
        conversation = dict(record["conversation"])
        conversation["messages"] = messages_from(conversation["messages"])
        asked = Conversation(**conversation)
        answer = Answer(conversation=asked, **_with_tuples(record["answer"]))
        turn = Turn(answer=answer, **_with_tuples(record["turn"]))
        parent = record.get("parent")
        parent = Answer(conversation=asked, **_with_tuples(parent)) if parent else None
        ids = (turn.turn_id, parent and parent.answer_id)
        turn_id = record["turn_id"]
    except (KeyError, TypeError, ValueError, InputError) as error:
        raise InputError(f"{where}: not a turn record: {error}") from error
    if ids != (turn_id, parent and answer.parent_id):
        raise InputError(f"{where}: the turn does not match its turn_id; the row was changed")
    return Record(turn, parent)


def _row(part: Conversation | Answer | Turn, drop: str = "") -> dict[str, Any]:
    names = (field.name for field in fields(part) if field.name != drop)
    return {name: getattr(part, name) for name in names}


def _with_tuples(row: dict[str, Any]) -> dict[str, Any]:
    values = dict(row).items()
    return {key: tuple(value) if isinstance(value, list) else value for key, value in values}
