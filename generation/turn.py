"""A user turn with all that it rests on: conversation, answer, turn, and the run that made it."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from generation.item import Item, Message
from rubrics import fingerprint


@dataclass(frozen=True)
class Run:
    """One act that added rows: a probe, an import, the example. Equal provenance, equal run."""

    kind: str
    provenance: dict[str, Any]

    @cached_property
    def run_id(self) -> str:
        return fingerprint({"kind": self.kind, "provenance": self.provenance})


@dataclass(frozen=True)
class Conversation:
    """Messages ending in q, with the data set and the row that they come from.

    `root` is the conversation_id of the one that this one grew out of by generated turns.
    """

    dataset: str
    source_id: str
    messages: tuple[Message, ...]
    meta: dict[str, Any] = field(default_factory=dict)
    root: str | None = None

    @cached_property
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
    """The assistant's answer a: what a reader sees of it, its thinking apart.

    The token fields are None where a was not generated here. `row_id` names the row of a plan
    that this is. A perturbed answer says what was done to the answer `parent_id`. `unusable` says
    why no user turn can follow.
    """

    conversation: Conversation
    text: str
    model: str | None = None
    temperature: float | None = None
    seed: int | None = None
    text_raw: str | None = None
    token_ids: tuple[int, ...] | None = None
    finish_reason: str | None = None
    stop_token_id: int | None = None
    row_id: str | None = None
    top_p: float | None = None
    top_k: int | None = None
    prompt_token_hash: str | None = None
    thinking: str | None = None
    unusable: str | None = None
    perturbation: str = "none"
    parent_id: str | None = None

    @cached_property
    def answer_id(self) -> str:
        """Of what it says and where it comes from; of a row of a plan, of the row too."""
        identity = {
            "conversation": self.conversation.conversation_id,
            "text": self.text,
            "model": self.model,
            "temperature": self.temperature,
            "seed": self.seed,
        }
        row = {"row": self.row_id, "parent": self.parent_id, "perturbation": self.perturbation}
        if self.row_id or self.parent_id:
            identity |= row
        return fingerprint(identity)


@dataclass(frozen=True)
class Turn:
    """The user turn u after an answer; `setting` is 'self-generated' or 'held-out'.

    `number` counts generated user turns of one conversation, `follows` is the turn_id of the one
    before. `flags` say what a reader of the numbers must know, such as 'length'.
    """

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
    row_id: str | None = None
    top_p: float | None = None
    top_k: int | None = None
    number: int = 1
    follows: str | None = None
    flags: tuple[str, ...] = ()

    @property
    def condition(self) -> str:
        """What is unusual about how it was made: see `condition_of`."""
        return condition_of(self.context_mode, self.top_p, self.top_k, self.number)

    @cached_property
    def item(self) -> Item:
        return Item(self.answer.conversation.messages, self.answer.text, self.text)

    @cached_property
    def turn_id(self) -> str:
        """Of what it says and how it was made; of a row of a plan, of the row too."""
        identity = {
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
        return fingerprint(identity | ({"row": self.row_id} if self.row_id else {}))


def condition_of(
    context_mode: str | None, top_p: float | None, top_k: int | None, number: int = 1
) -> str:
    """What else than model, data set, temperature and perturbation is unusual about a turn.

    Rates are counted by it; '' for the default.

    >>> condition_of("history", 1.0, 0), condition_of("raw", 0.9, 20, number=2)
    ('', 'raw, top-p 0.9, top-k 20, user turn 2')
    """
    unusual = (
        context_mode if context_mode not in (None, "history") else None,
        None if top_p in (None, 1) else f"top-p {top_p:g}",
        f"top-k {top_k}" if top_k else None,
        f"user turn {number}" if number > 1 else None,
    )
    return ", ".join(filter(None, unusual))


@dataclass(frozen=True)
class Added:
    """How many turns a write added and how many the store held already."""

    new: int
    known: int
