"""Edge bounds: Wilson's interval where a table is at its end, which resampling cannot leave."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.measures.coefficients import Shares, Tables, beyond, total
from annotator.measures.interval import WILSON, Interval, wilson
from annotator.measures.replicates import Sums
from annotator.measures.units import patterns

TableOf = Callable[[Sums], NDArray[np.float64]]  # sums (..., F) to a table (..., K, K + E)
Part = Callable[[Tables], Shares]  # a part of a table: tables (..., K, K + E) to sums (...)


@dataclass(frozen=True)
class Counted:
    """A table in sums of features, and how many items a part of it stands for.

    Every item is in `table` once per run, with its weight; in `squares` with its weight's square,
    None where items count 1 each.
    """

    table: TableOf
    runs: int = 1
    squares: TableOf | None = None

    def items(self, sums: Sums, part: Part) -> float:
        """How many items a part has: of weighted ones (Σw)² / Σw², Kish's 1965 effective number.

        That is never more than there are, and as many where weights are equal.
        """
        weight = float(part(self.table(sums)))
        if self.squares is None:
            return weight / self.runs
        squares = float(part(self.squares(sums)))
        return weight**2 / squares / self.runs if squares else 0.0

    def seen(self, view: Callable[[Tables], Tables]) -> "Counted":
        """The same items in a view of the table that adds up its cells."""
        squares = self.squares
        return Counted(
            lambda sums: view(self.table(sums)),
            self.runs,
            None if squares is None else lambda sums: view(squares(sums)),
        )


def with_squares(
    features: NDArray[np.float64], of_item: NDArray[np.int64], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Features (P, …, F) of items with weights (n,) as (P', …, 2F), and each item's row of them.

    The first half is the features times the weight, the second times its square: what `squares` of
    `Counted` picks tables from. They go into `gather` without weights.
    """
    different, of_weight = np.unique(weights, return_inverse=True)
    found = patterns(np.column_stack([of_item, of_weight]))
    rows = features[found.rows[:, 0]]
    own = different[found.rows[:, 1]].reshape(-1, *(1,) * (rows.ndim - 1))
    return np.concatenate([rows * own, rows * own**2], axis=-1), found.of_item


def share_bound(
    counted: Counted,
    part: Part,
    whole: Part,
    sums: Sums,
    units: int,
    through: Callable[[float], float] = lambda end: end,
) -> Interval | None:
    """Wilson's interval of a share part / whole that is 0 or 1, else None; `through` maps its ends.

    n is the number of items that the whole has, or of units if there are fewer: items of one unit
    are taken for one item, which is conservative, since they tell at least as much.
    """
    table = counted.table(sums)
    hits, of = float(part(table)), float(whole(table))
    if not of or 0 < hits < of:
        return None
    n = min(counted.items(sums, whole), units)
    low, high = wilson(n if hits else 0.0, n)
    return Interval(through(low), through(high), WILSON)


def perfect_bound(
    counted: Counted, chance: Callable[[Tables], Shares], sums: Sums, units: int
) -> Interval | None:
    """At perfect agreement Wilson's bound of po, through the coefficient at its observed pe."""
    table = counted.table(sums)
    n = total(table)
    if not n or disagreeing(table):
        return None
    of = min(counted.items(sums, total), units)
    low = beyond(n * wilson(of, of)[0], chance(table), n)
    return Interval(float(low), 1.0, WILSON)


def agreement_bound(counted: Counted, sums: Sums, units: int) -> Interval | None:
    """Wilson's interval of a raw agreement of none or all."""
    perfect = not disagreeing(counted.table(sums))
    return share_bound(counted, total if perfect else agreeing, total, sums, units)


def agreeing(tables: Tables) -> Shares:
    return np.trace(tables, axis1=-2, axis2=-1)


def disagreeing(table: NDArray[np.float64]) -> bool:
    """Whether anything is off the diagonal; sums of weights may differ from 1 by rounding."""
    return bool((table * (1 - np.eye(*table.shape))).any())
