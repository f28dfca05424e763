"""The person behind a request: known from their login, never from what a page sends."""

from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """What an account is for; each role has one page and no other.

    Nobody has two: an owner sees what judges said, and an adjudicator what people said.
    """

    ANNOTATOR = "annotator"
    ADJUDICATOR = "adjudicator"
    OWNER = "owner"


@dataclass(frozen=True)
class Person:
    name: str
    role: Role


# Set for the time of one request, and carried into the thread that answers it.
current_person: ContextVar[Person | None] = ContextVar("current_person", default=None)
