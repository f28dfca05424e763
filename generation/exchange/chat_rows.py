"""Turns as chat messages, for training: all that is said of them elsewhere has no place here."""

from typing import Any

from generation.item import Message
from generation.turn import Turn


def openai_row(turn: Turn) -> dict[str, Any]:
    """{"messages": …}: the conversation to its end, q, a and u."""
    return {"messages": [message.as_dict() for message in (*_before(turn), _user_turn(turn))]}


def trl_row(turn: Turn) -> dict[str, Any]:
    """TRL's conversational prompt and completion, in which it is the user turn that is learnt."""
    return {
        "prompt": [message.as_dict() for message in _before(turn)],
        "completion": [_user_turn(turn).as_dict()],
    }


def _before(turn: Turn) -> tuple[Message, ...]:
    return (*turn.answer.conversation.messages, Message("assistant", turn.answer.text))


def _user_turn(turn: Turn) -> Message:
    return Message("user", turn.text)
