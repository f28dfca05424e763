"""How many labels a result takes: planning estimates, never results."""

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from annotator.measures.agreement import influence
from annotator.measures.interval import LEVEL
from annotator.measures.kappa import Kappa
from rubrics import InputError

TARGET_HALF_WIDTH = 0.10  # of the 95% interval of kappa

# What is planned for: a good judge of seven categories, which are unevenly common.
KAPPA = 0.726
MARGINS = (0.30, 0.20, 0.15, 0.12, 0.10, 0.08, 0.05)

# Below this many conversations the observed error is itself too uncertain to scale.
ENOUGH_TO_SCALE = 30

SIGNIFICANCE = 0.05  # two-sided, of a difference
POWER = 0.80

# Correlation, over items, of what two prompts on the same items add to kappa. Two judges of this
# kappa whose errors have a tetrachoric correlation of 0.6, as prompts of one model may, are right
# or wrong together with a correlation of 0.38.
SHARED = 0.38

# Items worth as much as one that is alone in its conversation, at about five turns per question.
DESIGN_EFFECT = 1.5

_NORMAL = NormalDist()


def labels_needed(kappa: Kappa, target: float = TARGET_HALF_WIDTH) -> int | None:
    """How many more labels bring the 95% half-width of kappa down to `target`; 0 if it is there.

    Widths shrink with √n, so the observed one is scaled, taking further items to share their
    conversations as the present ones do; with few conversations or no interval the planning value
    stands in. None when there are as many as planned and still too little to tell.
    """
    n, half_width = kappa.agreement.n, kappa.interval.half_width
    if half_width is not None and half_width <= target:
        return 0
    if half_width is not None and kappa.conversations >= ENOUGH_TO_SCALE:
        return math.ceil(n * (half_width / target) ** 2) - n
    planned = items_for_half_width(target, kappa=KAPPA, margins=MARGINS)
    return planned - n if n < planned else None


def items_for_half_width(half_width: float, *, kappa: float, margins: Sequence[float]) -> int:
    """Items for a 95% interval kappa ± half_width.

    >>> [items_for_half_width(h, kappa=KAPPA, margins=MARGINS) for h in (0.10, 0.07, 0.05, 0.03)]
    [101, 205, 402, 1115]
    """
    z = _NORMAL.inv_cdf((1 + LEVEL) / 2)
    return math.ceil((z * error_per_item(kappa=kappa, margins=margins) / half_width) ** 2)


def items_for_difference(
    difference: float,
    *,
    kappa: float,
    margins: Sequence[float],
    shared: float = SHARED,
    power: float = POWER,
) -> int:
    """Items, each judged under both prompts, to find a difference of their kappas (paired, 5%).

    The variance of a difference is 2τ²(1 - shared)/n: what moves both prompts' kappas alike drops
    out.
    """
    z = _NORMAL.inv_cdf(1 - SIGNIFICANCE / 2) + _NORMAL.inv_cdf(power)
    error = error_per_item(kappa=kappa, margins=margins) * math.sqrt(2 * (1 - shared))
    return math.ceil((z * error / difference) ** 2)


def items_for_test(
    *,
    kappa: float,
    null_kappa: float,
    margins: Sequence[float],
    significance: float = 0.05,
    power: float = POWER,
) -> float:
    """Items, not rounded up, for a one-sided test of `null_kappa` when `kappa` is true.

    Flack, Afifi, Lachenbruch and Schouten 1988 (Psychometrika 53:321): both raters have these
    margins, and under each hypothesis the standard error is the largest that they allow.

    >>> math.ceil(items_for_test(kappa=0.726, null_kappa=0.60, margins=MARGINS))
    138
    """
    if kappa == null_kappa:
        raise InputError(f"no number of items tells a kappa of {kappa} from itself")
    null = _NORMAL.inv_cdf(1 - significance) * largest_error(kappa=null_kappa, margins=margins)
    true = _NORMAL.inv_cdf(power) * largest_error(kappa=kappa, margins=margins)
    return ((null + true) / (kappa - null_kappa)) ** 2


def error_per_item(*, kappa: float, margins: Sequence[float]) -> float:
    """√n times the standard error of Fleiss, Cohen and Everitt (1969), disagreement being chance.

    Both raters have these `margins`, and where they do not agree for a reason their labels are
    independent.

    >>> round(error_per_item(kappa=KAPPA, margins=MARGINS), 4)
    0.5109
    """
    shares = _shares(margins)
    table = kappa * np.diag(shares) + (1 - kappa) * np.outer(shares, shares)
    return float(np.sqrt((table * influence(table) ** 2).sum()))


def largest_error(*, kappa: float, margins: Sequence[float]) -> float:
    """√n times the largest standard error of kappa that any table with these margins has.

    The variance is linear in the table, so this is a linear programme. Raises InputError when no
    table of these margins has this kappa.
    """
    from scipy.optimize import linprog

    shares = _shares(margins)
    k, expected = len(shares), float(shares @ shares)
    observed = kappa * (1 - expected) + expected
    spread = shares[:, np.newaxis] + shares[np.newaxis, :]
    squares = (np.eye(k) - (1 - kappa) * spread) ** 2
    row_sums, column_sums = np.kron(np.eye(k), np.ones(k)), np.kron(np.ones(k), np.eye(k))
    found = linprog(
        -squares.ravel(),
        A_eq=np.vstack([row_sums, column_sums, np.eye(k).ravel()]),
        b_eq=np.concatenate([shares, shares, [observed]]),
    )
    if found.status != 0:
        raise InputError(f"no table with these margins has a kappa of {kappa}; expected -1 to 1")
    variance = -found.fun - (kappa - expected * (1 - kappa)) ** 2
    return float(np.sqrt(max(0.0, variance))) / (1 - expected)


def _shares(margins: Sequence[float]) -> NDArray[np.float64]:
    shares = np.asarray(margins, dtype=np.float64)
    if len(shares) < 2 or (shares <= 0).any() or abs(shares.sum() - 1) > 1e-9:
        raise InputError(
            f"margins are {list(margins)}; expected the shares of two or more categories, each "
            "above 0 and 1 in all"
        )
    return shares
