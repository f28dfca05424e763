"""What a reader gathers from a file: questions, real answers, and a count of the rest."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from generation.datasets.chat_message import ChatMessage
from generation.datasets.dataset import Rows
from generation.item import Message
from generation.turn import Answer, Conversation
from rubrics import fingerprint

SAME_AGAIN = "the same as an earlier row"
NEXT_TURN = "next_turn"  # in a conversation's meta: what the user really said after the answer


class Collected:
    """The rows of one data set, in the order in which they were added, each of them once."""

    def __init__(self, dataset: str) -> None:
        self.dataset = dataset
        self._conversations: dict[str, Conversation] = {}
        self._held_out: dict[str, Answer] = {}
        self._left_out: Counter[str] = Counter()

    def rows(self) -> Rows:
        return Rows(
            tuple(self._conversations.values()),
            tuple(self._held_out.values()),
            dict(self._left_out),
        )

    def leave_out(self, why: str) -> None:
        """Count a row of the file that gives nothing."""
        self._left_out[why] += 1

    def question(self, source_id: str, text: str, meta: dict[str, Any]) -> None:
        """A row that is one question."""
        self._add_question(Conversation(self.dataset, source_id, (Message("user", text),), meta))

    def chat(
        self, source_id: str | None, messages: Sequence[ChatMessage], meta: dict[str, Any]
    ) -> None:
        """A row of a chat; without an id it is named after what it says.

        One that ends in an assistant's message gives that as a held-out answer. One that ends in a
        user's message gives a question and, if an answer to a question stands before it, that as a
        held-out answer whose real next turn is known.
        """
        source_id = source_id or fingerprint([message.visible.as_dict() for message in messages])
        if not messages or messages[-1].role != "user":
            self.answered(source_id, messages, meta)
            return
        self.asked(source_id, messages, meta)
        *before, last = messages
        if before and before[-1].role == "assistant" and not (_unasked(messages) or
                                                              _unanswered(before)):  # fmt: skip
            self._add_answer(source_id, before, meta | {NEXT_TURN: last.content})

    def asked(self, source_id: str, messages: Sequence[ChatMessage], meta: dict[str, Any]) -> None:
        """A chat that ends in a question."""
        why_not = _unasked(messages)
        if why_not:
            self.leave_out(why_not)
        else:
            shown = tuple(message.visible for message in messages)
            self._add_question(Conversation(self.dataset, source_id, shown, meta))

    def answered(
        self, source_id: str, messages: Sequence[ChatMessage], meta: dict[str, Any]
    ) -> None:
        """A chat that ends in an answer."""
        why_not = _unanswered(messages)
        if why_not:
            self.leave_out(why_not)
        elif not self._add_answer(source_id, messages, meta):
            self.leave_out(SAME_AGAIN)

    def _add_question(self, conversation: Conversation) -> None:
        known = self._conversations.setdefault(conversation.conversation_id, conversation)
        if known is not conversation:
            self.leave_out(SAME_AGAIN)

    def _add_answer(
        self, source_id: str, messages: Sequence[ChatMessage], meta: dict[str, Any]
    ) -> bool:
        *before, last = messages
        shown = tuple(message.visible for message in before)
        conversation = Conversation(self.dataset, source_id, shown, meta)
        answer = Answer(conversation, last.content, thinking=last.thinking)
        return self._held_out.setdefault(answer.answer_id, answer) is answer


def _unasked(messages: Sequence[ChatMessage]) -> str | None:
    """Why a chat cannot be answered, None where it can."""
    if not messages:
        return "no messages"
    last = messages[-1]
    if last.role != "user":
        return f"a chat that ends in a message of the role {last.role}"
    return None if last.content.strip() else "an empty question"


def _unanswered(messages: Sequence[ChatMessage]) -> str | None:
    """Why a chat cannot be gone on from under the user role, None where it can."""
    if not messages:
        return "no messages"
    *before, last = messages
    if last.role != "assistant":
        return f"a chat that ends in a message of the role {last.role}"
    if not last.content.strip():
        return "an empty answer"
    if _unasked(before):
        return "no question right before the last answer"
    return None
