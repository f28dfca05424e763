"""One turn with its answer and conversation as one JSON object: the native row of the files."""

from dataclasses import asdict
from typing import Any

from generation.item import messages_from
from generation.turn import Answer, Conversation, Turn
from rubrics import InputError


def record_from_turn(turn: Turn) -> dict[str, Any]:
    """The JSON form; `turn_id` lets a reader see that nothing was changed since."""
    answer = asdict(turn.answer)
    conversation = answer.pop("conversation")
    row = asdict(turn)
    del row["answer"]
    return {"turn_id": turn.turn_id, "conversation": conversation, "answer": answer, "turn": row}


def turn_from_record(record: dict[str, Any], where: str) -> Turn:
    """The turn again; raises InputError when the record is not one or was changed."""
    try:
        conversation = dict(record["conversation"])
        conversation["messages"] = messages_from(conversation["messages"])
        answer = _with_ids(record["answer"])
        row = _with_ids(record["turn"])
        turn = Turn(answer=Answer(conversation=Conversation(**conversation), **answer), **row)
        turn_id = record["turn_id"]
    except (KeyError, TypeError, InputError) as error:
        raise InputError(f"{where}: not a turn record: {error}") from error
    if turn.turn_id != turn_id:
        raise InputError(f"{where}: the turn does not match its turn_id; the row was changed")
    return turn


def _with_ids(row: dict[str, Any]) -> dict[str, Any]:
    ids = row["token_ids"]
    return row | {"token_ids": None if ids is None else tuple(ids)}
