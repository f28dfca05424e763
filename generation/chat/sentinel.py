"""Conversations made of words that no template changes, to see what a template writes around them.

The words are letters only: no template trims, deletes or escapes them.
"""

from collections.abc import Sequence

from generation.chat.chat_template import ChatTemplate
from generation.item import Message
from rubrics import InputError

SENTINELS = ("Qzvkjhwxb", "Wjqxfgkztvv", "Xkzhqvj")
QUESTIONS = ("Kzqwhow many", "Vjxqwhich one of them")
ANSWERS = ("Zxkvthere are", "Hqjwthe second of these")


def before_turn(
    template: ChatTemplate,
    messages: Sequence[Message],
    answer: str,
    *,
    thinking: str | None = None,
    sentinel: str | None = None,
) -> str:
    """What the template writes before a user turn that follows `answer`.

    Raises InputError where it does not show that turn exactly once.
    """
    texts = [*(message.content for message in messages), answer, thinking or ""]
    if sentinel is None:
        sentinel = next(
            (mark for mark in SENTINELS if not any(mark in text for text in texts)), SENTINELS[0]
        )
    conversation = [*messages, Message("assistant", answer), Message("user", sentinel)]
    rendered = template.render(conversation, thinking=thinking)
    if rendered.count(sentinel) != 1:
        raise InputError(
            f"the chat template shows the user turn {rendered.count(sentinel)} times; expected once"
        )
    return rendered.partition(sentinel)[0]


def after_turn(template: ChatTemplate) -> str:
    """What the template writes between a user turn and the answer to it."""
    turn, next_answer = SENTINELS[:2]
    rendered = template.render(
        [*exchange(), Message("user", turn), Message("assistant", next_answer)]
    )
    if rendered.count(turn) != 1 or rendered.count(next_answer) != 1:
        raise InputError("the chat template does not show a user turn and its answer once each")
    return rendered.partition(turn)[2].partition(next_answer)[0]


def exchange() -> list[Message]:
    """The first question and its answer."""
    return [Message("user", QUESTIONS[0]), Message("assistant", ANSWERS[0])]


def written_between(template: ChatTemplate) -> str:
    """All that the template writes from the first question on, '' where it does not render."""
    messages = [*exchange(), Message("user", QUESTIONS[1])]
    try:
        return template.render(messages, answer_follows=True).partition(QUESTIONS[0])[2]
    except InputError:
        return ""  # the checks say what is wrong with it
