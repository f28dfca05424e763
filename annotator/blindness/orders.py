"""The order in which everybody was shown the items, and whether two of these orders are alike."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, permutations
from math import pi, sqrt
from typing import Any

import numpy as np
from sqlite_utils import Database

ENUMERATED = 7  # items, up to which every order is tried
FEWEST = 3  # common items, below which two orders say nothing

Shown = dict[
    tuple[str, str], list[str]
]  # (annotator, rubric version) → item ids, first shown first


@dataclass(frozen=True)
class Orders:
    """How alike the orders of different annotators are, on the items that both were shown.

    `shown` is how many items by (annotator, rubric version). `correlation` is the mean of the
    absolute Spearman correlation over `pairs`, and `by_chance` what independent random orders
    give; both are None without pairs. `same` are the pairs with equal orders of more items than
    chance makes equal.
    """

    shown: dict[tuple[str, str], int]
    pairs: int
    correlation: float | None
    by_chance: float | None
    spread: float | None
    same: tuple[tuple[str, str], ...]

    def as_dict(self) -> dict[str, Any]:
        shown = [
            {"annotator": annotator, "rubric": version, "items": count}
            for (annotator, version), count in self.shown.items()
        ]
        return vars(self) | {"shown": shown, "same": [list(pair) for pair in self.same]}

    @property
    def alike(self) -> bool:
        """Whether the orders are more alike than chance makes them, by four standard errors."""
        return bool(self.same) or (
            self.correlation is not None and self.correlation > self.by_chance + 4 * self.spread
        )


def shown_orders(database: Database) -> Shown:
    """Every annotator's items under a rubric version, in the order in which they first came."""
    rows = database.conn.execute(
        """SELECT annotator, rubric_version, item_id FROM displays
           GROUP BY annotator, rubric_version, item_id
           ORDER BY annotator, rubric_version, min(shown_at), min(rowid)"""
    )
    orders: Shown = defaultdict(list)
    for annotator, version, item_id in rows:
        orders[annotator, version].append(item_id)
    return dict(orders)


def compare_orders(orders: Shown) -> Orders:
    """Compare the orders of every two annotators under one rubric version."""
    found, chance, variance, same = [], [], [], []
    for (one, version), (other, version_too) in combinations(orders, 2):
        if version != version_too:
            continue
        rho, n = spearman(orders[one, version], orders[other, version])
        if n < FEWEST:
            continue
        found.append(abs(rho))
        mean, square = absolute_spearman(n)
        chance.append(mean)
        variance.append(square - mean**2)
        if rho > 1 - 1e-9 and n > ENUMERATED:
            same.append((one, other))
    shown = {of: len(items) for of, items in orders.items()}
    if not found:
        return Orders(shown, 0, None, None, None, ())
    spread = sqrt(sum(variance)) / len(found)
    return Orders(
        shown, len(found), float(np.mean(found)), float(np.mean(chance)), spread, tuple(same)
    )


def spearman(one: Sequence[str], other: Sequence[str]) -> tuple[float, int]:
    """Rank correlation of two orders on the items in both, and how many these are.

    >>> spearman("abcd", "dcbax")
    (-1.0, 4)
    """
    place = {item: n for n, item in enumerate(other)}
    places = np.array([place[item] for item in one if item in place], dtype=np.int64)
    n = len(places)
    if n < 2:
        return 0.0, n
    ranks = np.argsort(np.argsort(places))
    distance = float(((ranks - np.arange(n)) ** 2).sum())
    return 1 - 6 * distance / (n * (n**2 - 1)), n


@cache
def absolute_spearman(n: int) -> tuple[float, float]:
    """Mean of the absolute correlation, and of its square, of random orders of n items.

    Exact for few; else of the normal distribution with variance 1 / (n - 1) that it tends to.

    >>> [round(value, 3) for value in absolute_spearman(3)]
    [0.667, 0.5]
    """
    if n > ENUMERATED:
        return sqrt(2 / (pi * (n - 1))), 1 / (n - 1)
    orders = np.array(list(permutations(range(n))))
    distances = ((orders - np.arange(n)) ** 2).sum(axis=1)
    values = np.abs(1 - 6 * distances / (n * (n**2 - 1)))
    return float(values.mean()), float((values**2).mean())
