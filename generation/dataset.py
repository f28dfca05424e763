"""Data sets that the probe asks from: local JSONL files, read into conversations that end in q."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from generation.chat_model import file_hash
from generation.item import Message
from generation.store import Answer, Conversation, Turn
from rubrics import InputError, fingerprint


@dataclass(frozen=True)
class Dataset:
    """One file of one data set. The provenance names the file without its folder."""

    name: str
    file_name: str
    file_hash: str
    conversations: tuple[Conversation, ...]

    def sample(self, count: int | None, seed: int) -> list[Conversation]:
        """A seeded choice of conversations; a larger `count` only adds to a smaller one."""
        ordered = sorted(
            self.conversations,
            key=lambda conversation: fingerprint([seed, conversation.conversation_id]),
        )
        return ordered[:count]

    def provenance(self) -> dict[str, Any]:
        return {
            "dataset": self.name,
            "file": self.file_name,
            "sha256": self.file_hash,
            "rows": len(self.conversations),
        }


def read_named_dataset(text: str) -> Dataset:
    """Read `NAME:FILE`; raises InputError for another form, an unknown name or a foreign file."""
    name, colon, path = text.partition(":")
    if not colon or not path:
        raise InputError(
            f"--data {text!r}: expected NAME:FILE with NAME one of {', '.join(DATASET_NAMES)}"
        )
    return read_dataset(name, Path(path))


def read_dataset(name: str, path: Path) -> Dataset:
    """Read a data set by its name; raises InputError naming file and line for a foreign file."""
    if name not in _READERS:
        raise InputError(f"unknown data set {name!r}: the known ones are {', '.join(_READERS)}")
    fields, read = _READERS[name]
    conversations = []
    for where, line, row in json_lines(path):
        missing = [key for key in fields if key not in row]
        if missing:
            raise InputError(
                f"{where}: no {', '.join(map(repr, missing))}; a row of {name} has "
                f"{', '.join(map(repr, fields))}, this one has {', '.join(map(repr, row))}"
            )
        source_id, question, meta = read(line, row)
        if not isinstance(question, str) or not question:
            raise InputError(f"{where}: the question is {question!r}; expected text")
        conversations.append(Conversation(name, source_id, (Message("user", question),), meta))
    if not conversations:
        raise InputError(f"{path}: no rows; expected one JSON object per line")
    return Dataset(name, path.name, file_hash(path), tuple(conversations))


def json_lines(path: Path) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """(`file:line`, line number, object) of every line of a JSONL file that is not blank."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    for number, line in enumerate(content.split(b"\n"), start=1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            row = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
        except (ValueError, RecursionError) as error:
            raise InputError(f"{where}: not JSON: {error}") from error
        if not isinstance(row, dict):
            raise InputError(f"{where}: expected a JSON object, found {type(row).__name__}")
        yield where, number, row


def _gsm8k(line: int, row: dict[str, Any]) -> tuple[str, Any, dict[str, Any]]:
    return f"test-{line}", row["question"], {"reference": row["answer"]}


def _ifeval(_line: int, row: dict[str, Any]) -> tuple[str, Any, dict[str, Any]]:
    checks = {key: row[key] for key in ("instruction_id_list", "kwargs")}
    return str(row["key"]), row["prompt"], checks


def _mt_bench(_line: int, row: dict[str, Any]) -> tuple[str, Any, dict[str, Any]]:
    turns = row["turns"] if isinstance(row["turns"], list) and row["turns"] else [None]
    return str(row["question_id"]), turns[0], {"category": row["category"]}


_Reader = Callable[[int, dict[str, Any]], tuple[str, Any, dict[str, Any]]]
_READERS: dict[str, tuple[tuple[str, ...], _Reader]] = {
    "gsm8k": (("question", "answer"), _gsm8k),
    "ifeval": (("key", "prompt", "instruction_id_list", "kwargs"), _ifeval),
    "mt_bench": (("question_id", "category", "turns"), _mt_bench),
}
DATASET_NAMES = tuple(_READERS)


def read_open_assistant(path: Path) -> list[Turn]:
    """Held-out turns of an OpenAssistant tree file: people's own next turns after an answer.

    Every path prompter … prompter, assistant, prompter gives one. Deleted, synthetic and
    negatively reviewed messages are not used, neither in the context nor as answer or turn.
    """
    turns = []
    for where, _, row in json_lines(path):
        if "message_tree_id" not in row or not isinstance(row.get("prompt"), dict):
            raise InputError(
                f"{where}: no 'message_tree_id' and 'prompt'; expected OpenAssistant trees"
            )
        try:
            turns.extend(_follow(row["message_tree_id"], row["prompt"], []))
        except (KeyError, TypeError) as error:
            raise InputError(
                f"{where}: a message of the tree lacks {error}; expected OpenAssistant trees"
            ) from error
    return turns


def _follow(tree: str, node: dict[str, Any], before: list[dict[str, Any]]) -> Iterator[Turn]:
    if node.get("deleted") or node.get("synthetic") or not node.get("review_result"):
        return
    path = [*before, node]
    roles = ["assistant" if place % 2 else "prompter" for place in range(len(path))]
    if [step["role"] for step in path] != roles:
        return
    if len(path) >= 3 and node["role"] == "prompter":
        yield _held_out(tree, path)
    for reply in node["replies"]:
        yield from _follow(tree, reply, path)


def _held_out(tree: str, path: list[dict[str, Any]]) -> Turn:
    *context, answer, turn = path
    speakers = {"prompter": "user", "assistant": "assistant"}
    conversation = Conversation(
        "open_assistant",
        context[-1]["message_id"],
        tuple(Message(speakers[step["role"]], step["text"]) for step in context),
        {"tree": tree},
    )
    meta = {"answer_message": answer["message_id"], "turn_message": turn["message_id"]}
    return Turn(Answer(conversation, answer["text"]), turn["text"], "held-out", meta=meta)
