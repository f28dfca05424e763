"""Where two copies of labels.db were given different answers since they were one file."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, Any]

HERE, THERE = "here", "there"


@dataclass(frozen=True)
class Conflict:
    """Two answers to one question. Both are kept in the history; `stands` tells which one counts.

    `kind` is 'annotation', 'adjudication' or 'gold'; `who` is None where any two people's answers
    are in conflict.
    """

    kind: str
    who: str | None
    item_id: str
    rubric_version: str
    here: str
    here_at: str
    there: str
    there_at: str

    @property
    def stands(self) -> str:
        # Of two in the same millisecond the one that arrived later.
        return HERE if self.here_at > self.there_at else THERE

    def as_dict(self) -> dict[str, str | None]:
        return vars(self) | {"stands": self.stands}


def annotation_conflicts(here: Iterable[Row], there: Iterable[Row]) -> list[Conflict]:
    """One person's different answers on one item, from the events that one side alone has."""
    key = ("annotator", "item_id", "rubric_version")
    return [
        Conflict(
            "annotation", *of, _answer(one), one["saved_at"], _answer(other), other["saved_at"]
        )
        for of, one, other in _pairs(here, there, key, "saved_at")
        if _answer(one) != _answer(other)
    ]


def adjudication_conflicts(here: Iterable[Row], there: Iterable[Row]) -> list[Conflict]:
    """Different decisions on one item, from those that one side alone has."""
    return [
        Conflict(
            "adjudication",
            None,
            *of,
            one["category"],
            one["decided_at"],
            other["category"],
            other["decided_at"],
        )
        for of, one, other in _pairs(here, there, ("item_id", "rubric_version"), "decided_at")
        if one["category"] != other["category"]
    ]


def _pairs(
    here: Iterable[Row], there: Iterable[Row], key: Sequence[str], time: str
) -> list[tuple[tuple[str, ...], Row, Row]]:
    """The latest of both sides by key, where both have any, in order of key."""
    ones, others = _latest(here, key, time), _latest(there, key, time)
    return [(of, ones[of], others[of]) for of in sorted(ones.keys() & others.keys())]


def _latest(rows: Iterable[Row], key: Sequence[str], time: str) -> dict[tuple[str, ...], Row]:
    found: dict[tuple[str, ...], Row] = {}
    for row in sorted(rows, key=lambda row: row[time]):
        found[tuple(row[name] for name in key)] = row
    return found


def _answer(event: Row) -> str:
    return event["category"] or f"skipped: {event['skip_reason']}"
