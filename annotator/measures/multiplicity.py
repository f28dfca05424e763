"""Several p values at once: Holm where one error counts, Benjamini-Hochberg where a share does."""

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p values that hold the chance of any false finding (Holm 1979, Scand J Stat 6:65).

    >>> [round(p, 4) for p in holm([0.01, 0.04, 0.03, 0.005])]
    [0.03, 0.06, 0.06, 0.02]
    """
    m, adjusted, largest = len(p_values), list(p_values), 0.0
    for rank, k in enumerate(sorted(range(m), key=p_values.__getitem__)):
        largest = max(largest, (m - rank) * p_values[k])
        adjusted[k] = min(1.0, largest)
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjusted p values that hold the share of false findings (JRSS B 57:289, 1995).

    >>> [round(p, 4) for p in benjamini_hochberg([0.01, 0.04, 0.03, 0.005])]
    [0.02, 0.04, 0.04, 0.02]
    """
    m, adjusted, smallest = len(p_values), list(p_values), 1.0
    ranked = sorted(range(m), key=p_values.__getitem__)
    for rank in range(m - 1, -1, -1):
        smallest = min(smallest, m / (rank + 1) * p_values[ranked[rank]])
        adjusted[ranked[rank]] = smallest
    return adjusted
