"""Intervals by resampling conversations: every bootstrap of the calibration draws here."""

from dataclasses import asdict, dataclass, replace
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from judge.calibration.measures.agreement import (
    Agreement,
    band,
    clustered_error,
    count_conversations,
    kappas,
    table_agreement,
)

RESAMPLES = 10_000
LEVEL = 0.95  # two-sided coverage of every interval
PERCENTILE = "bootstrap percentile, conversations resampled"
FEW = 30  # conversations, below which a bootstrap interval tends to be too narrow
FEW_NOTE = f"fewer than {FEW} conversations, and an interval then tends to be too narrow"


@dataclass(frozen=True)
class Interval:
    """A two-sided 95% interval. `low` and `high` are None where `method` says why there is none.

    `undefined` counts resamples in which the statistic had no value; they are no part of it.
    """

    low: float | None
    high: float | None
    method: str
    undefined: int = 0

    @property
    def half_width(self) -> float | None:
        if self.low is None or self.high is None:
            return None
        return (self.high - self.low) / 2

    def notes(self, conversations: int) -> tuple[str, ...]:
        """What makes it less telling than it looks, coming from so many conversations."""
        return (FEW_NOTE,) if self.low is not None and conversations < FEW else ()


@dataclass(frozen=True)
class Kappa:
    """Kappa with its interval, and the bands of the estimate and of the interval's low end.

    The items come from `conversations` different ones; `standard_error` and interval allow for
    items of one conversation being alike, which `agreement.standard_error` does not.
    """

    agreement: Agreement
    conversations: int
    standard_error: float | None
    interval: Interval

    @property
    def value(self) -> float | None:
        return self.agreement.kappa

    @property
    def items(self) -> int:
        return self.agreement.n

    @property
    def undefined(self) -> str | None:
        return self.agreement.undefined

    @property
    def band(self) -> str | None:
        return band(self.value)

    @property
    def lower_band(self) -> str | None:
        return band(self.interval.low)

    @property
    def notes(self) -> tuple[str, ...]:
        return self.agreement.notes + self.interval.notes(self.conversations)

    def as_dict(self) -> dict[str, object]:
        sizes = {"n": self.agreement.n, "conversations": self.conversations}
        return (sizes | self.agreement.as_dict()) | {
            "standard_error": self.standard_error,
            "notes": list(self.notes),
            "interval": asdict(self.interval),
            "band": self.band,
            "lower_band": self.lower_band,
        }


def resample(conversations: NDArray, *, seed: int, resamples: int = RESAMPLES) -> NDArray:
    """Bootstrap resamples of the sum of Q conversations: shape (Q, ...) to (resamples, ...).

    Drawing Q conversations with replacement is one multinomial draw over the different ones among
    them: the same distribution, without depending on their order. Where every conversation has a
    single item these are the occupied cells of the table. Everything computed from one set of
    draws is paired.
    """
    q, *shape = conversations.shape
    if q == 0:
        return np.zeros((resamples, *shape), dtype=conversations.dtype)
    different, times = np.unique(conversations.reshape(q, -1), axis=0, return_counts=True)
    draws = np.random.default_rng(seed).multinomial(q, times / q, size=resamples)
    # In floating point, which is many times as fast; counts come out exact below 2⁵³.
    sums = draws.astype(np.float64) @ different.astype(np.float64)
    return sums.astype(conversations.dtype).reshape(resamples, *shape)


def kappa_with_interval(
    conversations: NDArray[np.int64], draws: NDArray[np.int64], items: int | None = None
) -> Kappa:
    """Kappa of the tables of all conversations, with the interval that their resamples give.

    `items` is how many items the tables hold where each counts several times, once per run of the
    judge. Kappa and the errors of conversations know no factor common to all counts, so counts
    stay whole; the standard error that takes every count for an item of its own is left out.

    Where kappa is undefined, rests on one conversation, or comes out alike in every resample,
    there is no interval; but at perfect agreement, where resampling can only repeat it, the
    Wilson bound of the raw agreement stands in, as if each conversation were a single item. That
    is conservative: items of one conversation tell at least as much as one of them alone.
    """
    agreement = table_agreement(conversations.sum(axis=0))
    if items is not None and items != agreement.n:
        agreement = replace(agreement, n=items, standard_error=None)
    q = count_conversations(conversations)
    interval = _interval(agreement, q, draws)
    return Kappa(agreement, q, clustered_error(conversations), interval)


def percentile_interval(estimate: float, replicates: NDArray[np.float64]) -> Interval:
    """The percentile interval of resampled values; NaN among them, the undefined, is counted."""
    defined = replicates[~np.isnan(replicates)]
    undefined = len(replicates) - len(defined)
    if not len(defined) or defined.min() == defined.max():
        return Interval(None, None, "none: every resample gives the same value", undefined)
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(defined, [tail, 1 - tail]).tolist()
    # In small skewed tables a percentile can pass the estimate; an interval must contain it.
    return Interval(min(low, estimate), max(high, estimate), PERCENTILE, undefined)


def _interval(agreement: Agreement, q: int, draws: NDArray[np.int64]) -> Interval:
    if agreement.kappa is None:
        return Interval(None, None, f"none: {agreement.undefined}")
    if q == 1:
        return Interval(None, None, "none: a single conversation")
    if agreement.observed == 1:
        return _wilson_through_kappa(agreement, q)
    return percentile_interval(agreement.kappa, kappas(draws))


def _wilson_through_kappa(agreement: Agreement, q: int) -> Interval:
    """From Wilson's lower bound of po = q/q, which is q / (q + z²), at the observed pe."""
    z = NormalDist().inv_cdf((1 + LEVEL) / 2)
    low = (q / (q + z**2) - agreement.expected) / (1 - agreement.expected)
    method = "Wilson bound of the raw agreement, each conversation as one item: no item disagrees"
    return Interval(low, 1.0, method)
