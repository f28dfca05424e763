"""What an engine does: token ids in, token ids out, every sampling parameter said."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

SEED_LIMIT = 2**31  # the widest range that vLLM, SGLang, llama.cpp and the OpenAI API all accept


@dataclass(frozen=True)
class Sampling:
    """All that decides one completion: nothing is left to an engine's or a model's default.

    At temperature 0 there is no draw and `seed` is None.
    """

    temperature: float
    max_tokens: int
    seed: int | None
    stop_token_ids: tuple[int, ...]
    stop_strings: tuple[str, ...] = ()
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0


@dataclass(frozen=True)
class Request:
    """One row to complete. Results come back under its `row_id`, in whatever order."""

    row_id: str
    prompt: tuple[int, ...]
    sampling: Sampling


@dataclass(frozen=True)
class Completion:
    """What came out, as token ids with the one that ended it.

    `finish_reason` is 'stop' or 'length'; a completion cut by its limit is data, not an error.
    `stop` is the token id or the string that ended it, None where a limit did.
    """

    token_ids: tuple[int, ...]
    finish_reason: str
    stop: int | str | None


@dataclass(frozen=True)
class Failure:
    """Why a row has no completion: a row of its own in the store, tried again on request alone.

    `kind` is a word to count by, such as 'refused' or 'server'; `message` is one line.
    """

    kind: str
    message: str


class EngineDied(Exception):
    """The engine cannot go on. What it has yielded is stored; the same command resumes."""


class Engine(Protocol):
    """Completes requests and yields each as it is done.

    `generate` reads `requests` only as far ahead as keeps the machine busy, so a million of them
    need no memory. It raises EngineDied where nothing more can come.
    """

    context_length: int

    def generate(
        self, requests: Iterable[Request]
    ) -> Iterator[tuple[str, Completion | Failure]]: ...

    def provenance(self) -> dict[str, Any]: ...

    def close(self) -> None: ...
