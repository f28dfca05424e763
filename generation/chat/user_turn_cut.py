"""The sentinel cut: the context in which a model goes on under the user role, and its end.

Render [.., q, a, user SENTINEL], keep the text before the sentinel: what the model would really
read if a user turn followed (context mode `history`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from generation.chat.chat_template import ChatTemplate
from generation.chat.sentinel import before_turn
from generation.chat.stops import Stop, Stops, derive_stops
from generation.chat.template_checks import DROPPED, MOVED, CheckedTemplate, check_template
from generation.item import Message
from rubrics import InputError

TRIMMED, CHANGED = "trimmed", "changed"


@dataclass(frozen=True)
class Cut:
    """A context that ends in the user header.

    `altered` says by 'question', 'answer' or 'system' what the template did to a text: 'trimmed',
    'changed', 'dropped'.
    """

    prompt: str
    header_space_stripped: bool
    altered: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class UserTurnCut:
    """A checked template: where its user turn begins and what ends it.

    `header` stands between a and u, `terminator` ends u. A terminator that is plain text is a stop
    string; then `stop_strings` holds it.
    """

    template: ChatTemplate
    checked: CheckedTemplate
    derived: Stops

    @property
    def header(self) -> str:
        return self.checked.header

    @property
    def terminator(self) -> str:
        return self.derived.terminator

    @property
    def turn_suffix(self) -> str:
        """What the template writes between a user's words and their end: /nothink of GLM-4.5."""
        return self.checked.after_turn.partition(self.terminator)[0]

    @property
    def stops(self) -> tuple[Stop, ...]:
        return self.derived.turn

    @property
    def stop_strings(self) -> tuple[str, ...]:
        return self.derived.turn_strings

    @property
    def answer_stops(self) -> tuple[Stop, ...]:
        return self.derived.answer

    @property
    def answer_stop_strings(self) -> tuple[str, ...]:
        return self.derived.answer_strings

    def cut(self, messages: Sequence[Message], answer: str, thinking: str | None = None) -> Cut:
        """The context of the user turn after `answer`; `messages` end in q.

        Raises InputError when the template moves a system message behind the answer or writes
        another header than it did at start-up.
        """
        has_system = any(message.role == "system" for message in messages)
        if has_system and self.checked.system == MOVED:
            raise InputError(
                "the chat template moves the system message into the last user turn, where "
                "the model would read it as the user's words; leave the system message out"
            )
        prefix = before_turn(self.template, messages, answer, thinking=thinking)
        if not prefix.endswith(self.header):
            raise InputError(
                f"the chat template writes {prefix[-len(self.header) - 20 :]!r} before this user "
                f"turn; expected it to end in the header {self.header!r}"
            )
        altered = altered_by(prefix[: len(prefix) - len(self.header)], messages[-1].content, answer)
        if has_system and self.checked.system == DROPPED:
            altered["system"] = DROPPED
        return without_space(prefix, altered)

    def naive(self, messages: Sequence[Message], answer: str) -> Cut:
        """The rendered conversation with a user header written after it by hand.

        Its last answer is rendered as one that nothing follows: with an empty thinking block by
        Qwen3, with <|return|> by gpt-oss, with the end of the text by Phi.
        """
        text = self.template.render([*messages, Message("assistant", answer)])
        altered = altered_by(
            text.removesuffix(self.checked.after_answer), messages[-1].content, answer
        )
        if any(m.role == "system" and m.content.strip() not in text for m in messages):
            altered["system"] = DROPPED
        return without_space(text + self.derived.opening, altered)


def without_space(context: str, altered: Mapping[str, str]) -> Cut:
    """One space at the end of the header taken away.

    SentencePiece makes a token of its own of it, which no word ever follows in training. A line
    break stays.
    """
    stripped = context.endswith(" ")
    return Cut(context[:-1] if stripped else context, stripped, altered)


def altered_by(before_header: str, question: str, answer: str) -> dict[str, str]:
    """What became of q and a in a context that ends in a, by its name where it changed.

    >>> altered_by("<user>2+2?<assistant>4", "2+2?", " 4")
    {'answer': 'trimmed'}
    """
    altered = {}
    if not before_header.endswith(answer):
        # some keep one side of the spaces
        sides = (answer.strip(), answer.lstrip(), answer.rstrip())
        kept = any(before_header.endswith(side) for side in sides)
        altered["answer"] = TRIMMED if kept else CHANGED
    if question not in before_header:
        altered["question"] = TRIMMED if question.strip() in before_header else CHANGED
    return altered


def derive_user_turn_cut(
    template: ChatTemplate,
    control_token_ids: Mapping[str, int],
    end_of_sequence: Mapping[str, Iterable[int]],
) -> UserTurnCut:
    """Check the template once and derive what ends its user turn.

    `control_token_ids` gives the id of every control token of the tokenizer, `end_of_sequence`
    the end-of-sequence ids by where they were found. A template that fails is tried again with
    list content and with `tools=[]`. Raises InputError with the first failed check.
    """
    template.check_kwargs()
    forms = (
        template,
        replace(template, list_content=True),
        replace(template, empty_tools=True),
    )
    first_refusal = None
    for form in forms:
        try:
            checked = check_template(form, control_token_ids)
            stops = derive_stops(form, checked, control_token_ids, end_of_sequence)
            return UserTurnCut(form, checked, stops)
        except InputError as error:
            first_refusal = first_refusal or error
    raise first_refusal
