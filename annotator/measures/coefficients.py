"""Coefficients of agreement beyond chance, of tables of counts or of sums of weights.

All take tables of shape (..., K, K + E), E columns being what only the judge can say, to (...),
and give NaN where undefined. Such a column is a class that people never use: it only disagrees, is
part of the pooled margins, and does not count among the K categories of the rubric.

Each coefficient is (po - pe) / (1 - pe) with the raw agreement po; they differ in pe, what they
take for chance. It is kept as pe·n², which whole counts make exact, so that 0 and 1 come out as
such and the undefined case is recognised.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Tables = NDArray[np.float64]
Shares = NDArray[np.float64]
ROUNDING = 1e-12  # 1 - pe below this is 0: sums of weights are not exact


def observed(tables: Tables) -> Shares:
    """po: the share on which both say the same."""
    return share(_agreeing(tables), total(tables))


def kappa_chance(tables: Tables) -> Shares:
    """Σrᵢcᵢ, of Cohen 1960 (Educ Psychol Meas 20:37): each rater has margins of their own."""
    rows, columns = _margins(tables)
    return (rows * columns[..., : rows.shape[-1]]).sum(axis=-1)


def pi_chance(tables: Tables) -> Shares:
    """Σ((rᵢ + cᵢ) / 2)², of Scott 1955 (Public Opin Q 19:321): both have the mean margins."""
    rows, columns = _margins(tables)
    both = columns.copy()
    both[..., : rows.shape[-1]] += rows
    return (both**2).sum(axis=-1) / 4


def ac1_chance(tables: Tables) -> Shares:
    """Σπ(1 - π) / (K - 1), of Gwet 2008 (Br J Math Stat Psychol 61:29); π as in Scott's pi.

    At most 1/K, which stands for all ratings being at random: a judge-only class in Σ can pass it.
    """
    k, n = tables.shape[-2], total(tables)
    return np.minimum(share(n * n - pi_chance(tables), np.float64(k - 1)), uniform_chance(tables))


def uniform_chance(tables: Tables) -> Shares:
    """1/K, of Brennan and Prediger 1981 (Educ Psychol Meas 41:687), K being all categories."""
    n = total(tables)
    return n * n / tables.shape[-2]


def kappas(tables: Tables) -> Shares:
    """Cohen's kappa of every table; whole counts below n = 9·10⁷ give it exactly."""
    return beyond_chance(tables, kappa_chance)


def beyond_chance(tables: Tables, chance: Callable[[Tables], Shares]) -> Shares:
    return beyond(_agreeing(tables), chance(tables), total(tables))


def beyond(agreeing: Shares, chance: Shares, n: Shares) -> Shares:
    """(n·agreeing - chance) / (n² - chance); NaN where agreement by chance is certain."""
    room = n * n - chance
    return share(n * agreeing - chance, np.where(room > ROUNDING * n * n, room, 0.0))


def largest_kappa(tables: Tables) -> Shares:
    """The kappa that these margins allow at most: (Σmin(rᵢ, cᵢ)/n - pe) / (1 - pe)."""
    rows, columns = _margins(tables)
    common = np.minimum(rows, columns[..., : rows.shape[-1]]).sum(axis=-1)
    return beyond(common, kappa_chance(tables), total(tables))


def one_against_rest(tables: Tables, k: int) -> Tables:
    """The 2 × 2 tables of category k and all else; what only the judge says is part of the rest."""
    both, row, column = tables[..., k, k], tables[..., k, :].sum(-1), tables[..., :, k].sum(-1)
    neither = total(tables) - row - column + both
    cells = np.stack([both, row - both, column - both, neither], axis=-1)
    return cells.reshape(*both.shape, 2, 2)


def share(part: Shares, whole: Shares) -> Shares:
    """part / whole, NaN where the whole is 0."""
    part, whole = np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    undefined = np.full(np.broadcast(part, whole).shape, np.nan)
    return np.divide(part, whole, out=undefined, where=whole != 0)


def total(tables: Tables) -> Shares:
    return tables.sum(axis=(-2, -1))


def _agreeing(tables: Tables) -> Shares:
    return np.trace(tables, axis1=-2, axis2=-1)


def _margins(tables: Tables) -> tuple[Tables, Tables]:
    return tables.sum(axis=-1), tables.sum(axis=-2)
