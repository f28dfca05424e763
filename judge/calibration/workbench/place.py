"""Where an owner is in the workbench: it stands in the address, so that a reload comes back."""

from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import urlencode

from annotator.name import checked_name
from annotator.reference_rule import ReferenceRule
from generation.item import is_storable
from judge.calibration.causes.cause_store import OWNER
from rubrics import InputError

VIEWS = ("overview", "matrix", "items", "editor", "runs", "compare", "suggest", "final")
FIELD_LIMIT = 400  # characters; what an address holds are names and ids


@dataclass(frozen=True)
class Place:
    """A view and what is chosen in it; "" is no choice. All of it comes from a browser.

    `judge` and `other` are judge ids. `first` and `second` are two annotators. `reference` and
    `outcome` are a cell; `show` is "all" or, by default, disagreements. The others filter items.
    """

    view: str = "overview"
    owner: str = OWNER
    rule: str = str(ReferenceRule.MAJORITY)
    judge: str = ""
    other: str = ""
    first: str = ""
    second: str = ""
    reference: str = ""
    outcome: str = ""
    show: str = ""
    model: str = ""
    dataset: str = ""
    temperature: str = ""
    perturbation: str = ""
    annotator: str = ""
    stability: str = ""
    cause: str = ""
    item: str = ""
    kind: str = "prompt"

    def link(self, **changes: str) -> str:
        """The address within the page of this place with changes; defaults are left out.

        >>> Place().link(view="matrix", judge="ab c")
        '#view=matrix&judge=ab+c'
        """
        there, plain = replace(self, **changes), Place()
        said = {
            field.name: getattr(there, field.name)
            for field in fields(there)
            if getattr(there, field.name) != getattr(plain, field.name)
        }
        return f"#{urlencode(said)}"

    def at(self, view: str, **choices: str) -> "Place":
        """A view for the same owner, rule and judge; nothing else is chosen but `choices`."""
        return Place(view=view, owner=self.owner, rule=self.rule, judge=self.judge, **choices)

    @property
    def reference_rule(self) -> ReferenceRule:
        return ReferenceRule(self.rule)


def place_from(data: Any) -> Place:
    """The place in what a page sent; raises InputError for what is none.

    >>> place_from({"view": "items", "item": "ab"}).item
    'ab'
    """
    if not isinstance(data, dict):
        raise InputError("the page sent no place; reload it")
    known = {field.name for field in fields(Place)}
    for name, value in data.items():
        if name not in known:
            raise InputError(f"the address has an unknown part {name!r:.40}; go to the overview")
        if not isinstance(value, str) or len(value) > FIELD_LIMIT or not is_storable(value):
            raise InputError(f"the address has no usable {name}; go to the overview")
    place = Place(**{name: value for name, value in data.items() if value})
    if place.view not in VIEWS:
        raise InputError(f"there is no view {place.view!r:.40}; go to the overview")
    if place.rule not in set(ReferenceRule):
        raise InputError(f"there is no reference rule {place.rule!r:.40}; go to the overview")
    return replace(place, owner=checked_name(place.owner))
