"""A judge prompt's template: one version of a Markdown text, with items shown as examples."""

import json
import re
from dataclasses import dataclass
from importlib import resources
from typing import Any

from generation.item import Item, is_storable, messages_from
from generation.study import Study
from rubrics import InputError, Rubric, canonical_json, fingerprint

PACKAGED_NAME = "followupeval"
_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
_REFERENCE = re.compile(r"([^@]+)(?:@([1-9][0-9]{0,8}))?")


@dataclass(frozen=True)
class Shot:
    """An item with the label that people agreed on under a rubric version.

    `because` is the note of an annotator who gave that label, None where nobody left one.
    """

    item: Item
    label: str
    because: str | None
    rubric_version: str

    def as_dict(self) -> dict[str, Any]:
        return {
            "messages": [message.as_dict() for message in self.item.messages],
            "answer": self.item.answer,
            "turn": self.item.turn,
            "label": self.label,
            "because": self.because,
            "rubric_version": self.rubric_version,
        }


@dataclass(frozen=True)
class PromptTemplate:
    """One version of a template. The packaged one has no version number and never changes here.

    `note` says what changed from `parent`, the label of what it was made from ("" if nothing).
    """

    name: str
    version: int | None
    text: str
    shots: tuple[Shot, ...] = ()
    note: str = ""
    parent: str = ""

    @property
    def label(self) -> str:
        return self.name if self.version is None else f"{self.name}@{self.version}"

    @property
    def hash(self) -> str:
        """Fingerprint of text and shots, the same under every rubric."""
        return fingerprint({"text": self.text, "shots": [shot.as_dict() for shot in self.shots]})

    @property
    def shots_rubric(self) -> str | None:
        """The rubric version that the shots' labels were given under; None without shots."""
        return self.shots[0].rubric_version if self.shots else None

    def rubric(self, study: Study, version: str | None = None) -> Rubric:
        """The study's rubric of this version; by default that of the shots' labels, or the latest.

        Raises InputError for an unknown version.
        """
        return study.rubric(version or self.shots_rubric)


PACKAGED = PromptTemplate(
    PACKAGED_NAME,
    None,
    (resources.files("judge.prompts") / f"{PACKAGED_NAME}.md").read_text(encoding="utf-8"),
    note="comes with followupeval",
)


def parse_reference(reference: str) -> tuple[str, int | None]:
    """Name and version of NAME or NAME@N; raises InputError for anything else.

    >>> parse_reference("strict@2"), parse_reference("strict")
    (('strict', 2), ('strict', None))
    """
    found = _REFERENCE.fullmatch(reference)
    if not found or not _NAME.fullmatch(found[1]):
        raise InputError(
            f"{reference!r} names no prompt template: expected NAME or NAME@N, NAME in lower-case "
            "letters, digits and -; see them: judge prompt list"
        )
    if found[1] == PACKAGED_NAME and found[2]:
        raise InputError(f"the packaged template has no versions: expected {PACKAGED_NAME} alone")
    return found[1], int(found[2]) if found[2] else None


def check_new_name(name: str) -> None:
    """Raises InputError unless a template of one's own may have this name."""
    if not _NAME.fullmatch(name):
        raise InputError(
            f"{name!r} cannot be a template's name: expected lower-case letters, digits and -, "
            "such as strict"
        )
    if name == PACKAGED_NAME:
        raise InputError(
            f"{PACKAGED_NAME} is the packaged template, which cannot be replaced: choose another "
            "name"
        )


def checked_text(text: str) -> str:
    """A template's text as it is; raises InputError for one that is blank or cannot be stored."""
    if not text.strip():
        raise InputError(
            "the template is blank, expected Markdown such as: judge prompt show "
            "--source followupeval"
        )
    if not is_storable(text):
        raise InputError(
            "the template holds a NUL or a lone surrogate, expected UTF-8 text: "
            "remove it from the file"
        )
    return text


def checked_note(note: str) -> str:
    """A note of what changed; raises InputError for one that is blank or cannot be stored."""
    if not note.strip() or not is_storable(note):
        raise InputError("the note is blank or no text, expected what changed: --note TEXT")
    return note.strip()


def shots_json(shots: tuple[Shot, ...]) -> str:
    """Shots as they are stored."""
    return canonical_json([shot.as_dict() for shot in shots])


def shots_from(text: str, label: str) -> tuple[Shot, ...]:
    """Shots from their stored form; raises InputError when another program has written it."""
    try:
        return tuple(_shot_from(row) for row in json.loads(text))
    except (ValueError, KeyError, TypeError):
        raise InputError(
            f"the stored shots of {label} are not as followupeval writes them; put an unchanged "
            "copy of the study in its place"
        ) from None


def _shot_from(row: dict[str, Any]) -> Shot:
    item = Item(messages_from(row["messages"]), row["answer"], row["turn"])
    return Shot(item, row["label"], row["because"], row["rubric_version"])
