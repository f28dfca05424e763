"""Any file of conversations: what it is made of is seen in its first row.

Read are chats as OpenAI, ShareGPT, TRL and this tool write them, rows of CollabLLM, samples of
lm-eval and logs of Inspect.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from generation.datasets.chat_message import (
    ChatMessage,
    LeftOut,
    answer_message,
    chat_messages,
    with_system,
)
from generation.datasets.collab_llm import read_collab_llm
from generation.datasets.collected import Collected
from generation.datasets.inspect_log import is_inspect_log, read_inspect_log
from generation.datasets.known_source import KnownSource, Reading
from generation.datasets.lm_eval_samples import read_lm_eval
from generation.exchange.data_rows import data_rows_of
from generation.exchange.import_file import Row, SourceFile, names_shown, texts_in
from rubrics import InputError

EXPECTED = (
    "messages (OpenAI), conversations (ShareGPT), prompt with or without completion (TRL, "
    "CollabLLM), arguments and resps (lm-eval) or an Inspect log"
)
CHATS = ("messages", "conversations", "conversation")  # columns that hold a list of messages
IDS = ("id", "conversation_id", "conv_id", "prompt_id", "uuid")
CANARIED = ("gpqa", "healthbench")  # a file named after one of these holds its text
NOTES = {
    "developer": "read as system",
    "thinking": "of the last answer kept apart, of earlier ones left out",
}


def read_chat(file: SourceFile, name: str) -> Reading:
    """The conversations of a file; raises InputError where no row has a known shape."""
    canary = any(word in file.path.name.lower() for word in CANARIED)
    if is_inspect_log(file):
        reading = read_inspect_log(file, name)
        task = str(reading.choices.get("task")).lower()
        canary = canary or any(word in task for word in CANARIED)
        return Reading(reading.rows, NOTES | reading.choices, canary or reading.canary)
    rows = list(data_rows_of(file))
    if not rows:
        raise InputError(f"{file.path}: no rows; expected {EXPECTED}")
    shape, read = _shape(rows[0])
    collected = Collected(name)
    read(rows, collected)
    canary = canary or any(_has_canary(row) for row in rows)
    return Reading(collected.rows(), NOTES | {"shape": shape}, canary)


_Reader = Callable[[Iterable[Row], Collected], None]


def _shape(row: Row) -> tuple[str, _Reader]:
    keys = row.values.keys()
    if {"arguments", "resps"} <= keys:
        return "lm-eval", read_lm_eval
    if "conv_id" in keys and ({"prompt", "completion"} <= keys or "turns" in keys):
        return "CollabLLM", read_collab_llm
    if any(isinstance(row.values.get(column), list) for column in CHATS):
        return "messages", partial(_read_rows, _messages)
    if "prompt" in keys:
        return "prompt", partial(_read_rows, _prompt_and_completion)
    raise InputError(f"{row.where}: {names_shown(row.values)}; expected {EXPECTED}")


def _read_rows(
    messages_of: Callable[[Row], tuple[ChatMessage, ...]], rows: Iterable[Row], collected: Collected
) -> None:
    for row in rows:
        if row.values.get("tools"):
            collected.leave_out("tools given to the model, which no template is told of")
            continue
        try:
            collected.chat(_id(row.values), messages_of(row), _meta(row.values))
        except LeftOut as why:
            collected.leave_out(str(why))


def _messages(row: Row) -> tuple[ChatMessage, ...]:
    column = next((name for name in CHATS if row.values.get(name) is not None), None)
    if column is None:
        raise _unlike_first(row, " or ".join(CHATS))
    messages = chat_messages(f"{row.where}: {column}", row.values[column])
    return with_system(messages, row.values.get("system"))


def _prompt_and_completion(row: Row) -> tuple[ChatMessage, ...]:
    """TRL's prompt, and its completion if there is one, as texts or as lists of messages."""
    if "prompt" not in row.values:
        raise _unlike_first(row, "prompt")
    prompt, completion = row.values["prompt"], row.values.get("completion")
    if isinstance(prompt, str):
        messages = (ChatMessage("user", prompt),)
    else:
        messages = chat_messages(f"{row.where}: prompt", prompt)
    if isinstance(completion, str):
        return (*messages, answer_message(completion))
    if completion is None:
        return messages
    return messages + chat_messages(f"{row.where}: completion", completion)


def _unlike_first(row: Row, expected: str) -> InputError:
    return InputError(
        f"{row.where}: {names_shown(row.values)}; expected {expected}, as the first row has"
    )


def _id(values: Mapping[str, Any]) -> str | None:
    known = (values.get(column) for column in IDS)
    ids = (value for value in known if isinstance(value, str | int) and value != "")
    return next((str(value) for value in ids), None)


def _meta(values: Mapping[str, Any]) -> dict[str, Any]:
    """What a native row says beside its messages: meta, reference and source."""
    meta = values.get("meta")
    named = {key: values[key] for key in ("reference", "source") if values.get(key) is not None}
    return (dict(meta) if isinstance(meta, Mapping) else {}) | named


def _has_canary(row: Row) -> bool:
    """Whether a row carries the mark of a benchmark that must not be published.

    >>> from pathlib import Path
    >>> doc = {"doc": {"Canary String": "26b5"}}
    >>> [_has_canary(Row(Path(), 1, values, False)) for values in (doc, {"a": "a canary sings"})]
    [True, False]
    """
    if any("canary" in key.lower() for key in _keys(row.values)):
        return True
    return any("canary guid" in text.lower() for text in texts_in(row, row.values))


def _keys(value: Any) -> Iterable[str]:
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield key
            yield from _keys(part)


CHAT = KnownSource(
    name="chat",
    expects=f"conversations, JSONL, JSON, CSV or Parquet with {EXPECTED}",
    read=read_chat,
    licence="not known; the file is yours",
)
