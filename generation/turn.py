"""A user turn with all that it rests on: conversation, answer, turn, and the run that made it."""

from dataclasses import dataclass, field
from typing import Any

from generation.item import Item, Message
from rubrics import fingerprint


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
