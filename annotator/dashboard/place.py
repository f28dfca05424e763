"""Where the owner is in the dashboard: it stands in the address, so that a reload comes back."""

from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import urlencode

from generation.item import is_storable
from rubrics import InputError

VIEWS = ("overview", "disagreement", "items", "annotators")
SHOWN = ("", "flagged", "skipped")
FIELD_LIMIT = 400  # characters; what an address holds are names and ids


@dataclass(frozen=True)
class Place:
    """A view and what is chosen in it; "" is no choice. All of it comes from a browser.

    `first` and `second` are two labels that an item got, by `annotator` and somebody else where
    one is named. `show` is "flagged", "skipped" or, by default, by disagreement. `start` is how
    many items of a list come before.
    """

    view: str = "overview"
    rubric: str = ""
    annotator: str = ""
    first: str = ""
    second: str = ""
    show: str = ""
    item: str = ""
    start: str = ""

    def link(self, **changes: str) -> str:
        """The address within the page of this place with changes; defaults are left out.

        >>> Place().link(view="items", item="ab c")
        '#view=items&item=ab+c'
        """
        there, plain = replace(self, **changes), Place()
        said = {
            field.name: getattr(there, field.name)
            for field in fields(there)
            if getattr(there, field.name) != getattr(plain, field.name)
        }
        return f"#{urlencode(said)}"

    @property
    def before(self) -> int:
        return int(self.start or 0)


def place_from(data: Any) -> Place:
    """The place that a page sent; raises InputError for what no link of ours says."""
    if not isinstance(data, dict):
        raise InputError("the page sent no place; reload it")
    known = {field.name for field in fields(Place)}
    chosen = {name: value for name, value in data.items() if name in known and value != ""}
    for name, value in chosen.items():
        if not isinstance(value, str) or len(value) > FIELD_LIMIT or not is_storable(value):
            raise InputError(f"the address has a {name} that cannot be read; reload the page")
    place = Place(**chosen)
    if place.view not in VIEWS or place.show not in SHOWN:
        raise InputError("the address names something that is not here; go to the overview")
    if place.start and not (place.start.isascii() and place.start.isdigit()):
        raise InputError("the address has a start that is no number; go to the overview")
    return place
