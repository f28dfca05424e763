"""Tokens that a verdict took, and what they cost by a price table."""

from dataclasses import dataclass, fields
from math import isfinite
from pathlib import Path
from typing import Any

from generation.toml_file import read_toml, shortened, shown
from rubrics import InputError

TOKENS_PER_PRICE = 1_000_000
BYTES_PER_TOKEN = 4  # of English under today's vocabularies; an estimate made before asking


@dataclass(frozen=True)
class Usage:
    """Tokens of one answer; the cached ones are part of the prompt's, reasoning of the answer's."""

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int = 0


@dataclass(frozen=True)
class Price:
    """US dollars for a million tokens; `cached_input` for those read from the provider's cache."""

    input: float
    output: float
    cached_input: float

    def cost(self, usage: Usage) -> float:
        """In dollars.

        >>> Price(input=1, output=4, cached_input=0.5).cost(Usage(3_000_000, 500_000, 1_000_000))
        4.5
        """
        fresh = usage.prompt_tokens - usage.cached_tokens
        return (
            fresh * self.input
            + usage.cached_tokens * self.cached_input
            + usage.completion_tokens * self.output
        ) / TOKENS_PER_PRICE


def estimated_usage(messages: list[dict[str, str]], max_tokens: int) -> Usage:
    """What a request may take, judged by its size; the answer at its longest."""
    size = sum(len(message["content"].encode()) for message in messages)
    return Usage(prompt_tokens=-(-size // BYTES_PER_TOKEN), completion_tokens=max_tokens)


def read_usage(found: Any) -> Usage | None:
    """Usage from a reply's `usage`; None where a server leaves it out or makes no sense."""
    if not isinstance(found, dict):
        return None
    details = found.get("prompt_tokens_details")
    cached = _count(details.get("cached_tokens")) if isinstance(details, dict) else None
    prompt, completion = _count(found.get("prompt_tokens")), _count(found.get("completion_tokens"))
    if prompt is None or completion is None:
        return None
    return Usage(prompt, completion, min(cached or 0, prompt))


def read_price(path: Path, model: str) -> Price:
    """The model's price from a TOML table of its name: input, output and maybe cached_input.

    Raises InputError when the file cannot be read, holds no such table or other than prices.
    """
    tables = read_toml(path, _EXAMPLE)
    table = tables.get(model)
    if not isinstance(table, dict):
        names = ", ".join(name for name, value in tables.items() if isinstance(value, dict))
        priced = shortened(names) or "none"
        raise InputError(f"{path} has no price of {model} (it has: {priced}); add {_EXAMPLE}")
    names = [field.name for field in fields(Price)]
    wrong = [name for name in table if name not in names or not _is_price(table[name])]
    missing = [name for name in ("input", "output") if name not in table]
    if wrong or missing:
        found = ", ".join(
            [*(f"{n} = {shown(table[n])}" for n in wrong), *(f"no {n}" for n in missing)]
        )
        raise InputError(f"{path}, [{model}]: found {found}; expected {_EXAMPLE}")
    return Price(**({"cached_input": table["input"]} | table))


_EXAMPLE = (
    "the model and its dollars per million tokens: "
    '"NAME" = {input = 1.0, cached_input = 0.5, output = 4.0}'
)


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < 2**53 else None


def _is_price(value: Any) -> bool:
    return type(value) in (int, float) and isfinite(value) and value >= 0
