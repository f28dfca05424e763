"""A data set as the probe reads it: questions to answer, and real answers to go on from."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from generation.plan.plan import HELD_OUT, SELF_GENERATED
from generation.turn import Answer, Conversation
from rubrics import InputError, fingerprint


@dataclass(frozen=True)
class Rows:
    """What a reader makes of a file.

    `conversations` end in q and are for the self-generated setting; `held_out` are real answers
    with the conversation before them, for the held-out setting; `left_out` counts by reason the
    rows of the file that are in neither.
    """

    conversations: tuple[Conversation, ...]
    held_out: tuple[Answer, ...] = ()
    left_out: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Dataset:
    """One file of one data set. The provenance names the file without its folder.

    `expected` is how many rows the set should have for a setting, where that is known, and
    `remarks` why it may have others; `canary` says that its authors ask for its text never to be
    published, and no export writes it.
    """

    name: str
    file_name: str
    file_hash: str
    rows: Rows
    licence: str
    expected: dict[str, int] = field(default_factory=dict)  # by setting
    canary: bool = False
    choices: dict[str, Any] = field(default_factory=dict)  # what the reader chose, such as a seed
    revision: str | None = None  # of the hub, where the file came from there
    remarks: dict[str, str] = field(default_factory=dict)  # by setting

    def conversations(self, count: int | None, seed: int) -> list[Conversation]:
        """A seeded choice for the self-generated setting; a larger `count` only adds to it."""
        return chosen(self.rows.conversations, lambda c: c.conversation_id, count, seed)

    def held_out(self, count: int | None, seed: int) -> list[Answer]:
        """A seeded choice for the held-out setting, likewise."""
        return chosen(self.rows.held_out, lambda a: a.conversation.conversation_id, count, seed)

    def surprises(self, setting: str) -> list[str]:
        """What a user of the numbers should hear about this file, one line each."""
        found = len(self.rows.held_out if setting == HELD_OUT else self.rows.conversations)
        expected = self.expected.get(setting)
        lines = [f"{self.name}: {count} rows left out: {why}"
                 for why, count in self.rows.left_out.items()]  # fmt: skip
        if expected is not None and found != expected:
            remark = self.remarks.get(setting)
            lines.append(
                f"{self.name} ({self.file_name}) has {found} rows; expected {expected}"
                + (f" ({remark})" if remark else "")
            )
        if others := self._of_the_other(setting):
            lines.append(f"{self.name}: {others} rows have nothing for the {setting} setting")
        return lines

    def _of_the_other(self, setting: str) -> int:
        asked = {conversation.source_id for conversation in self.rows.conversations}
        answered = {answer.conversation.source_id for answer in self.rows.held_out}
        return len(asked - answered if setting == HELD_OUT else answered - asked)

    def provenance(self) -> dict[str, Any]:
        return {
            "dataset": self.name,
            "file": self.file_name,
            "sha256": self.file_hash,
            "revision": self.revision,
            "conversations": len(self.rows.conversations),
            "held_out": len(self.rows.held_out),
            "left_out": self.rows.left_out,
            "expected": self.expected,
            "licence": self.licence,
            "canary": self.canary,
            "choices": self.choices,
        }


def chosen(rows: Sequence[Any], key: Any, count: int | None, seed: int) -> list[Any]:
    """Rows in a seeded order of their keys, the first `count`."""
    return sorted(rows, key=lambda row: fingerprint([seed, key(row)]))[:count]


def nothing_for(name: str, setting: str) -> InputError:
    """What to say of a set that has no row for a setting."""
    takes = "real answers to go on from" if setting == HELD_OUT else "questions"
    other = SELF_GENERATED if setting == HELD_OUT else HELD_OUT
    return InputError(
        f"{name} has nothing for the {setting} setting, which takes {takes}; try --setting {other}"
    )
