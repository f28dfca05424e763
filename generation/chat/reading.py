"""What a completion says: the text that people and judges see, thinking and ends apart."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from generation.chat.chat_model import ChatModel
from generation.chat.context import Prompt
from generation.chat.stops import OPENS_ROLE
from generation.chat.thinking import (
    EMPTY,
    Marks,
    Span,
    answer_marks_stripped,
    opened_by,
    opens_thinking,
    parts_of,
)
from generation.engines.engine import Completion

LENGTH, ROLE_HEADER, THINKING = "length", "role header", "thinking"  # flags of a turn


@dataclass(frozen=True)
class Reading:
    """`text` is readable, `text_raw` keeps special tokens and the terminator.

    `thinking` is what stood apart from an answer. `unusable` says why no user turn can follow it.
    `flags` are what a reader of the numbers must know of a turn: 'length' (cut by its limit),
    'role header' (it ran into a token that opens a role), 'thinking' (it begins with thinking).
    """

    text: str
    text_raw: str
    stop_token_id: int | None
    thinking: str | None = None
    unusable: str | None = None
    flags: tuple[str, ...] = ()


def read_answer(model: ChatModel, completion: Completion, prompt: Prompt | None = None) -> Reading:
    """An answer: thinking taken out, unusable where it is empty or its thinking never ends.

    An answer cut by its limit after its thinking is usable; its finish_reason says 'length'.
    Whether the prompt has begun the thinking already is read in `prompt`, without one in the
    template: for some families a word in the question decides it.
    """
    known = model.thinking_marks
    ids, raw = _without_end(model, completion)
    parts = parts_of(raw, known, _opened(model, prompt, known), model.is_framed)
    thinking = "\n\n".join(
        text for span in parts.thinking if (text := _readable(model, ids, raw, span).strip())
    )
    text = _readable(model, ids, raw, parts.answer)
    if parts.thinking:
        text = text.lstrip()  # the line breaks after the mark; templates drop them, too
    text = answer_marks_stripped(text, known)
    return Reading(
        text,
        model.decode(list(completion.token_ids), False),
        _stop_id(completion),
        thinking=thinking or None,
        unusable=parts.unusable or (None if text.strip() else EMPTY),
    )


def read_turn(model: ChatModel, completion: Completion) -> Reading:
    """A user turn, flagged where it was cut by its limit or ran into a role's header.

    What the template itself adds to a user's words stays in `text_raw` alone.
    """
    ids, raw = _without_end(model, completion)
    openers = {
        stop.token_id
        for stop in model.cut.stops
        if OPENS_ROLE in stop.why and stop.token != model.cut.terminator
    }
    flags = (
        (LENGTH, completion.finish_reason == "length"),
        (ROLE_HEADER, completion.stop in openers),
        (THINKING, opens_thinking(raw, model.thinking_marks, model.is_framed)),
    )
    return Reading(
        _readable(model, ids, raw, Span(0, len(raw.removesuffix(model.cut.turn_suffix)))),
        model.decode(list(completion.token_ids), False),
        _stop_id(completion),
        flags=tuple(flag for flag, is_so in flags if is_so),
    )


def _stop_id(completion: Completion) -> int | None:
    return completion.stop if isinstance(completion.stop, int) else None


def _without_end(model: ChatModel, completion: Completion) -> tuple[list[int], str]:
    """Token ids and raw text without what ended the completion."""
    ids, stop = list(completion.token_ids), completion.stop
    if isinstance(stop, int) and ids[-1:] == [stop]:
        ids = ids[:-1]
    raw = model.decode(ids, False)
    return ids, raw.partition(stop)[0] if isinstance(stop, str) else raw


def _opened(model: ChatModel, prompt: Prompt | None, known: tuple[Marks, ...]) -> Marks | None:
    opening = prompt.opening if prompt else model.cut.checked.answer_opening
    return opened_by(opening, known)


def _readable(model: ChatModel, ids: Sequence[int], raw: str, span: Span) -> str:
    """A part of the raw text decoded without special tokens.

    Where a token reaches over an end of the span, its characters inside are kept. Token ends are
    found by halving: thinking has thousands of tokens.
    """

    def length(count: int) -> int:
        return len(model.decode(ids[:count], False))

    first = bisect_left(range(len(ids)), span.start, key=length) if span.start else 0
    last = len(ids)
    if span.end < length(last):
        last = bisect_left(range(len(ids) + 1), span.end + 1, key=length) - 1
    if last < first:
        return raw[span.start : span.end]
    before = raw[span.start : length(first)] if span.start else ""
    return before + model.decode(ids[first:last], True) + raw[length(last) : span.end]
