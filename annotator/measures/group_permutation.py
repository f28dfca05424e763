"""Group permutation: could each conversation as well have been in the other of two samples?

With one turn per conversation it goes by the hypergeometric chances of Fisher's exact test.
"""

import numpy as np
from numpy.typing import NDArray

PERMUTATIONS = 20_000
ROUNDING = 1e-9  # differences this close are one difference


def group_permutation(
    first: NDArray[np.float64], second: NDArray[np.float64], *, seed: int
) -> float:
    """P(|mean of the second - mean of the first| ≥ the observed) of samples (n,) and (m,).

    p = (hits + 1) / (permutations + 1), so that it is never 0 (Phipson and Smyth 2010). It asks
    whether conversations are alike in both samples; raises ValueError for an empty one.

    >>> group_permutation(np.zeros(3), np.zeros(4), seed=0)
    1.0
    """
    if not len(first) or not len(second):
        raise ValueError("each sample needs a conversation")
    n, m = len(first), len(second)
    values, times = np.unique(np.concatenate([first, second]).round(12), return_counts=True)
    generator = np.random.default_rng([seed, 5])
    # Only how often each value is in the second sample matters, not which conversation it is of.
    drawn = generator.multivariate_hypergeometric(times, m, PERMUTATIONS, method="marginals")
    of_second = drawn @ values
    away = of_second / m - (times @ values - of_second) / n
    observed = abs(float(second.mean() - first.mean()))
    hits = int((np.abs(away) >= observed - ROUNDING).sum())
    return (hits + 1) / (PERMUTATIONS + 1)
