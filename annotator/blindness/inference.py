"""Could a hidden field be told from what is shown: from the text, the order, or the item's id?

Tests of association permute the field over the items, from a seed, and are corrected together.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, lgamma
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotator.blindness.hidden import REPEAT
from annotator.blindness.orders import Shown
from annotator.measures.multiplicity import holm

PERMUTATIONS = 999
LEVEL = 0.05  # of all tests together
SHORTEST = 3  # characters; shorter values are in every text
SHOWN = "the order shown"
LITERAL = ("model", "model of the answer", "data set", "setting", "perturbation")
NO_VALUE = ("none", "not known")  # of a field; words like any other

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Occurrence:
    """A hidden value that stands in texts shown: in how many of its own items, and of others."""

    field: str
    value: str
    own: int
    own_items: int
    others: int
    other_items: int
    p: float

    def as_dict(self) -> dict[str, Any]:
        return vars(self)


@dataclass(frozen=True)
class Association:
    """Whether a hidden field goes with a place; `p` is not corrected, `adjusted` is (Holm)."""

    field: str
    place: str
    values: int
    items: int
    p: float
    adjusted: float

    def as_dict(self) -> dict[str, Any]:
        return vars(self)


def occurrences(
    texts: Mapping[str, str], fields: Mapping[str, Mapping[str, str]]
) -> list[Occurrence]:
    """Hidden values that stand as words in any text; `p` tells whether more in their own items."""
    folded = {item: text.casefold() for item, text in texts.items()}
    found = []
    for field in LITERAL:
        by_item = fields.get(field, {})
        for value in sorted(set(by_item.values())):
            pattern = _pattern(value)
            if pattern is None:
                continue
            own = {item for item, of in by_item.items() if of == value and item in folded}
            holding = {item for item, text in folded.items() if pattern.search(text)}
            if holding:
                hits = len(own & holding)
                p = _as_many(hits, len(folded), len(own), len(holding))
                counts = (hits, len(own), len(holding) - hits, len(folded) - len(own))
                found.append(Occurrence(field, value, *counts, p))
    return found


def _as_many(hits: int, n: int, own: int, holding: int) -> float:
    """The chance that `hits` or more of `holding` items drawn from n are among `own`.

    >>> round(_as_many(2, 4, 2, 2), 4)
    0.1667
    """

    def log_choose(n: int, k: int) -> float:
        return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)

    possible = range(max(hits, own + holding - n), min(own, holding) + 1)
    total = log_choose(n, holding)
    chances = (log_choose(own, k) + log_choose(n - own, holding - k) - total for k in possible)
    return min(1.0, sum(map(exp, chances)))


def _pattern(value: str) -> re.Pattern[str] | None:
    """The value, or what follows the slash of its name, as a word of its own."""
    names = {value.casefold(), value.casefold().rsplit("/", 1)[-1]}
    names = {name for name in names if len(name) >= SHORTEST and name not in NO_VALUE}
    if not names:
        return None
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(names)))})(?!\w)")


def associations(
    fields: Mapping[str, Mapping[str, str]],
    orders: Shown,
    sequences: Mapping[str, Sequence[str]],
    *,
    seed: int,
) -> list[Association]:
    """Every hidden field against the orders shown and against other `sequences` of the items.

    A field with one value, or without two items of two values, has nothing to tell and no test.
    """
    places = {SHOWN: list(orders.values())} | {
        name: [list(sequence)] for name, sequence in sequences.items()
    }
    tested = []
    for number, (field, by_item) in enumerate(sorted(fields.items())):
        items = sorted(by_item)
        values, codes = np.unique([by_item[item] for item in items], return_inverse=True)
        if sum(count > 1 for count in Counter(codes.tolist()).values()) < 2:
            continue
        index = {item: n for n, item in enumerate(items)}
        for other, (place, lists) in enumerate(places.items()):
            positions = _positions(lists, index)
            # Handed out one by one, a repeat must come after its original; its text says the same.
            if not len(positions) or (field, place) == (REPEAT, SHOWN):
                continue
            generator = np.random.default_rng([seed, number, other])
            p = _p(positions, codes, len(values), generator)
            tested.append((field, place, len(values), len(items), p))
            if place == SHOWN and len(values) == 2:
                p = _spacing_p(positions, codes, generator)
                if p is not None:
                    tested.append((field, "the distances in the order", 2, len(items), p))
    adjusted = holm([entry[-1] for entry in tested])
    return [Association(*entry, adjusted[n]) for n, entry in enumerate(tested)]


def _positions(lists: Sequence[Sequence[str]], index: Mapping[str, int]) -> Numbers:
    """Places from 0 to 1, shape (lists, items); NaN where an item is not in the list."""
    positions = np.full((len(lists), len(index)), np.nan)
    for row, sequence in enumerate(lists):
        known = [item for item in sequence if item in index]
        for place, item in enumerate(known):
            positions[row, index[item]] = place / max(len(known) - 1, 1)
    return positions[(~np.isnan(positions)).sum(axis=1) > 2]


def _p(positions: Numbers, codes: NDArray[np.int64], k: int, generator) -> float:
    """Between-group sum of squares of the places, summed over lists, against permutations."""
    seen = (~np.isnan(positions)).astype(float)
    centred = np.where(seen > 0, positions, 0)
    centred -= seen * (centred.sum(axis=1) / seen.sum(axis=1))[:, np.newaxis]
    one_hot = np.eye(k)

    def statistic(of: NDArray[np.int64]) -> float:
        groups = one_hot[of]
        return float(((centred @ groups) ** 2 / np.maximum(seen @ groups, 1)).sum())

    observed = statistic(codes)
    hits = sum(
        statistic(generator.permutation(codes)) >= observed - 1e-12 for _ in range(PERMUTATIONS)
    )
    return (hits + 1) / (PERMUTATIONS + 1)


def _spacing_p(positions: Numbers, codes: NDArray[np.int64], generator) -> float | None:
    """Are the rarer value's items too evenly, or too closely, spaced? None for fewer than three."""
    rare = int(np.argmin(np.bincount(codes, minlength=2)))
    orders = [np.argsort(row)[: int((~np.isnan(row)).sum())] for row in positions]

    def statistic(of: NDArray[np.int64]) -> float:
        total = 0.0
        for order in orders:
            at = np.flatnonzero(of[order] == rare)
            if len(at) > 2:
                total += float(np.diff(at).var())
        return total

    if not any((codes[order] == rare).sum() > 2 for order in orders):
        return None
    observed = statistic(codes)
    drawn = np.array([statistic(generator.permutation(codes)) for _ in range(PERMUTATIONS)])
    lower = ((drawn <= observed + 1e-12).sum() + 1) / (PERMUTATIONS + 1)
    upper = ((drawn >= observed - 1e-12).sum() + 1) / (PERMUTATIONS + 1)
    return float(min(1.0, 2 * min(lower, upper)))
