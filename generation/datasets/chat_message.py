"""Chat messages as other programs write them, read into role, visible text and thinking."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from generation.item import Message
from rubrics import InputError

# 'developer' is the newer name of the system role; few chat templates know it.
ROLES = {
    "user": "user", "human": "user",
    "assistant": "assistant", "gpt": "assistant", "chatgpt": "assistant", "bot": "assistant",
    "model": "assistant",
    "system": "system", "developer": "system",
}  # fmt: skip
TOOL_ROLES = ("tool", "function", "function_call", "function_response", "observation", "ipython")
TOOL_FIELDS = ("tool_calls", "function_call")
THINKING_FIELDS = ("reasoning", "reasoning_content", "thinking")
THINKING_PARTS = {"reasoning": "reasoning", "thinking": "thinking"}  # part type -> its text
TOOLS = "tool calls, which the text of a message does not show"

_OPENED = re.compile(r"\s*<think>(?P<thinking>.*?)</think>\s*", re.DOTALL)
# Where the template opens the thinking, a completion only closes it, at the end of a line.
_CLOSED = re.compile(r"(?P<thinking>(?:(?!<think>).)*?)</think>[ \t]*(?:\n\s*|$)", re.DOTALL)


class LeftOut(Exception):
    """A row that is sound, but that nothing can be asked after; its text is the reason."""


@dataclass(frozen=True)
class ChatMessage:
    """What a reader of the chat sees, and what an assistant thought before saying it."""

    role: str
    content: str
    thinking: str | None = None

    @property
    def visible(self) -> Message:
        return Message(self.role, self.content)


def chat_messages(where: str, value: Any) -> tuple[ChatMessage, ...]:
    """The messages of a list of {"role", "content"} or {"from", "value"}.

    Raises LeftOut for tool calls, roles and contents that are no text; InputError, beginning with
    `where`, for what is no list of messages at all.
    """
    if not isinstance(value, list):
        raise InputError(f"{where}: {value!r:.60}; expected a list of chat messages")
    return tuple(_message(f"{where}, message {number}", entry) for number, entry in
                 enumerate(value, 1))  # fmt: skip


def with_system(messages: tuple[ChatMessage, ...], system: Any) -> tuple[ChatMessage, ...]:
    """The messages after a system prompt that a row keeps beside them, if it does."""
    if not isinstance(system, str) or not system.strip():
        return messages
    if messages and messages[0].role == "system":
        return messages
    return (ChatMessage("system", system), *messages)


def answer_message(text: str) -> ChatMessage:
    """An assistant's message from its text alone, thinking taken out.

    >>> answer_message("<think>Two twos.</think>\\n\\n4")
    ChatMessage(role='assistant', content='4', thinking='Two twos.')
    """
    found = "</think>" in text and (_OPENED.match(text) or _CLOSED.match(text))
    if found:
        return ChatMessage("assistant", text[found.end() :], found["thinking"].strip() or None)
    if text.lstrip().startswith("<think>"):
        raise LeftOut("thinking that never ends, so that no answer is visible")
    return ChatMessage("assistant", text)


def _message(where: str, entry: Any) -> ChatMessage:
    if not isinstance(entry, Mapping) or not {"role", "from"} & entry.keys():
        raise InputError(f'{where}: {entry!r:.60}; expected {{"role": …, "content": …}}')
    found = str(entry.get("role") or entry.get("from")).lower()
    if found in TOOL_ROLES or any(entry.get(name) for name in TOOL_FIELDS):
        raise LeftOut(TOOLS)
    if found not in ROLES:
        raise LeftOut(f"a message of the role {found!r:.40}")
    role = ROLES[found]
    content = entry.get("content")
    text, thinking = _content(where, entry.get("value") if content is None else content)
    if role != "assistant":
        return ChatMessage(role, text)
    message = answer_message(text)
    apart = [entry[name] for name in THINKING_FIELDS if isinstance(entry.get(name), str)]
    known = "\n".join(filter(None, [*apart, thinking, message.thinking]))
    return ChatMessage(role, message.content, known or None)


def _content(where: str, content: Any) -> tuple[str, str]:
    """Text and thinking of a message's content, which is a text or a list of typed parts."""
    if content is None:
        return "", ""
    if isinstance(content, str):
        return content, ""
    if not isinstance(content, list):
        raise InputError(f"{where}: the content is {content!r:.60}; expected text")
    texts, thinking = [], []
    for part in content:
        kind = part.get("type") if isinstance(part, Mapping) else None
        if kind == "text" and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif kind in THINKING_PARTS and isinstance(part.get(THINKING_PARTS[kind]), str):
            thinking.append(part[THINKING_PARTS[kind]])
        else:
            raise LeftOut(f"a content that is no text ({kind or type(part).__name__!s:.40})")
    return "".join(texts), "\n".join(thinking)
