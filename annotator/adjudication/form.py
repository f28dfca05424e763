"""What the adjudicator's page sends with an act, with the types that it must have."""

from dataclasses import dataclass
from typing import Any

from generation.item import is_storable
from rubrics import InputError


@dataclass(frozen=True)
class Form:
    """The fields of an act; a page sends those that it needs, the others are empty.

    `after` is the decision that stood when the item was shown. `decided` says which of the two
    lists the page is in.
    """

    item_id: str = ""
    rubric_version: str = ""
    category: str = ""
    reason: str = ""
    note: str = ""
    after: int | None = None
    decided: bool = False


_KINDS = {
    "item_id": str,
    "rubric_version": str,
    "category": str,
    "reason": str,
    "note": str,
    "after": int,
    "decided": bool,
}


def form_from(data: Any) -> Form:
    """The form in what a page sent; raises InputError when it is none, or a field has no such type.

    >>> form_from({"item_id": "0a", "after": None, "more": 1}).item_id
    '0a'
    """
    if not isinstance(data, dict):
        raise InputError("the page sent something else than a form; reload it")
    sent = {name: data[name] for name in _KINDS if data.get(name) is not None}
    for name, value in sent.items():
        if type(value) is not _KINDS[name] or (type(value) is str and not is_storable(value)):
            raise InputError(f"the page sent no usable {name}; reload it")
    return Form(**sent)
