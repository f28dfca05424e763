"""Right or wrong, item by item: does one of two judges get more right than the other?"""

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.measures.coefficients import observed
from annotator.measures.estimate import Estimate, Measure
from annotator.measures.mcnemar import McNemar, mcnemar
from annotator.measures.permutation import Permutation, swap_permutation
from annotator.measures.replicates import Sums
from annotator.measures.table_measures import TableOf
from annotator.measures.units import Units


@dataclass(frozen=True)
class RightAnswers:
    """McNemar's exact `test` of counts, and the `share` of right items, challenger less baseline.

    McNemar's takes items for independent. Where turns share conversations they are not, and
    `swapped` tests the same share by exchanging the two judges in whole conversations; None where
    no two share one. `share` is weighted by the sampling design, if there is one; counts are not.
    """

    test: McNemar
    share: Estimate
    swapped: Permutation | None

    def as_dict(self) -> dict[str, object]:
        return self.test.as_dict() | {
            "share_right": self.share.as_dict(),
            "clustered_permutation": asdict(self.swapped) if self.swapped else None,
        }


def share_difference(name: str, first: TableOf, second: TableOf) -> Measure:
    """Share of right items in the `second` table less that in the `first`."""

    def difference(sums: Sums) -> np.ndarray:
        return observed(second(sums)) - observed(first(sums))

    return Measure(name, difference, lambda _sums: "no items", limits=(-1.0, 1.0))


def right_answers(
    references: NDArray[np.int64],
    baseline: NDArray[np.int64],
    challenger: NDArray[np.int64],
    share: Estimate,
    units: Units,
    first: TableOf,
    second: TableOf,
    *,
    clustered: bool,
    seed: int,
) -> RightAnswers | None:
    """Of (n,) references, -1 for none, and what the two said in each of R runs, (n, R).

    None of several runs, where an item is neither right nor wrong, and without items.
    """
    kept = references >= 0
    if baseline.shape[1] > 1 or not kept.any():
        return None
    one = baseline[kept, 0] == references[kept]
    other = challenger[kept, 0] == references[kept]
    test = mcnemar(int((one & ~other).sum()), int((~one & other).sum()), int(kept.sum()))
    swapped = swap_permutation(units, first, second, observed, seed=seed) if clustered else None
    return RightAnswers(test, share, swapped)
