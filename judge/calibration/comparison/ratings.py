"""What is compared: one row per item, with its reference and what each contestant said of it."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.measures.kappa import cluster_numbers
from annotator.measures.layout import Layout, pair_tables
from annotator.measures.units import Units, gather, patterns

NONE = -1  # no rating: the item is no part of this table


@dataclass(frozen=True)
class Ratings:
    """Whole numbers for n items and J contestants, each with R verdicts that count.

    `labels` (n,) are reference labels, -1 where the label is no part of the comparison, and
    `label_outcomes` (n, J, R) what was said, K for what is no common label; `sigmas` and
    `sigma_outcomes` the same for sigma (0 for a genuine follow-up, 1 for none, 2 unreadable).
    """

    labels: NDArray[np.int64]
    label_outcomes: NDArray[np.int64]
    sigmas: NDArray[np.int64]
    sigma_outcomes: NDArray[np.int64]
    categories: int
    conversations: Sequence[Hashable]
    weights: NDArray[np.float64] | None = None
    strata: NDArray[np.int64] | None = None

    @property
    def n(self) -> int:
        return len(self.labels)

    @property
    def contestants(self) -> int:
        return self.label_outcomes.shape[1]

    @property
    def runs(self) -> int:
        return self.label_outcomes.shape[2]


@dataclass(frozen=True)
class Blocks:
    """Picks a contestant's table of labels (K, K + 1), or of sigma (2, 3), out of sums."""

    layout: Layout

    def labels(self, contestant: int):
        return lambda sums: self.layout.pick(sums, f"labels {contestant}")

    def sigma(self, contestant: int):
        return lambda sums: self.layout.pick(sums, f"sigma {contestant}")


def rating_units(ratings: Ratings) -> tuple[Units, Blocks]:
    """Units with two tables per contestant and run, and what picks them out of sums."""
    n, contestants, runs = ratings.label_outcomes.shape
    columns = np.column_stack(
        [
            ratings.labels,
            ratings.sigmas,
            ratings.label_outcomes.reshape(n, -1),
            ratings.sigma_outcomes.reshape(n, -1),
        ]
    ).astype(np.int64)
    found = patterns(columns)
    label, sigma = found.rows[:, 0], found.rows[:, 1]
    said = found.rows[:, 2:].reshape(len(found.rows), 2, contestants, runs)
    k = ratings.categories
    layout = Layout(
        {f"labels {j}": (k, k + 1) for j in range(contestants)}
        | {f"sigma {j}": (2, 3) for j in range(contestants)}
    )
    by_run = [
        layout.pack(
            {f"labels {j}": pair_tables(label, said[:, 0, j, run], k, k + 1)
             for j in range(contestants)}
            | {f"sigma {j}": pair_tables(sigma, said[:, 1, j, run], 2, 3)
               for j in range(contestants)}
        )
        for run in range(runs)
    ]  # fmt: skip
    units = gather(
        np.stack(by_run, axis=1),
        found.of_item,
        clusters=cluster_numbers(ratings.conversations),
        weights=ratings.weights,
        strata=ratings.strata,
    )
    return units, Blocks(layout)
