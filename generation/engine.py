"""What an engine does: token ids in, completions out, every sampling parameter said."""

from collections.abc import Callable, Sequence
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
class Completion:
    """What came out. `text` is readable, `text_raw` keeps special tokens and the terminator.

    `finish_reason` is 'stop' or 'length'; a completion cut by its limit is data, not an error.
    """

    token_ids: tuple[int, ...]
    text: str
    text_raw: str
    finish_reason: str
    stop_token_id: int | None


class Engine(Protocol):
    """Completes prompts given as token ids, in their order, one sampling per prompt."""

    context_length: int

    def generate(
        self, prompts: Sequence[Sequence[int]], sampling: Sequence[Sampling]
    ) -> list[Completion]: ...

    def provenance(self) -> dict[str, Any]: ...


def completion_from_tokens(
    token_ids: Sequence[int],
    finish_reason: str,
    stop: int | str | None,
    decode: Callable[[Sequence[int], bool], str],
) -> Completion:
    """Decode twice: raw with special tokens, readable without them and without what ended it.

    `decode(ids, skip_special_tokens)` is the tokenizer's; `stop` is the token id or the string
    that ended the completion, None where a limit did.

    >>> words = {1: "Why?", 2: "<end>"}
    >>> def decode(ids, skip):
    ...     return "".join(words[i] for i in ids if not (skip and i == 2))
    >>> completion = completion_from_tokens([1, 2], "stop", 2, decode)
    >>> completion.text, completion.text_raw, completion.stop_token_id
    ('Why?', 'Why?<end>', 2)
    """
    readable = list(token_ids)
    if isinstance(stop, int) and readable and readable[-1] == stop:
        readable.pop()
    text = decode(readable, True)
    if isinstance(stop, str):
        text = text.partition(stop)[0]
    return Completion(
        token_ids=tuple(token_ids),
        text=text,
        text_raw=decode(token_ids, False),
        finish_reason=finish_reason,
        stop_token_id=stop if isinstance(stop, int) else None,
    )
