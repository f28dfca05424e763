"""The parameters of a judge: what is wanted, and what of it a server agrees to.

Servers differ: reasoning models take no temperature, others no seed, no schema, or know the token
limit by its older name. Which it is, the server's refusal tells; what was sent is what is recorded.
"""

import re
from dataclasses import dataclass, replace
from typing import Any

from judge.server.errors import Refused

DEFAULT_MAX_TOKENS = 1024  # tokens of one verdict, reasoning included
TOP_LOGPROBS = 5  # alternatives per token: the most that every server allows
REFUSING_STATUSES = (400, 403, 404, 422, 501)  # 403: log probabilities of reasoning models

# How a server may name what it does not take, by the parameter of ours that it is about.
_SIGNS = {
    "temperature": r"temperature",
    "seed": r"seed",
    "logprobs": r"(?:top_)?logprobs?|log[ _]prob\w*",
    "response_format": r"response_format|json_schema|json_object|structured[ _]outputs?|guided\w*",
    "max_tokens": r"max(?:_completion)?_tokens",
}
_SIGN = re.compile("|".join(rf"(?P<{name}>\b(?:{sign})\b)" for name, sign in _SIGNS.items()), re.I)
_LESSER_FORMAT = {"json_schema": "json_object", "json_object": "text"}


@dataclass(frozen=True)
class Parameters:
    """`values` are sent with every item and make the judge what it is, as they are recorded.

    `logprobs` only lets us look on: it is asked for wherever the server has it.
    """

    values: dict[str, object]
    logprobs: bool = True

    @property
    def max_tokens(self) -> int:
        found = self.values.get("max_completion_tokens", self.values.get("max_tokens"))
        return found if isinstance(found, int) else DEFAULT_MAX_TOKENS

    def body(self, run_index: int, schema: dict[str, Any]) -> dict[str, Any]:
        """The parameters as a request holds them; every run of an item has a seed of its own."""
        body = dict(sorted(self.values.items()))  # one request is the same bytes in every run
        response_format = body.pop("response_format", "text")
        if isinstance(body.get("seed"), int):
            body["seed"] += run_index
        if response_format == "json_schema":
            verdict = {"name": "verdict", "strict": True, "schema": schema}
            body["response_format"] = {"type": "json_schema", "json_schema": verdict}
        elif response_format == "json_object":
            body["response_format"] = {"type": "json_object"}
        if self.logprobs:
            body |= {"logprobs": True, "top_logprobs": TOP_LOGPROBS}
        return body

    def without(self, refused: Refused) -> "Parameters | None":
        """What is left to ask for after this refusal; None when it is about nothing that can go."""
        name = _named(refused)
        if name == "logprobs" and self.logprobs:
            return replace(self, logprobs=False)
        if name == "max_tokens" and "max_completion_tokens" in self.values:
            return self._renamed("max_completion_tokens", "max_tokens")
        if name == "response_format":
            lesser = _LESSER_FORMAT.get(str(self.values.get(name)))
            return replace(self, values=self.values | {name: lesser}) if lesser else None
        if name in ("temperature", "seed") and name in self.values:
            return replace(self, values={k: v for k, v in self.values.items() if k != name})
        return None

    def _renamed(self, old: str, new: str) -> "Parameters":
        values = {new if key == old else key: value for key, value in self.values.items()}
        return replace(self, values=values)


def wanted_parameters(
    *,
    max_tokens: int = DEFAULT_MAX_TOKENS,
    temperature: float = 0,
    reasoning_effort: str | None = None,
) -> Parameters:
    """What we ask for unless the server says otherwise."""
    values: dict[str, object] = {
        "temperature": plain_number(temperature),
        "max_completion_tokens": max_tokens,
        "seed": 0,
        "response_format": "json_schema",
    }
    if reasoning_effort is not None:
        values["reasoning_effort"] = reasoning_effort
    return Parameters(values)


def plain_number(value: float) -> float:
    """A whole number as one, so that 0 and 0.0 are the same judge."""
    return int(value) if value == int(value) else value


def changes(wanted: dict[str, object], agreed: dict[str, object]) -> tuple[str, ...]:
    """Each difference in words.

    >>> changes({"seed": 0, "temperature": 0}, {"seed": 0})
    ('temperature 0 was not taken',)
    >>> changes({"response_format": "json_schema"}, {"response_format": "text"})
    ("response_format 'json_schema' was not taken, 'text' was",)
    """
    found = []
    for name, value in wanted.items():
        if name not in agreed:
            found.append(f"{name} {value!r} was not taken")
        elif agreed[name] != value:
            found.append(f"{name} {value!r} was not taken, {agreed[name]!r} was")
    return tuple(found)


def _named(refused: Refused) -> str | None:
    """The parameter of ours that a refusal is about, by its field or else its first mention."""
    if refused.status not in REFUSING_STATUSES or (refused.parameter or "").startswith("messages"):
        return None
    for text in (refused.parameter or "", refused.said):
        found = _SIGN.search(text)
        if found:
            return found.lastgroup
    return None
