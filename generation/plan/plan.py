"""A plan: models × data sets × sweeps. What it amounts to in rows is in `cells`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from generation.perturbation import UNPERTURBED, perturbation_from
from rubrics import InputError

SELF_GENERATED, HELD_OUT = "self-generated", "held-out"
SETTINGS = (SELF_GENERATED, HELD_OUT)
HISTORY, RAW, NAIVE = "history", "raw", "naive"
CONTEXTS = (HISTORY, RAW, NAIVE)

MOST_SAMPLES, MOST_USER_TURNS, MOST_TEMPERATURE = 10_000, 100, 100  # above it is a slip of the pen


@dataclass(frozen=True)
class ModelPlan:
    """A model: `source` is a folder or a hub name such as 'Qwen/Qwen3.5-27B'.

    `template_kwargs` are variables of its chat template, `template_file` stands in for a missing
    one; `engine` holds vLLM arguments such as tensor_parallel_size.
    """

    source: str
    name: str
    revision: str | None = None
    template_kwargs: Mapping[str, Any] = field(default_factory=dict)
    template_file: str | None = None
    context_length: int = 4096
    engine: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_name("model", self.name)
        _check_range("context_length", self.context_length, 64)


@dataclass(frozen=True)
class DatasetPlan:
    """A data set: `source` is a known one or 'chat' for a file of conversations.

    Without a `file` it is looked for in the data folder, then on the hub. `limit` takes a seeded
    choice of so many.
    """

    source: str
    name: str
    file: str | None = None
    limit: int | None = None

    def __post_init__(self) -> None:
        check_name("data set", self.name)
        if self.limit is not None:
            _check_range("limit", self.limit, 1)


@dataclass(frozen=True)
class AnswerPlan:
    """How answers are sampled: one per question."""

    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    max_tokens: int = 256

    def __post_init__(self) -> None:
        _check_draw(self.temperature, self.top_p, self.top_k)
        _check_range("the tokens of an answer", self.max_tokens, 1)


@dataclass(frozen=True)
class Sweep:
    """Every combination of what it lists. At temperature 0 there is one turn, and no top-p.

    `datasets` are names; none means all. `user_turns` above 1 goes on: the model answers u, and
    a next u follows.
    """

    datasets: tuple[str, ...] = ()
    settings: tuple[str, ...] = (SELF_GENERATED,)
    contexts: tuple[str, ...] = (HISTORY,)
    perturbations: tuple[str, ...] = (UNPERTURBED,)
    temperatures: tuple[float, ...] = (0.0,)
    top_p: tuple[float, ...] = (1.0,)
    top_k: tuple[int, ...] = (0,)
    samples: int = 1
    user_turns: int = 1

    def __post_init__(self) -> None:
        _check_known("setting", self.settings, SETTINGS)
        _check_known("context", self.contexts, CONTEXTS)
        for text in self.perturbations:
            perturbation_from(text)
        for values in (self.settings, self.contexts, self.perturbations, self.temperatures,
                       self.top_p, self.top_k):  # fmt: skip
            if not values:
                raise InputError("a sweep lists nothing in one place; expected one value at least")
        for temperature in self.temperatures:
            for top_p in self.top_p:
                for top_k in self.top_k:
                    _check_draw(temperature, top_p, top_k)
        _check_range("samples", self.samples, 1, MOST_SAMPLES)
        _check_range("user_turns", self.user_turns, 1, MOST_USER_TURNS)
        if RAW in self.contexts and set(self.perturbations) != {UNPERTURBED}:
            raise InputError(
                "context raw goes on from the very tokens that the model sampled, and a perturbed "
                "answer was never sampled; put raw and the perturbations into sweeps of their own"
            )
        if RAW in self.contexts and self.user_turns > 1:
            raise InputError(
                "context raw goes on from the very tokens that the model sampled, and a later "
                "answer is to a conversation that was rendered again; user_turns with raw is 1"
            )
        if RAW in self.contexts and HELD_OUT in self.settings:
            raise InputError(
                "context raw goes on from the very tokens that the model sampled, and a held-out "
                "answer was not sampled; use history or naive in the held-out setting"
            )


@dataclass(frozen=True)
class Plan:
    """All that decides which rows there are; equal plans give equal rows.

    `date` (ISO) is what a chat template reads as today.
    """

    name: str
    models: tuple[ModelPlan, ...]
    datasets: tuple[DatasetPlan, ...]
    sweeps: tuple[Sweep, ...]
    date: str
    answers: AnswerPlan = field(default_factory=AnswerPlan)
    max_turn_tokens: int = 256
    seed: int = 0

    def __post_init__(self) -> None:
        check_name("plan", self.name)
        _check_range("the tokens of a turn", self.max_turn_tokens, 1)
        try:
            day = date.fromisoformat(self.date).isoformat()
        except ValueError:
            day = None
        if day != self.date:
            raise InputError(f"date {self.date!r}: expected a day such as 2026-01-31")
        for kind, rows in (("model", self.models), ("data set", self.datasets)):
            if not rows:
                raise InputError(f"the plan has no {kind}; expected one at least")
            names = [row.name for row in rows]
            twice = next((name for name in names if names.count(name) > 1), None)
            if twice:
                raise InputError(f"two of the plan's {kind}s are named {twice!r}; name one anew")
        known = tuple(dataset.name for dataset in self.datasets)
        for sweep in self.sweeps:
            _check_known("data set", sweep.datasets, known)
        if not self.sweeps:
            raise InputError("the plan has no sweep; expected one at least")


def _check_known(what: str, values: tuple[str, ...], known: tuple[str, ...]) -> None:
    for value in values:
        if value not in known:
            raise InputError(f"{what} {value!r}: expected one of {', '.join(known)}")


def _check_draw(temperature: float, top_p: float, top_k: int) -> None:
    if not 0 <= temperature <= MOST_TEMPERATURE:
        raise InputError(
            f"temperature {temperature}: expected a number from 0 up to {MOST_TEMPERATURE}"
        )
    if not 0 < top_p <= 1:
        raise InputError(f"top_p {top_p}: expected a number above 0, up to 1 (1: off)")
    _check_range("top_k", top_k, 0)


def check_name(what: str, name: str) -> None:
    """Raises InputError for a name that cannot be printed."""
    if not name or not name.isprintable():
        raise InputError(f"the name of a {what} is {name!r}; expected printable text")


def _check_range(what: str, value: int, least: int, most: int = 2**31 - 1) -> None:
    if not least <= value <= most:
        raise InputError(f"{what}: {value}; expected a whole number from {least} to {most}")
