"""Turns as one flat table, which Parquet and a Hugging Face folder share and import reads again.

What is judged comes first: q (the conversation's messages as JSON), a and u. `condition` is
derived: it names what else than model, data set, temperature and perturbation is unusual.
"""

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from generation.turn import Answer, Conversation, Turn
from generation.turn_record import record_from_turn
from rubrics import InputError, canonical_json

# Type by column, in the words of Parquet.
COLUMNS: Mapping[str, str] = {
    "turn_id": "string",
    "q": "string",
    "a": "string",
    "u": "string",
    "dataset": "string",
    "source_id": "string",
    "model": "string",
    "setting": "string",
    "temperature": "double",
    "top_p": "double",
    "top_k": "int64",
    "sample_index": "int64",
    "perturbation": "string",
    "condition": "string",
    "context_mode": "string",
    "number": "int64",
    "flags": "string[]",
    "finish_reason": "string",
    "stop_token_id": "int64",
    "seed": "int64",
    "token_ids": "int64[]",
    "u_raw": "string",
    "prompt_token_hash": "string",
    "row_id": "string",
    "follows": "string",
    "meta": "string",
    "conversation_id": "string",
    "conversation_meta": "string",
    "root": "string",
    "answer_id": "string",
    "answer_model": "string",
    "answer_temperature": "double",
    "answer_top_p": "double",
    "answer_top_k": "int64",
    "answer_seed": "int64",
    "answer_raw": "string",
    "answer_token_ids": "int64[]",
    "answer_finish_reason": "string",
    "answer_stop_token_id": "int64",
    "answer_row_id": "string",
    "answer_prompt_token_hash": "string",
    "answer_thinking": "string",
    "answer_unusable": "string",
    "answer_perturbation": "string",
    "answer_parent_id": "string",
    "answer_parent": "string",
}


def _columns(part: type, whole: str, prefix: str, others: Mapping[str, str]) -> dict[str, str]:
    """Column by field of a dataclass, but for the field of the `whole` that it is part of."""
    names = [field.name for field in fields(part) if field.name != whole]
    return {name: others.get(name, prefix + name) for name in names}


_TURN = _columns(Turn, "answer", "", {"text": "u", "text_raw": "u_raw"})
_ANSWER = _columns(Answer, "conversation", "answer_", {"text": "a", "text_raw": "answer_raw"})
_CONVERSATION = _columns(Conversation, "", "", {"messages": "q", "meta": "conversation_meta"})
_JSON = ("q", "meta", "conversation_meta", "answer_parent")


def table_row(turn: Turn, parent: Answer | None = None) -> dict[str, Any]:
    """One row; messages, meta and the answer that a perturbed one was made of are JSON."""
    record = record_from_turn(turn, parent)
    cells = {
        "turn_id": record["turn_id"],
        "conversation_id": turn.answer.conversation.conversation_id,
        "answer_id": turn.answer.answer_id,
        "condition": turn.condition,
        "answer_parent": record.get("parent"),
    }
    for part, columns in _parts(record):
        cells |= {columns[name]: value for name, value in part.items()}
    for column in _JSON:
        cells[column] = None if cells[column] is None else canonical_json(cells[column])
    return {column: cells[column] for column in COLUMNS}


def record_from_row(row: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The native record that a row holds; raises InputError where a cell is not as we write it.

    A column of an older version's table may be missing; those that are not ours are left aside.
    """
    try:
        cells = dict(row)
        for column in _JSON:
            cells[column] = None if row[column] is None else json.loads(row[column])
        record: dict[str, Any] = {"turn_id": row["turn_id"]}
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{where}: not a row of an exported table: {error!r}; expected the columns that "
            "generate export OUT.parquet writes"
        ) from error
    record |= {"turn": {}, "answer": {}, "conversation": {}}
    for part, columns in _parts(record):
        part |= {name: cells[column] for name, column in columns.items() if column in cells}
    parent = cells["answer_parent"]
    return record | ({"parent": parent} if parent else {})


def _parts(record: dict[str, Any]) -> list[tuple[dict[str, Any], dict[str, str]]]:
    return [
        (record["turn"], _TURN),
        (record["answer"], _ANSWER),
        (record["conversation"], _CONVERSATION),
    ]
