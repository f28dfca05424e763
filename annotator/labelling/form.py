"""What the page sends with an act, taken apart once and with the types that it must have."""

from dataclasses import dataclass, field
from typing import Any

from annotator.labelling.activity import KINDS, RECORD_LIMIT, Moment
from annotator.labelling.choice import Choice
from generation.item import is_storable
from rubrics import InputError


@dataclass(frozen=True)
class Form:
    """The fields of an act; a page sends those that its act needs, the others are empty."""

    annotator: str = ""
    nonce: str = ""
    item_id: str = ""
    reason: str = ""
    receipt: int | None = None
    choice: Choice = field(default_factory=Choice)
    activity: tuple[Moment, ...] = ()


def form_from(data: Any) -> Form:
    """The form in what a page sent; raises InputError when it is none, or a field has no such type.

    >>> form_from({"nonce": "x", "choice": {"category": "malformed"}}).choice.category
    'malformed'
    """
    fields = _fields(data)
    return Form(
        annotator=_one(fields, "annotator", str, ""),
        nonce=_one(fields, "nonce", str, ""),
        item_id=_one(fields, "item_id", str, ""),
        reason=_one(fields, "reason", str, ""),
        receipt=_one(fields, "receipt", int, None),
        choice=_choice(_fields(fields.get("choice"))),
        activity=_activity(fields.get("activity")),
    )


def _choice(fields: dict[str, Any]) -> Choice:
    return Choice(
        category=_one(fields, "category", str, None),
        confidence=_one(fields, "confidence", str, None),
        note=_one(fields, "note", str, ""),
        flagged=_one(fields, "flagged", bool, False),
    )


def _activity(sent: Any) -> tuple[Moment, ...]:
    moments = [] if sent is None else sent
    fits = isinstance(moments, list) and len(moments) <= RECORD_LIMIT
    if not fits or not all(_is_moment(moment) for moment in moments):
        raise InputError("Not saved: the page sent no usable activity. Reload it.")
    return tuple(Moment(kind, at_ms) for kind, at_ms in moments)


def _is_moment(sent: Any) -> bool:
    return (
        isinstance(sent, list)
        and len(sent) == 2
        and sent[0] in KINDS
        and type(sent[1]) is int
        and 0 <= sent[1] < 2**53  # what a browser counts to
    )


def _fields(data: Any) -> dict[str, Any]:
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise InputError("Not saved: the page sent something else than a form. Reload it.")
    return data


def _one(fields: dict[str, Any], name: str, kind: type, default: Any) -> Any:
    value = fields.get(name)
    if value is None:
        return default
    if not isinstance(value, kind) or (kind is str and not is_storable(value)):
        raise InputError(f"Not saved: the page sent no usable {name}. Reload it.")
    return value
