"""Evidence of the lexical baseline: how far a turn overlaps with the query and the answer."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from numpy import minimum, ndarray

from generation.item import Item
from judge.lexical.cues import SOCIAL_WORDS

WORD_NGRAMS = (1, 2)  # words
CHARACTER_NGRAMS = (3, 5)  # characters, within words


@dataclass(frozen=True)
class Overlap:
    """Shares in [0, 1]: of u's n-grams that stand in q or in a, and of q's that stand in u."""

    in_q: float
    in_a: float
    of_q: float


@dataclass(frozen=True)
class Evidence:
    """What the decision rests on.

    `content` are u's words that are neither function words nor social ones, `grounded` those
    of u's content words that stand in a and not in q; each word once.
    """

    turn: str
    words: tuple[str, ...]
    answer: str
    query: str
    overlap: Overlap
    content: tuple[str, ...]
    grounded: tuple[str, ...]


def gather_evidence(turn: str, item: Item) -> Evidence:
    """Evidence on `turn`, the readable part of the item's turn; it holds a letter or digit."""
    query = item.messages[-1].content if item.messages else ""
    words = _words(turn)
    content = set(words) - _stop_words()
    shared = content & set(_words(item.answer)) - set(_words(query))
    return Evidence(
        turn=turn,
        words=words,
        answer=item.answer.strip(),
        query=query,
        overlap=_overlap(turn, query, item.answer),
        content=tuple(sorted(content - SOCIAL_WORDS)),
        grounded=tuple(sorted(shared)),
    )


def _overlap(turn: str, query: str, answer: str) -> Overlap:
    """Mean over word and character n-grams of the multiset overlap of u with q and with a."""
    by_kind = [
        (_share(u, q), _share(u, a), _share(q, u)) for u, q, a in _counts(turn, query, answer)
    ]
    return Overlap(*(sum(shares) / len(shares) for shares in zip(*by_kind, strict=True)))


def _counts(*texts: str) -> Iterator[ndarray]:
    """One (texts × n-grams) matrix of counts per kind of n-gram."""
    from sklearn.feature_extraction.text import CountVectorizer

    # The default pattern would drop one-letter words and one-digit numbers.
    words = CountVectorizer(ngram_range=WORD_NGRAMS, token_pattern=r"\w+")
    characters = CountVectorizer(analyzer="char_wb", ngram_range=CHARACTER_NGRAMS)
    for vectorizer in (words, characters):
        yield vectorizer.fit_transform(texts).toarray()


def _share(part: ndarray, whole: ndarray) -> float:
    total = part.sum()
    return float(minimum(part, whole).sum() / total) if total else 0.0


def _words(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+", text.lower().replace("'", "").replace("’", "")))


@cache
def _stop_words() -> frozenset[str]:
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return ENGLISH_STOP_WORDS
