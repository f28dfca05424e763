"""Fields of a form as a page sends them, with the types that they must have."""

from collections.abc import Mapping
from typing import TypeVar

from generation.item import is_storable
from rubrics import InputError

Number = TypeVar("Number", int, float)
_LAST_ID = 2**63 - 1  # that SQLite can give to a row


def text(fields: Mapping[str, object], name: str, *, limit: int) -> str:
    """A text of at most `limit` characters, "" where there is none; raises InputError."""
    value = fields.get(name)
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > limit or not is_storable(value):
        raise InputError(
            f"the page sent no usable {name}: expected text of at most {limit:,} characters"
        )
    return value


def texts(fields: Mapping[str, object], name: str) -> list[str]:
    """A list of short texts; raises InputError."""
    values = fields.get(name) or []
    if not isinstance(values, list):
        raise InputError(f"the page sent no usable {name}; reload it")
    return [text({name: value}, name, limit=400) for value in values]


def number(value: str, name: str, kind: type[Number], low: float, high: float) -> Number | None:
    """A number from `low` to `high`, None for ""; raises InputError.

    >>> number("3", "runs", int, 1, 10), number(" ", "runs", int, 1, 10)
    (3, None)
    """
    if not value.strip():
        return None
    try:
        found = kind(value)
    except ValueError:
        found = None
    if found is None or not low <= found <= high:
        what = "a whole number" if kind is int else "a number"
        raise InputError(f"{name}: found {value!r:.40}, expected {what} from {low:g} to {high:g}")
    return found


def row_id(fields: Mapping[str, object], name: str) -> int | None:
    """The number of a row, None where the page knows of none; raises InputError."""
    return number(text(fields, name, limit=20), name, int, 1, _LAST_ID)
