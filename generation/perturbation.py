"""Perturbations of an answer: less of it, or a question after it, to see whether u follows it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Protocol

from rubrics import InputError

UNPERTURBED = "none"
TRUNCATE, DROP_LAST, ASK = "truncate", "truncate-drop-last", "ask"
FLOOR_TOKENS = 25  # arXiv 2604.02315: truncation to max(25, ceil(n / 4)) of n tokens
FRACTION = Fraction(1, 4)
QUESTION = "What do you think?"  # arXiv 2604.02315, the explicit question
_MOST_BYTES_SHORT = 3  # of a character's four in UTF-8
KNOWN = (TRUNCATE, DROP_LAST, ASK)


class Tokens(Protocol):
    """The probed model's own tokenizer, adding no special token."""

    encode: Callable[[str], list[int]]
    decode: Callable[[Sequence[int], bool], str]


@dataclass(frozen=True)
class Perturbation:
    """One of the known ones; its name is what rows and rates are counted by."""

    name: str

    def apply(self, answer: str, tokens: Tokens) -> str:
        """The visible answer, perturbed; '' where nothing is left of it."""
        if self.name == ASK:
            return f"{answer.rstrip()}\n\n{QUESTION}"
        ids = tokens.encode(answer)
        count = tokens_meant(len(ids))
        kept = ids[:count] if self.name == TRUNCATE else ids[: max(len(ids) - count, 0)]
        return answer if len(kept) == len(ids) else _whole_characters(answer, kept, tokens)


def perturbation_from(name: str) -> Perturbation | None:
    """The perturbation of that name, None for 'none'; raises InputError for an unknown one."""
    if name == UNPERTURBED:
        return None
    if name not in KNOWN:
        raise InputError(
            f"perturbation {name!r}: expected one of {', '.join((UNPERTURBED, *KNOWN))}"
        )
    return Perturbation(name)


def tokens_meant(length: int) -> int:
    """Of an answer of so many tokens, how many a truncation is about: max(25, ceil(n / 4)).

    >>> [tokens_meant(n) for n in (10, 100, 101, 400)]
    [25, 25, 26, 100]
    """
    return max(FLOOR_TOKENS, ceil(length * FRACTION))


def _whole_characters(answer: str, kept: list[int], tokens: Tokens) -> str:
    """The text of the first tokens, without a character of which they hold only some bytes.

    Such a rest decodes to one to three U+FFFD; those that the answer itself has there stay.
    """
    text = tokens.decode(kept, False)
    for _ in range(_MOST_BYTES_SHORT):
        if answer.startswith(text) or not text.endswith("\ufffd"):
            break
        text = text[:-1]
    return text
