"""Start-up checks of a chat template, once per template and variables: loud where one fails."""

from collections.abc import Mapping
from dataclasses import dataclass

from generation.chat.chat_template import ChatTemplate
from generation.chat.control_tokens import placed_tokens
from generation.chat.sentinel import (
    ANSWERS,
    QUESTIONS,
    SENTINELS,
    after_turn,
    before_turn,
    exchange,
)
from generation.item import Message
from rubrics import InputError

MAX_HEADER_CHARACTERS = 40  # besides control tokens; the longest known header has 35
KEPT, MOVED, DROPPED, REFUSED = "kept", "moved", "dropped", "refused"


@dataclass(frozen=True)
class CheckedTemplate:
    """What a template writes around its turns.

    `head` stands before q when no system message is given: a default system prompt shows there.
    `header` stands between a and u, `after_turn` between u and the next answer. `after_answer` and
    `after_last_turn` stand at the end of a conversation, `answer_opening` after a question to be
    answered; `opens_unasked` says that it stands there even when none is asked for. `system` says
    what becomes of a system message, `trims` whose texts lose outer spaces.
    """

    head: str
    header: str
    after_turn: str
    after_answer: str
    after_last_turn: str
    answer_opening: str
    opens_unasked: bool
    system: str
    trims: tuple[str, ...]


def check_template(template: ChatTemplate, control_token_ids: Mapping[str, int]) -> CheckedTemplate:
    """Raises InputError with the first check that fails."""
    question = [Message("user", QUESTIONS[0])]
    prefix = before_turn(template, question, ANSWERS[0], sentinel=SENTINELS[0])
    other = before_turn(template, question, ANSWERS[0], sentinel=SENTINELS[1])
    if prefix != other:
        raise InputError(
            "the chat template writes another context for another user turn; expected that what "
            "stands before a user turn does not depend on its text"
        )
    if template.list_content and "'type'" in prefix:
        raise InputError("the chat template prints a list of content parts as it is")
    opened = template.render(question, answer_follows=True)
    return CheckedTemplate(
        head=prefix.partition(QUESTIONS[0])[0],
        header=_header(template, prefix, control_token_ids),
        after_turn=after_turn(template),
        after_answer=template.render(exchange()).rpartition(ANSWERS[0])[2],
        after_last_turn=template.render([*exchange(), Message("user", SENTINELS[0])]).rpartition(
            SENTINELS[0]
        )[2],
        answer_opening=opened.rpartition(QUESTIONS[0])[2],
        opens_unasked=opened == template.render(question),
        system=_system(template),
        trims=_trims(template),
    )


def _header(template: ChatTemplate, prefix: str, control_token_ids: Mapping[str, int]) -> str:
    other = before_turn(
        template, [Message("user", QUESTIONS[1])], ANSWERS[1], sentinel=SENTINELS[0]
    )
    headers = []
    for text, question, answer in zip((prefix, other), QUESTIONS, ANSWERS, strict=True):
        if question not in text or answer not in text.partition(question)[2]:
            raise InputError(
                "the chat template does not show the question and then the answer before a user "
                f"turn; it shows {text[-200:]!r}"
            )
        headers.append(text.rpartition(answer)[2])
    words = headers[0]
    for placed in placed_tokens(words, control_token_ids):
        words = words.replace(placed.token, "", 1)
    if headers[0] != headers[1] or len(words.strip()) > MAX_HEADER_CHARACTERS:
        raise InputError(
            "the chat template puts more than a header between the answer and the user turn: "
            f"{headers[0][:200]!r}"
        )
    _check_bos(template, prefix)
    return headers[0]


def _check_bos(template: ChatTemplate, prefix: str) -> None:
    """At most one begin-of-sequence token, unless the template opens every turn with it."""
    bos = template.special_tokens.get("bos_token")
    if not bos:
        return
    longer = [*exchange(), Message("user", QUESTIONS[1])]
    found = prefix.count(bos)
    opens_turns = before_turn(template, longer, ANSWERS[1]).count(bos) > found
    if bos + bos in prefix or (found > 1 and not opens_turns):
        raise InputError(
            f"the chat template writes the begin-of-sequence token {bos!r} {found} times; "
            "expected one at most"
        )


def _system(template: ChatTemplate) -> str:
    system = SENTINELS[2]
    try:
        text = before_turn(
            template,
            [Message("system", system), Message("user", QUESTIONS[0])],
            ANSWERS[0],
            sentinel=SENTINELS[0],
        )
    except InputError:
        return REFUSED
    if system not in text:
        return DROPPED
    return KEPT if text.find(system) < text.find(QUESTIONS[0]) else MOVED


def _trims(template: ChatTemplate) -> tuple[str, ...]:
    question, answer = f" {QUESTIONS[0]} ", f" {ANSWERS[0]} "
    text = before_turn(template, [Message("user", question)], answer)
    named = (("question", question), ("answer", answer))
    return tuple(name for name, whole in named if whole not in text)
