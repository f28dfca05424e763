"""Data sets that the probe asks from: local JSONL files, read into conversations that end in q."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from generation.import_file import Row, json_rows_of, names_shown, read_file
from generation.item import Message
from generation.turn import Answer, Conversation, Turn
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
    expected = f"your copy of {name}, JSONL with {', '.join(fields)}: --data {name}:FILE"
    file = read_file(path, expected=expected)
    conversations = []
    for row in json_rows_of(file):
        missing = [key for key in fields if key not in row.values]
        if missing:
            raise InputError(
                f"{row.where}: no {', '.join(missing)}; a row of {name} has {', '.join(fields)}, "
                f"this one has {names_shown(row.values)}"
            )
        source_id, question, meta = read(row)
        if not isinstance(question, str) or not question:
            raise InputError(f"{row.where}: the question is {question!r:.60}; expected text")
        conversations.append(Conversation(name, source_id, (Message("user", question),), meta))
    return Dataset(name, path.name, file.hash, tuple(conversations))


def _gsm8k(row: Row) -> tuple[str, Any, dict[str, Any]]:
    """The rows have no id: theirs is the split, the last word of the file's name, and the line."""
    split = row.path.stem.rpartition("_")[2]
    return f"{split}-{row.line}", row.values["question"], {"reference": row.values["answer"]}


def _ifeval(row: Row) -> tuple[str, Any, dict[str, Any]]:
    checks = {key: row.values[key] for key in ("instruction_id_list", "kwargs")}
    return str(row.values["key"]), row.values["prompt"], checks


def _mt_bench(row: Row) -> tuple[str, Any, dict[str, Any]]:
    turns = row.values["turns"]
    first = turns[0] if isinstance(turns, list) and turns else None
    return str(row.values["question_id"]), first, {"category": row.values["category"]}


_Reader = Callable[[Row], tuple[str, Any, dict[str, Any]]]
_READERS: dict[str, tuple[tuple[str, ...], _Reader]] = {
    "gsm8k": (("question", "answer"), _gsm8k),
    "ifeval": (("key", "prompt", "instruction_id_list", "kwargs"), _ifeval),
    "mt_bench": (("question_id", "category", "turns"), _mt_bench),
}
DATASET_NAMES = tuple(_READERS)


def read_open_assistant(path: Path) -> list[Turn]:
    """Held-out turns of an OpenAssistant tree file: people's own next turns after an answer.

    Every path prompter … prompter, assistant, prompter gives one. Messages that are deleted,
    synthetic or without a positive review are not used, neither in the context nor as answer or
    turn.
    """
    turns = []
    for row in json_rows_of(read_file(path, expected="OpenAssistant trees, JSONL")):
        tree = row.values
        if "message_tree_id" not in tree or not isinstance(tree.get("prompt"), dict):
            raise InputError(
                f"{row.where}: no 'message_tree_id' and 'prompt'; expected OpenAssistant trees"
            )
        try:
            turns.extend(_follow(tree["message_tree_id"], tree["prompt"], []))
        except (KeyError, TypeError) as error:
            raise InputError(
                f"{row.where}: a message of the tree lacks {error}; expected OpenAssistant trees"
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
