"""Thinking: the marks that model families put around it, and what of a completion is the answer.

A template keeps or drops past thinking; so the visible answer is passed on as content and thinking
beside it. Thinking that is cut before its end is recognised by no template and would stay in the
context: such an answer is unusable.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from generation.chat.chat_template import ChatTemplate
from generation.chat.sentinel import SENTINELS, exchange
from generation.item import Message
from rubrics import InputError

UNCLOSED = "its thinking never ends"
NO_FINAL = "it never reaches its final channel"
EMPTY = "it says nothing"
SWITCHES = ("enable_thinking", "thinking")  # template variables that turn thinking on and off


@dataclass(frozen=True)
class Marks:
    """What stands around thinking, and around the answer after it where that is marked too."""

    opens: str
    closes: str
    answer_opens: str = ""
    answer_closes: str = ""


MARKS = (
    Marks("<think>", "</think>", "<response>", "</response>"),  # Qwen, GLM, DeepSeek; Granite
    Marks("[THINK]", "[/THINK]"),  # Mistral
    Marks("<|START_THINKING|>", "<|END_THINKING|>", "<|START_RESPONSE|>", "<|END_RESPONSE|>"),
    Marks("<seed:think>", "</seed:think>"),
    Marks("<|channel>thought", "<channel|>"),  # Gemma 4
    Marks("<mm:think>", "</mm:think>"),  # MiniMax M3
    Marks("<think:opensource>", "</think:opensource>"),  # Hunyuan
    Marks("<|think|>", "<|end|><|begin|>assistant<|content|>", "<|content|>"),  # Solar
    Marks(
        "<|open|>think<|sep|>",
        "<|close|>think<|sep|>",
        "<|open|>response<|sep|>",
        "<|close|>response<|sep|>",
    ),  # Kimi K3
    Marks(
        "Here are my reasoning steps:",
        "[BEGIN FINAL RESPONSE]",
        answer_closes="[END FINAL RESPONSE]",
    ),  # Apriel
)
THINKING_TOKENS = frozenset(text for marks in MARKS for text in (marks.opens, marks.closes))

# A message of gpt-oss (harmony) is `header<|message|>text`; its channel, for others its receiver,
# is named in the header. A completion begins inside the first header.
_FRAME = re.compile(
    r"(?P<header>(?:(?!<\|message\|>).)*?)<\|message\|>"
    r"(?P<text>.*?)(?P<end><\|(?:end|return|call|eom|eot|start)\|>|\Z)",
    re.DOTALL,
)
_FINAL = re.compile(r"<\|channel\|>\s*final|to=user")
_ANALYSIS = re.compile(r"<\|channel\|>\s*analysis|to=self")
_FRAMED = re.compile(r"<\|channel\|>(?:analysis|final|commentary)")


@dataclass(frozen=True)
class Span:
    """A part of a raw text, in characters."""

    start: int
    end: int


@dataclass(frozen=True)
class Parts:
    """Where thinking and the visible answer stand in a raw completion."""

    thinking: tuple[Span, ...]
    answer: Span
    unusable: str | None = None


def marks_of(template: ChatTemplate, control_tokens: frozenset[str]) -> tuple[Marks, ...]:
    """The marks that the template writes or the tokenizer knows, and of each no more than that.

    Those of other families are ordinary words: what says <response> may be asked for XML.
    """
    written = template.source + template.render(exchange(), thinking=SENTINELS[0])

    def used(mark: str) -> str:
        return mark if mark in control_tokens or mark in written else ""

    return tuple(
        replace(
            marks,
            answer_opens=used(marks.answer_opens),
            answer_closes=used(marks.answer_closes),
        )
        for marks in MARKS
        if used(marks.opens) or used(marks.closes)
    )


def is_framed(template: ChatTemplate) -> bool:
    """Whether answers come in messages with channels (harmony) or receivers."""
    source = template.source
    return "<|message|>" in source and ("<|channel|>" in source or "to=self" in source)


def opened_by(context: str, known: tuple[Marks, ...]) -> Marks | None:
    """The marks of thinking that a generation prompt has already begun.

    >>> opened_by("<|im_start|>assistant\\n<think>\\n", MARKS).closes
    '</think>'
    >>> opened_by("<|Assistant|><think></think>", MARKS) is None
    True
    """
    for marks in known:
        if context.rfind(marks.opens) > context.rfind(marks.closes):
            return marks
    return None


def parts_of(
    raw: str, known: tuple[Marks, ...], opened: Marks | None, framed: bool = False
) -> Parts:
    """Thinking and answer of a completion, its terminator already taken off.

    Thinking stands where an answer begins, opened by the prompt or by a mark of its own, and ends
    at the first mark that closes it. Any other mark is what the answer speaks of.

    >>> parts = parts_of("Add them.</think>4", MARKS, MARKS[0])
    >>> parts.thinking, parts.answer
    ((Span(start=0, end=9),), Span(start=17, end=18))
    >>> parts_of("<think>Add", MARKS, None).unusable
    'its thinking never ends'
    >>> parts_of("The mark </think> ends it.", MARKS, None).thinking
    ()
    """
    if framed:
        return _framed(raw)
    thinking, answer = [], 0
    while (begun := _begun(raw[answer:], known)) or opened:
        start = raw.index(begun.opens, answer) + len(begun.opens) if begun else answer
        marks, opened = begun or opened, None
        end = raw.find(marks.closes, start)
        if end < 0:
            unclosed = Span(start, len(raw))
            return Parts((*thinking, unclosed), Span(len(raw), len(raw)), UNCLOSED)
        thinking.append(Span(start, end))
        answer = end + len(marks.closes)
    return Parts(tuple(thinking), Span(answer, len(raw)))


def _begun(raw: str, known: tuple[Marks, ...]) -> Marks | None:
    """The marks that a completion begins with."""
    return next((marks for marks in known if raw.lstrip().startswith(marks.opens)), None)


def _framed(raw: str) -> Parts:
    thinking, answer, unfinished = [], None, False
    for frame in _FRAME.finditer(raw):
        span = Span(frame.start("text"), frame.end("text"))
        if _FINAL.search(frame["header"]):
            answer = span
        elif _ANALYSIS.search(frame["header"]):
            thinking.append(span)
            unfinished = not frame["end"]
    if answer is None:
        end = Span(len(raw), len(raw))
        return Parts(tuple(thinking), end, UNCLOSED if unfinished else NO_FINAL)
    return Parts(tuple(thinking), answer)


def answer_marks_stripped(text: str, known: tuple[Marks, ...]) -> str:
    """An answer without the plain-text marks that some families put around it.

    >>> answer_marks_stripped("<response>4</response>", MARKS)
    '4'
    """
    for marks in known:
        if marks.answer_opens and text.lstrip().startswith(marks.answer_opens):
            text = text.lstrip().removeprefix(marks.answer_opens)
        if marks.answer_closes and text.rstrip().endswith(marks.answer_closes):
            text = text.rstrip().removesuffix(marks.answer_closes)
    return text


def opens_thinking(raw: str, known: tuple[Marks, ...], framed: bool) -> bool:
    """Whether a text begins with a mark that opens thinking, or holds a channel where answers do.

    >>> opens_thinking("<think>Hm", MARKS, False), opens_thinking("Why <think>?", MARKS, False)
    (True, False)
    """
    return bool(_FRAMED.search(raw)) if framed else _begun(raw, known) is not None


def switch_warnings(template: ChatTemplate) -> list[str]:
    """One line per switch of thinking that the template reads and nobody has set."""
    question = [Message("user", "2+2?")]

    def opened(**kwargs: bool) -> str | None:
        try:
            changed: Mapping[str, object] = {**template.kwargs, **kwargs}
            return replace(template, kwargs=changed).render(question, answer_follows=True)
        except InputError:
            return None

    return [
        f"the chat template reads {name}, which is not set: {_default(opened, name)}; set "
        f"template_kwargs = {{ {name} = true }} or false, the same for every model compared"
        for name in SWITCHES
        if name in template.variables_read and not set(SWITCHES) & set(template.kwargs)
    ]


def _default(opened: Callable[..., str | None], name: str) -> str:
    default, on, off = opened(), opened(**{name: True}), opened(**{name: False})
    if on == off:
        return "its own default applies"
    if default not in (on, off):
        return "its own default applies, neither true nor false"
    return f"thinking is {'on' if default == on else 'off'} by its own default"
