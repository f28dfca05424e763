"""What a paper reported, by table, data set and model, to stand beside what was measured."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.resources import files
from typing import Any

from generation.perturbation import DROP_LAST, TRUNCATE, UNPERTURBED
from generation.plan.plan import SELF_GENERATED
from rubrics import InputError

KNOWN = ("paper",)
_PLACE = ("table", "dataset", "model", "setting", "temperature", "perturbation", "stage")


@dataclass(frozen=True)
class Place:
    """What a number is about. A paper's tables can differ on the same, so each has its own.

    `model` is a name as a hub or a paper writes it, and of a checkpoint what it is one of.
    """

    table: str
    dataset: str
    model: str
    setting: str = SELF_GENERATED
    temperature: float | None = 0.0
    perturbation: str = UNPERTURBED
    stage: str | None = None

    @property
    def bare(self) -> "Place":
        """With the model's name alone, without its owner or folder, in small letters.

        Of truncations there is one: a paper need not say which end it cuts.

        >>> Place("accuracy", "gsm8k", "Qwen/Qwen3.5-9B").bare.model
        'qwen3.5-9b'
        """
        model = self.model.rstrip("/").rpartition("/")[2].lower()
        truncated = self.perturbation == DROP_LAST
        return replace(self, model=model, perturbation=TRUNCATE if truncated else self.perturbation)


@dataclass(frozen=True)
class Numbers:
    """Shares from 0 to 1, None where nothing is reported.

    `rate` is that of genuine follow-ups; of a perturbation the one after it, with `before` and
    the share of turns that it `changed`.
    """

    accuracy: float | None = None
    rate: float | None = None
    before: float | None = None
    changed: float | None = None


NOTHING = Numbers()


@dataclass(frozen=True)
class Reported:
    """Every number of one `source`."""

    source: str
    numbers: Mapping[Place, Numbers]

    @cached_property
    def _by_bare(self) -> Mapping[Place, Numbers]:
        return {place.bare: numbers for place, numbers in self.numbers.items()}

    def at(self, place: Place) -> Numbers:
        """What is reported there, whoever the owner in the model's name is."""
        return self._by_bare.get(place.bare, NOTHING)

    def places(self, table: str) -> tuple[Place, ...]:
        """All that a table of the source has numbers on."""
        return tuple(place for place in self.numbers if place.table == table)


def reported_by(name: str) -> Reported:
    """The numbers that are packaged under that name; raises InputError for another one."""
    if name not in KNOWN:
        raise InputError(f"no reported numbers named {name!r}; expected {', '.join(KNOWN)}")
    text = files(__package__).joinpath(f"{name}.toml").read_text(encoding="utf-8")
    told = tomllib.loads(text)
    numbers = dict(map(_entry, told["numbers"]))
    if len(numbers) < len(told["numbers"]):
        raise ValueError(f"{name}.toml has two numbers for one place")
    return Reported(told["source"], numbers)


def _entry(row: Mapping[str, Any]) -> tuple[Place, Numbers]:
    """A row in percent as shares."""
    where = {key: row[key] for key in _PLACE if key in row}
    shares = {key: round(row[key] / 100, 6) for key in row if key not in _PLACE}
    return Place(**where), Numbers(**shares)
