"""Design weights: how many items each sampled one stands for, where chances were unequal."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from sqlite_utils import Database


@dataclass(frozen=True)
class DesignWeights:
    """Inclusion probability and stratum by item id; nothing where all had the same chance.

    Weights are 1 / probability (Horvitz and Thompson 1952), with mean 1 over the items asked for.
    """

    probabilities: dict[str, float] = field(default_factory=dict)
    strata: dict[str, str] = field(default_factory=dict)

    @property
    def equal(self) -> bool:
        return len(set(self.probabilities.values())) < 2

    def of(self, item_ids: Sequence[str]) -> NDArray[np.float64] | None:
        """A weight per item, None where all are equal."""
        if self.equal or not item_ids:
            return None
        weights = np.array([1 / self.probabilities[item_id] for item_id in item_ids])
        return weights / weights.mean()

    def strata_of(self, item_ids: Sequence[str]) -> NDArray[np.int64] | None:
        """A stratum's number per item, None where there is one only."""
        names = sorted(set(self.strata.values()))
        if len(names) < 2:
            return None
        numbers = {name: number for number, name in enumerate(names)}
        return np.array([numbers[self.strata[item_id]] for item_id in item_ids], dtype=np.int64)


def design_weights(pipeline_db: Database) -> DesignWeights:
    """Those of the study's sample."""
    rows = list(pipeline_db["sample_items"].rows)
    return DesignWeights(
        {row["item_id"]: row["inclusion_probability"] for row in rows},
        {row["item_id"]: row["stratum"] for row in rows},
    )
