"""q, a and u in a conversation of Inspect's messages, and the other way round."""

from collections.abc import Sequence

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
)

from generation.item import Item, Message
from rubrics import InputError

_KINDS = {
    "system": ChatMessageSystem,
    "developer": ChatMessageSystem,  # which Inspect does not have; `_role` says what it was
    "user": ChatMessageUser,
    "assistant": ChatMessageAssistant,
    "tool": ChatMessageTool,
}


def item_of(messages: Sequence[ChatMessage]) -> Item:
    """u is the last message, whether a user's or what a model generated in the user's place.

    a is the assistant's message before it, and all messages before that are the conversation that
    ends in q. Of each its text is taken, without reasoning and images.

    Raises InputError where the messages do not end in an answer and a turn.
    """
    roles = [message.role for message in messages]
    if len(roles) < 3 or roles[-2] != "assistant" or roles[-1] not in ("user", "assistant"):
        raise InputError(
            f"the conversation's roles are {', '.join(roles) or 'none'}; expected q, the "
            "assistant's answer and then the user turn, as a user message or as the model's output"
        )
    *before, answer, turn = messages
    asked = tuple(Message(_role(message), message.text) for message in before)
    return Item(asked, answer.text, turn.text)


def messages_of(item: Item) -> list[ChatMessage]:
    """The item as a conversation that `item_of` makes the same item of.

    Raises InputError for a role that Inspect has no message for.
    """
    said = (*item.messages, Message("assistant", item.answer), Message("user", item.turn))
    return [_message(message) for message in said]


def _message(message: Message) -> ChatMessage:
    if message.role not in _KINDS:
        raise InputError(
            f"a message has the role {message.role!r}; expected one of {', '.join(_KINDS)}"
        )
    kind = _KINDS[message.role]
    return kind(content=message.content, metadata={"role": message.role})


def _role(message: ChatMessage) -> str:
    return (message.metadata or {}).get("role", message.role)
