"""What is judged and labelled: one item is (q, a, u), q being a conversation that ends in q."""

import re
import reprlib
from dataclasses import dataclass
from typing import Any

from rubrics import InputError, fingerprint

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True)
class Message:
    """One chat message of a conversation."""

    role: str
    content: str

    def as_dict(self) -> dict[str, str]:
        return {"role": self.role, "content": self.content}


@dataclass(frozen=True)
class Item:
    """A conversation that ends in q, the answer a and the user turn u, as judge and people see it.

    >>> Item((Message("user", "2+2?"),), "4", "Why?").hash[:15]
    'sha256:28b94ea3'
    """

    messages: tuple[Message, ...]
    answer: str
    turn: str

    @property
    def hash(self) -> str:
        """Fingerprint of exactly the text that is judged and labelled, and of nothing else."""
        return fingerprint(
            {
                "messages": [message.as_dict() for message in self.messages],
                "answer": self.answer,
                "turn": self.turn,
            }
        )


def is_storable(text: str) -> bool:
    """Whether every store keeps it: NUL ends a text in SQLite, a lone surrogate has no UTF-8.

    >>> is_storable("Why?"), is_storable("a\\0b")
    (True, False)
    """
    return not _UNSTORABLE.search(text)


def messages_from(rows: Any) -> tuple[Message, ...]:
    """Messages from their stored JSON form.

    Raises InputError, saying what was found, when a program other than ours has written it.
    """
    if not isinstance(rows, list) or not rows:
        raise InputError(
            f"the stored messages of a conversation are {reprlib.repr(rows)}; expected a list of "
            '{"role": …, "content": …}; put an unchanged copy of the study in its place'
        )
    return tuple(_message_from(row) for row in rows)


def _message_from(row: Any) -> Message:
    texts = [row.get(key) for key in ("role", "content")] if isinstance(row, dict) else [None]
    if not all(isinstance(text, str) and is_storable(text) for text in texts):
        raise InputError(
            f"a stored message is {reprlib.repr(row)}; expected "
            '{"role": …, "content": …} with texts; put an unchanged copy of the study in its place'
        )
    return Message(*texts)
