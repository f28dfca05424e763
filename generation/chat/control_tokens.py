"""Tokens that a tokenizer reads out of plain text as one id: role marks, ends, thinking marks."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class PlacedToken:
    """A control token where it stands in a text, in characters."""

    token: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.token)


def tokens_in(text: str, tokens: Iterable[str]) -> list[str]:
    """Those of `tokens` that a text holds anywhere, sorted; made for thousands of tokens.

    >>> tokens_in("a <|b|> c", {"<|b|>", "<|c|>"})
    ['<|b|>']
    """
    characters = set(text)
    return sorted(token for token in tokens if token[:1] in characters and token in text)


def placed_tokens(text: str, tokens: Iterable[str]) -> list[PlacedToken]:
    """Control tokens in the order in which they stand in `text`, the longest at each place.

    >>> [placed.token for placed in placed_tokens("</s> [INST] ", {"[INST]", "</s>", "s"})]
    ['</s>', '[INST]']
    """
    present = sorted(tokens_in(text, tokens), key=len, reverse=True)
    found, position = [], 0
    while present and position < len(text):
        token = next((token for token in present if text.startswith(token, position)), None)
        if token:
            found.append(PlacedToken(token, position))
        position += len(token) if token else 1
    return found
