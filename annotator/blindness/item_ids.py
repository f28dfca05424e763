"""Whether an item's id tells anything by its form, and how near a silent repeat is to its like."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from annotator.blindness.orders import Shown

_HEX = re.compile(r"[0-9a-f]+")


@dataclass(frozen=True)
class ItemIds:
    """`forms` counts ids by form; `telling` are those that are part of an owner's identifier.

    `nearest` and `typical` are how many items lie between a repeat and its original, at least and
    by the median; None where nobody has been shown both.
    """

    items: int
    gold: int
    repeats: int
    forms: dict[str, int]
    telling: tuple[str, ...]
    nearest: int | None
    typical: float | None

    def as_dict(self) -> dict[str, Any]:
        return vars(self) | {"telling": list(self.telling)}


def examine_ids(
    ids: Sequence[str],
    gold: int,
    repeats: Mapping[str, str],
    identifiers: Mapping[str, tuple[str, ...]],
    orders: Shown,
) -> ItemIds:
    forms: dict[str, int] = {}
    for item_id in ids:
        kind = "hex digits" if _HEX.fullmatch(item_id) else "other characters"
        form = f"{len(item_id)} {kind}"
        forms[form] = forms.get(form, 0) + 1
    distances = sorted(_distances(repeats, orders))
    return ItemIds(
        items=len(ids),
        gold=gold,
        repeats=len(repeats),
        forms=forms,
        telling=tuple(i for i in ids if any(i in known for known in identifiers.get(i, ()))),
        nearest=distances[0] if distances else None,
        typical=median(distances) if distances else None,
    )


def _distances(repeats: Mapping[str, str], orders: Shown) -> list[int]:
    found = []
    for order in orders.values():
        place = {item: n for n, item in enumerate(order)}
        found += [
            abs(place[repeat] - place[original]) - 1
            for repeat, original in repeats.items()
            if repeat in place and original in place
        ]
    return found
