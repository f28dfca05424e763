"""Prompts as token ids: a question to answer, and the context in which a user turn begins.

"The conversation so far" is not one string. `history` is what the model would really read if a user
turn followed, `raw` the very tokens that it sampled, `naive` a finished conversation with a user
header written after it. For thinking models and gpt-oss all three differ.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from generation.chat.chat_model import ChatModel
from generation.chat.control_tokens import tokens_in
from generation.chat.sentinel import SENTINELS
from generation.chat.user_turn_cut import Cut, without_space
from generation.item import Message
from generation.plan.plan import NAIVE, RAW
from generation.turn import Answer
from rubrics import InputError, fingerprint


@dataclass(frozen=True)
class Prompt:
    """What is sent to an engine; `notes` are what a reader of the row must know about it.

    Notes: `altered_by_template` ({'question' | 'answer' | 'system': 'trimmed' | 'changed' |
    'dropped'}), `header_space_stripped`, `control_tokens_in_answer`, `thinking_in_history` (the
    context shows the thinking of the answer); of a naive context `differs_from_history`, or
    `history_refused` with why there is none.
    `opening` is what the template wrote after a question: it may have begun the thinking.
    """

    token_ids: tuple[int, ...]
    notes: dict[str, Any] = field(default_factory=dict)
    opening: str = ""


def question_prompt(model: ChatModel, messages: Sequence[Message]) -> Prompt:
    """The conversation with the assistant's turn opened; raises InputError where it cannot be."""
    _check_conversation(model, messages)
    template = model.cut.template
    # A template may edit the question, or write its very words: a mark behind it is found again.
    marked = replace(messages[-1], content=f"{messages[-1].content} {SENTINELS[0]}")
    _, _, opening = template.render([*messages[:-1], marked], answer_follows=True).rpartition(
        SENTINELS[0]
    )
    text = template.render(messages, answer_follows=True)
    return Prompt(tuple(model.encode(text)), opening=opening)


def turn_prompt(model: ChatModel, answer: Answer, context: str) -> Prompt:
    """The context of the user turn after an answer; raises InputError where it cannot be made."""
    messages = answer.conversation.messages
    _check_conversation(model, messages)
    if answer.unusable or not answer.text.strip():
        raise InputError(f"no user turn can follow this answer: {answer.unusable or 'it is empty'}")
    notes = _control_token_notes(model, answer)
    if context == RAW:
        ids, cut = _raw(model, answer)
        if answer.thinking:
            notes["thinking_in_history"] = True
    elif context == NAIVE:
        cut = model.cut.naive(messages, answer.text)
        ids = tuple(model.encode(cut.prompt))
        try:
            history = model.cut.cut(messages, answer.text, answer.thinking)
            if cut.prompt != history.prompt:
                notes["differs_from_history"] = True
        except InputError as refusal:
            notes["history_refused"] = str(refusal)
    else:
        cut = model.cut.cut(messages, answer.text, answer.thinking)
        ids = tuple(model.encode(cut.prompt))
        if answer.thinking and answer.thinking.strip() in cut.prompt:
            notes["thinking_in_history"] = True
    return Prompt(ids, _cut_notes(cut) | notes)


def _raw(model: ChatModel, answer: Answer) -> tuple[tuple[int, ...], Cut]:
    """The tokens that a was sampled from and a's own, then what the template writes before u.

    What a already ends in is not written again: GLM's <|user|> ends a and opens u. Another end
    gives way to the template's: of gpt-oss <|return|> must never be read, <|end|> is.
    """
    if answer.token_ids is None:
        raise InputError(
            "context raw goes on from the very tokens that the model sampled, and this answer was "
            "not sampled here; use history or naive"
        )
    prompt = question_prompt(model, answer.conversation.messages).token_ids
    if answer.prompt_token_hash not in (None, fingerprint(list(prompt))):
        raise InputError(
            "the prompt that this answer was sampled from was another than the chat template makes "
            "now; context raw needs the same template, variables and date"
        )
    gap = without_space(model.cut.header, {})
    header = tuple(model.encode(gap.prompt))
    sampled = list(answer.token_ids)
    if answer.finish_reason == "stop":
        sampled = _without_end(model, answer, sampled, header)
    return (*prompt, *sampled, *header), gap


def _without_end(
    model: ChatModel, answer: Answer, sampled: list[int], header: tuple[int, ...]
) -> list[int]:
    """Without what ended the answer, be it ids that the header begins with, an id or a string."""
    doubled = next(
        (n for n in range(min(len(sampled), len(header)), 0, -1)
         if tuple(sampled[-n:]) == header[:n]), 0
    )  # fmt: skip
    if doubled:
        return sampled[:-doubled]
    if answer.stop_token_id is not None:
        return sampled[:-1] if sampled[-1:] == [answer.stop_token_id] else sampled
    strings = model.cut.answer_stop_strings
    while sampled and any(end in model.decode(sampled, False) for end in strings):
        sampled = sampled[:-1]
    return sampled


def _check_conversation(model: ChatModel, messages: Sequence[Message]) -> None:
    if not messages or messages[-1].role != "user":
        last = f"a {messages[-1].role} message" if messages else "nothing"
        raise InputError(f"the conversation ends with {last}; expected a user's question")
    for message in messages:
        _check_control_tokens(model, message.content, f"a {message.role} message")


def _control_token_notes(model: ChatModel, answer: Answer) -> dict[str, Any]:
    if answer.model != model.name:  # from a file: its words must not become roles
        _check_control_tokens(model, answer.text, "the answer")
        return {}
    tokens = tokens_in(answer.text, model.special_tokens)
    return {"control_tokens_in_answer": tokens} if tokens else {}


def _check_control_tokens(model: ChatModel, text: str, where: str) -> None:
    tokens = tokens_in(text, model.special_tokens)
    if tokens:
        raise InputError(
            f"{where} holds {tokens[0]!r}, which {model.name} reads as a control token, not as "
            "text; leave the row out of the file"
        )


def _cut_notes(cut: Cut) -> dict[str, Any]:
    return ({"altered_by_template": dict(cut.altered)} if cut.altered else {}) | (
        {"header_space_stripped": True} if cut.header_space_stripped else {}
    )
