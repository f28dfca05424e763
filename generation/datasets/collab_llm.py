"""Rows of CollabLLM (arXiv 2502.00640): chats turn by turn, each with completions and scores."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from generation.datasets.chat_message import ChatMessage, LeftOut, answer_message, chat_messages
from generation.datasets.collected import NEXT_TURN, Collected
from generation.exchange.import_file import Row, names_shown
from rubrics import InputError


@dataclass(frozen=True)
class _Exchange:
    """A prompt that ends in a user's message, and one completion of it."""

    conversation: str
    turn: str
    prompt: tuple[ChatMessage, ...]
    completion: ChatMessage
    score: Any

    @property
    def spoken(self) -> tuple[str, ...]:
        """The conversation up to the completion, to be found at the head of a later prompt."""
        texts = [message.content for message in (*self.prompt, self.completion)]
        return (self.conversation, *texts)


def read_collab_llm(rows: Iterable[Row], collected: Collected) -> None:
    """Every completion as a held-out answer.

    Where a later prompt of the conversation goes on from it, the user's message there is its
    `next_turn`.
    """
    exchanges = [exchange for row in rows for exchange in _exchanges(row, collected)]
    said = {
        (one.conversation, *(message.content for message in one.prompt[:-1])): one.prompt[-1]
        for one in exchanges
        if one.prompt
    }
    numbers: Counter[tuple[str, str]] = Counter()
    for one in exchanges:
        place = one.conversation, one.turn
        meta = {"conv_id": one.conversation, "turn_id": one.turn, "score": one.score}
        if one.spoken in said:
            meta[NEXT_TURN] = said[one.spoken].content
        source_id = f"{one.conversation}/{one.turn}/{numbers[place]}"
        numbers[place] += 1
        collected.answered(source_id, [*one.prompt, one.completion], meta)


@dataclass(frozen=True)
class _Response:
    """A completion as it stands in a file, with the place that it has there."""

    turn: Any
    prompt: Any
    completion: Any
    score: Any


def _exchanges(row: Row, collected: Collected) -> Iterator[_Exchange]:
    for found in _responses(row):
        if not isinstance(found.completion, str):
            raise InputError(f"{row.where}: completion is {found.completion!r:.60}; expected text")
        try:
            prompt = chat_messages(f"{row.where}: prompt", found.prompt)
            answer = answer_message(found.completion)
        except LeftOut as why:
            collected.leave_out(str(why))
            continue
        conversation = str(row.values["conv_id"])
        yield _Exchange(conversation, str(found.turn), prompt, answer, found.score)


def _responses(row: Row) -> list[_Response]:
    """The one of a flat row, or every response of every turn of a nested one."""
    values = row.values
    if {"conv_id", "prompt", "completion"} <= values.keys():
        turn, score = values.get("turn_id", 0), values.get("score")
        return [_Response(turn, values["prompt"], values["completion"], score)]
    try:
        if "conv_id" in values:
            return [
                _Response(number, turn["prompt"], one["completion"], one.get("score"))
                for number, turn in enumerate(values["turns"])
                for one in turn["responses"]
            ]
    except (KeyError, TypeError, AttributeError):
        pass
    raise InputError(
        f"{row.where}: {names_shown(values)}; expected conv_id, prompt and completion, or "
        "conv_id and turns with prompt and responses"
    )
