"""OpenAssistant message trees: what people really said after an answer (arXiv 2304.07327)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from generation.datasets.collected import NEXT_TURN
from generation.datasets.dataset import Rows
from generation.datasets.known_source import KnownSource, Reading
from generation.exchange.data_rows import data_rows_of
from generation.exchange.import_file import SourceFile, read_file
from generation.item import Message
from generation.plan.plan import SELF_GENERATED
from generation.turn import Answer, Conversation, Turn
from rubrics import InputError

SPEAKERS = {"prompter": "user", "assistant": "assistant"}


def open_assistant_turns(path: Path) -> list[Turn]:
    """Every person's own next turn after an answer, as a held-out turn."""
    return [_turn(path) for path in _paths(read_file(path, expected="OpenAssistant trees, JSONL"))]


def read_open_assistant(file: SourceFile, name: str) -> Reading:
    """Every answer after which a person went on, named after its own message.

    `next_turn` in the meta is what was said, `other_next_turns` what other people said there.
    """
    followed: dict[str, list[Turn]] = {}
    for path in _paths(file):
        followed.setdefault(path.answer["message_id"], []).append(_turn(path))
    return Reading(Rows((), tuple(_answer(name, *entry) for entry in followed.items())))


def _answer(name: str, message_id: str, turns: list[Turn]) -> Answer:
    asked = turns[0].answer.conversation
    said, *others = (turn.text for turn in turns)
    meta = asked.meta | {NEXT_TURN: said, "other_next_turns": others}
    conversation = replace(asked, dataset=name, source_id=message_id, meta=meta)
    return replace(turns[0].answer, conversation=conversation)


@dataclass(frozen=True)
class _Path:
    """One way through a tree: prompter, assistant, … down to an answer and what followed it."""

    tree: str
    context: tuple[dict[str, Any], ...]
    answer: dict[str, Any]
    turn: dict[str, Any]


def _paths(file: SourceFile) -> Iterator[_Path]:
    """Messages that are deleted, synthetic or without a positive review are nowhere in a path."""
    for row in data_rows_of(file):
        tree = row.values
        if "message_tree_id" not in tree or not isinstance(tree.get("prompt"), dict):
            raise InputError(
                f"{row.where}: no 'message_tree_id' and 'prompt'; expected OpenAssistant trees"
            )
        try:
            yield from _follow(tree["message_tree_id"], tree["prompt"], ())
        except (KeyError, TypeError) as error:
            raise InputError(
                f"{row.where}: a message of the tree lacks {error}; expected OpenAssistant trees"
            ) from error


def _follow(tree: str, node: dict[str, Any], before: tuple[dict[str, Any], ...]) -> Iterator[_Path]:
    if node.get("deleted") or node.get("synthetic") or not node.get("review_result"):
        return
    path = (*before, node)
    roles = ["assistant" if place % 2 else "prompter" for place in range(len(path))]
    if [step["role"] for step in path] != roles:
        return
    if len(path) >= 3 and node["role"] == "prompter":
        yield _Path(tree, path[:-2], path[-2], node)
    for reply in node["replies"]:
        yield from _follow(tree, reply, path)


def _turn(path: _Path) -> Turn:
    conversation = Conversation(
        "open_assistant",
        path.context[-1]["message_id"],
        tuple(Message(SPEAKERS[step["role"]], step["text"]) for step in path.context),
        {"tree": path.tree},
    )
    meta = {
        "answer_message": path.answer["message_id"],
        "turn_message": path.turn["message_id"],
    }
    return Turn(Answer(conversation, path.answer["text"]), path.turn["text"], "held-out", meta=meta)


OPEN_ASSISTANT = KnownSource(
    name="open_assistant",
    expects="OpenAssistant trees, JSONL with message_tree_id, prompt",
    read=read_open_assistant,
    licence="Apache-2.0, LAION-AI/Open-Assistant",
    file_names=("oasst_en_100_tree.jsonl", "2023-04-12_oasst_ready.trees.jsonl"),
    expected={SELF_GENERATED: 0},
)
