"""What a judge is to be: from the command line, or one table of a judges.toml."""

from dataclasses import dataclass, fields
from typing import Any, TypeGuard

from generation.toml_file import shown
from judge.server.endpoint import DEFAULT_KEY_VARIABLE
from rubrics import InputError

MAX_RUNS = 100
MAX_CONCURRENCY = 1024
MAX_TEMPERATURE = 2
MAX_TOKENS = 1_000_000  # of one verdict
MAX_REQUESTS_PER_MINUTE = 10**9
MAX_TOKENS_PER_MINUTE = 10**12
MAX_NAME = 300  # characters
_OF_ANY_JUDGE = ("rubric", "prompt", "source")
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")  # as OpenAI's API names them


@dataclass(frozen=True)
class JudgeConfig:
    """A judge as asked for; None where nothing was said. Without a model: the lexical baseline.

    `prompt` is an export's folder or a prompt template's name; the key is read from the
    environment variable that `api_key_env` names, so that no file needs to hold one; where it is
    empty none is sent. `source` says where in a file it stands.
    """

    model: str | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    rubric: str | None = None
    prompt: str | None = None
    temperature: float | None = None
    reasoning_effort: str | None = None
    max_tokens: int | None = None
    runs: int | None = None
    concurrency: int | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    source: str | None = None

    @property
    def of_a_model(self) -> dict[str, Any]:
        """What was said that only a judge model can heed, by name."""
        return {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if field.name not in _OF_ANY_JUDGE and getattr(self, field.name) is not None
        }

    @property
    def key_variable(self) -> str:
        return DEFAULT_KEY_VARIABLE if self.api_key_env is None else self.api_key_env


def checked(config: JudgeConfig, where: str) -> JudgeConfig:
    """The config; raises InputError for a value out of range, or one that its kind cannot heed."""
    for name, (fits, expected) in _RANGES.items():
        value = getattr(config, name)
        if value is not None and not fits(value):
            found = "…" if name in _SECRET else shown(value)
            raise InputError(f"{where}: {name} = {found}; expected {expected}")
    if config.model is None and config.prompt is None and config.of_a_model:
        names = ", ".join(config.of_a_model)
        raise InputError(f"{where}: {names}: for which model? add model or prompt")
    return config


def checked_model(name: object) -> str:
    """The name of a model; raises InputError where it is none, or could act on a terminal."""
    if not is_name(name):
        raise InputError(f"model = {shown(name)}; expected {_NAME[1]}")
    return name


def is_name(value: object) -> TypeGuard[str]:
    """Whether this is a name that a message or a table can show as it is."""
    return isinstance(value, str) and value.isprintable() and 0 < len(value) <= MAX_NAME


def wrong_parameter(parameters: dict[str, Any]) -> str | None:
    """The first parameter of a judge model that we never send, or not like this, and the reason."""
    for name, value in parameters.items():
        if name not in _SENT:
            return f"{shown(name)} is no parameter of a judge; expected {', '.join(_SENT)}"
        fits, expected = _SENT[name]
        if not fits(value):
            return f"{name} = {shown(value)}; expected {expected}"
    return None


def _whole(low: int, high: int) -> tuple[Any, str]:
    return (lambda v: type(v) is int and low <= v <= high), f"a whole number, {low} to {high}"


_SECRET = ("api_key_env", "base_url")  # they may hold a key or a password in the wrong place
_TEXT = (lambda v: isinstance(v, str) and v.strip() == v != "", "a text")
_NAME = (is_name, f"a text of 1 to {MAX_NAME} printable characters")
_RANGES = {
    "model": (lambda v: is_name(v) and _TEXT[0](v), _NAME[1]),
    "base_url": _TEXT,
    "api_key_env": (lambda v: isinstance(v, str) and v.isidentifier(), "a variable's name"),
    "rubric": _TEXT,
    "prompt": _TEXT,
    "temperature": (
        lambda v: type(v) in (int, float) and 0 <= v <= MAX_TEMPERATURE,
        f"a number, 0 to {MAX_TEMPERATURE}",
    ),
    "reasoning_effort": (lambda v: v in EFFORTS, f"one of {', '.join(EFFORTS)}"),
    "max_tokens": _whole(1, MAX_TOKENS),
    "runs": _whole(1, MAX_RUNS),
    "concurrency": _whole(1, MAX_CONCURRENCY),
    "requests_per_minute": _whole(1, MAX_REQUESTS_PER_MINUTE),
    "tokens_per_minute": _whole(1, MAX_TOKENS_PER_MINUTE),
}
_FORMATS = ("json_schema", "json_object", "text")
_SENT = {
    "temperature": _RANGES["temperature"],
    "max_completion_tokens": _RANGES["max_tokens"],
    "max_tokens": _RANGES["max_tokens"],
    "seed": _whole(0, 2**53),
    "response_format": (lambda v: v in _FORMATS, f"one of {', '.join(_FORMATS)}"),
    "reasoning_effort": _RANGES["reasoning_effort"],
}
