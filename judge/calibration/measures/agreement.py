"""Agreement beyond chance: Cohen's kappa with its standard error, and per-label scores."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from judge.calibration.measures.confusion import Confusion, tally

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
    of Fleiss, Cohen and Everitt, which takes items for independent (`clustered_error` does not);
    it is None where kappa is, for a single item, and where each item counts once per run of the
    judge. `notes` name what makes a defined kappa less telling than it looks.
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


def table_agreement(table: NDArray[np.int64]) -> Agreement:
    """Agreement of a table of counts, shape (K, K + E): E judge-only columns never agree.

    Cohen 1960 (Educ Psychol Meas 20:37); the standard error is that of Fleiss, Cohen and Everitt
    1969 (Psychol Bull 72:323), by way of `influence`.
    """
    n = int(table.sum())
    if n == 0:
        return Agreement(0, None, None, None, None, NO_ITEMS)
    agreeing, chance = _agreeing(table), _chance(table)
    observed, expected = int(agreeing) / n, int(chance) / n**2
    kappa = float(kappas(table))
    if np.isnan(kappa):
        return Agreement(n, observed, expected, None, None, ONE_CLASS)
    error = float(np.sqrt((table * influence(table) ** 2).sum())) / n
    return Agreement(n, observed, expected, kappa, error if n > 1 else None, notes=_notes(table))


def kappas(tables: NDArray[np.int64]) -> NDArray[np.float64]:
    """Cohen's kappa of every table, shape (..., K, K + E) to (...); NaN marks the undefined.

    In whole numbers, (n·Σnᵢᵢ - Σrᵢcᵢ) / (n² - Σrᵢcᵢ), so that 0 and 1 come out exactly and the
    undefined case is recognised exactly; exact up to n = 3·10⁹.
    """
    n = tables.sum(axis=(-2, -1), dtype=np.int64)
    chance = _chance(tables)
    denominator = n * n - chance
    numerator = n * _agreeing(tables) - chance
    undefined = np.full(np.shape(denominator), np.nan)
    return np.divide(numerator, denominator, out=undefined, where=denominator != 0)


def influence(table: NDArray[np.int64]) -> NDArray[np.float64]:
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


def clustered_error(conversations: NDArray[np.int64]) -> float | None:
    """Standard error of kappa where items share conversations; tables of shape (Q, K, K + E).

    SE² = Q/(Q-1) · Σ_q (Σψ)² / n², ψ summed within each conversation: apart from Q/(Q-1) that of
    Fleiss, Cohen and Everitt where no two items share one. None where kappa is undefined or the
    items are all of one conversation.
    """
    table, q = conversations.sum(axis=0), count_conversations(conversations)
    if q < 2 or np.isnan(kappas(table)):
        return None
    sums = (conversations * influence(table)).sum(axis=(1, 2))
    return float(np.sqrt(q / (q - 1) * (sums**2).sum()) / table.sum())


def count_conversations(conversations: NDArray[np.int64]) -> int:
    """How many of the tables hold an item; a view such as `parseable` can empty some."""
    return int(conversations.any(axis=(1, 2)).sum())


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


@dataclass(frozen=True)
class LabelScores:
    """How well the judge finds one label, people's labels being the reference.

    `support` counts reference labels, `judged` the judge's, `hits` both. A share whose whole is 0
    is None, and `undefined` says why; it is never 0.
    """

    category: str
    support: int
    judged: int
    hits: int

    @property
    def precision(self) -> float | None:
        return self.hits / self.judged if self.judged else None

    @property
    def recall(self) -> float | None:
        return self.hits / self.support if self.support else None

    @property
    def f1(self) -> float | None:
        """2·hits / (support + judged), also called positive specific agreement."""
        both = self.support + self.judged
        return 2 * self.hits / both if both else None

    @property
    def undefined(self) -> dict[str, str]:
        reasons = {}
        if not self.judged:
            reasons["precision"] = "the judge never gave this label"
        if not self.support:
            reasons["recall"] = "no item has this reference label"
        if not self.judged and not self.support:
            reasons["f1"] = "nobody used this label"
        return reasons

    def as_dict(self) -> dict[str, object]:
        return asdict(self) | {
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "undefined": self.undefined,
        }


def label_scores(confusion: Confusion) -> tuple[LabelScores, ...]:
    """Scores of every category, in the rubric's order."""
    table = confusion.table
    supports, judged = table.sum(axis=1).tolist(), table.sum(axis=0).tolist()
    return tuple(
        LabelScores(category, supports[k], judged[k], int(table[k, k]))
        for k, category in enumerate(confusion.categories)
    )


def _agreeing(tables: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.trace(tables, axis1=-2, axis2=-1)


def _chance(tables: NDArray[np.int64]) -> NDArray[np.int64]:
    """Σ rᵢcᵢ, which is pe·n²; judge-only columns have no row and add nothing."""
    k = tables.shape[-2]
    return (tables.sum(axis=-1) * tables[..., :k].sum(axis=-2)).sum(axis=-1)


def _notes(table: NDArray[np.int64]) -> tuple[str, ...]:
    used_rows, used_columns = table.sum(axis=1) > 0, table.sum(axis=0) > 0
    notes = []
    if not (used_rows & used_columns[: len(used_rows)]).any():
        notes.append("no common label: the two sides never used the same one")
    elif used_rows.sum() == 1 or used_columns.sum() == 1:
        notes.append("one side used a single label: kappa is 0 whatever the raw agreement")
    return tuple(notes)
