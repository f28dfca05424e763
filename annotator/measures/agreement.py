"""Agreement beyond chance: Cohen's kappa of a table with its standard error."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.measures.coefficients import kappa_chance, kappas, observed
from annotator.measures.confusion import tally

NO_ITEMS = "no items"
ONE_CLASS = "one class: both used the same single label, so agreement by chance is certain"

# Upper ends of the bands of Landis and Koch 1977 (Biometrics 33:159); below 0 is "poor".
BANDS = (
    (0.20, "slight"),
    (0.40, "fair"),
    (0.60, "moderate"),
    (0.80, "substantial"),
    (1.00, "almost perfect"),
)


@dataclass(frozen=True)
class Agreement:
    """Cohen's kappa of one table, with what it is made of; all shares are of n items.

    `observed` is the raw agreement po, `expected` the agreement pe that the margins give by
    chance. `kappa` is None where `undefined` says why. `standard_error` is the large-sample one
    of Fleiss, Cohen and Everitt, which takes items for independent (that of `Kappa` does not); it
    is None where kappa is, for a single item, and where items do not count 1 each. `notes` name
    what makes a defined kappa less telling than it looks.
    """

    n: int
    observed: float | None
    expected: float | None
    kappa: float | None
    standard_error: float | None
    undefined: str | None = None
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, object]:
        return asdict(self) | {"notes": list(self.notes)}


def agreement(
    pairs: Iterable[tuple[Hashable, Hashable]],
    categories: Sequence[str],
    judge_only: Sequence[str] = (),
) -> Agreement:
    """Agreement of two raters over any categories, from (reference, outcome) pairs.

    >>> pairs = [("a", "a"), ("a", "a"), ("b", "b"), ("b", "invalid")]
    >>> agreement(pairs, ["a", "b"], ["invalid"]).kappa
    0.6
    """
    return table_agreement(tally(pairs, categories, judge_only).table)


def table_agreement(table: NDArray, items: int | None = None) -> Agreement:
    """Agreement of a table of counts, shape (K, K + E): E judge-only columns never agree.

    `items` is how many items it holds where they do not count 1 each: once per run of the judge,
    or by weight. Cohen 1960 (Educ Psychol Meas 20:37); the standard error is that of Fleiss, Cohen
    and Everitt 1969 (Psychol Bull 72:323), by way of `influence`.
    """
    total = float(table.sum())
    n = int(total) if items is None else items
    if total == 0:
        return Agreement(0, None, None, None, None, NO_ITEMS)
    po, pe = float(observed(table)), float(kappa_chance(table)) / total**2
    kappa = float(kappas(table))
    if np.isnan(kappa):
        return Agreement(n, po, pe, None, None, ONE_CLASS)
    error = float(np.sqrt((table * influence(table) ** 2).sum())) / total
    plain = items is None and n > 1
    return Agreement(n, po, pe, kappa, error if plain else None, notes=_notes(table))


def influence(table: NDArray) -> NDArray[np.float64]:
    """How much one item in each cell moves kappa, shape (K, K + E); needs a defined kappa.

    ψᵢⱼ = {1(i=j) - po - (1-κ)(cᵢ + rⱼ - 2pe)} / (1-pe). The mean over items is 0, and Σψ²/n² is
    the variance of Fleiss, Cohen and Everitt: a sum of squares, so it cannot fall below 0. Summed
    within clusters, or differenced between two judges, it gives their variances as well.
    """
    rows, columns = table.shape
    n = table.sum()
    matches = np.eye(rows, columns)
    row = np.concatenate([table.sum(axis=1), np.zeros(columns - rows)]) / n  # rⱼ for column j
    column = table.sum(axis=0)[:rows] / n  # cᵢ for row i
    expected = float(row[:rows] @ column)
    observed = float((table * matches).sum()) / n
    disagreement = (1 - observed) / (1 - expected)  # 1 - κ
    spread = column[:, np.newaxis] + row[np.newaxis, :] - 2 * expected
    return (matches - observed - disagreement * spread) / (1 - expected)


def band(kappa: float | None) -> str | None:
    """The word of Landis and Koch 1977 for a kappa.

    >>> band(-0.01), band(0.2), band(0.726), band(None)
    ('poor', 'slight', 'substantial', None)
    """
    if kappa is None:
        return None
    if kappa < 0:
        return "poor"
    return next(word for upper, word in BANDS if kappa <= upper)


def _notes(table: NDArray) -> tuple[str, ...]:
    used_rows, used_columns = table.sum(axis=1) > 0, table.sum(axis=0) > 0
    notes = []
    if not (used_rows & used_columns[: len(used_rows)]).any():
        notes.append("no common label: the two sides never used the same one")
    elif used_rows.sum() == 1 or used_columns.sum() == 1:
        notes.append("one side used a single label: kappa is 0 whatever the raw agreement")
    return tuple(notes)
