"""A double sample: many turns that only the judge labelled, and some items that people did too.

(Tenenbein 1970, JASA 65:1350.) Items and turns of one conversation are alike, so every variance
sums the influences of a conversation before it squares them, and an item that people labelled is
summed with the turns of its conversation.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from annotator.measures.interval import (
    FEW,
    NORMAL_REACH,
    ROUNDING,
    Interval,
    no_interval,
    student_reach,
)

SCORE = "Wilson's score interval at the effective number of items"
DELTA = "delta method"


@dataclass(frozen=True)
class Labelled:
    """n items that people and judge labelled.

    `people` (n,) are label numbers from 0; `judged` (n, J) the share of the verdicts that count
    with each of J outcomes, 1 in all; `weights` (n,) how many turns an item stands for;
    `conversations` (n,) a number of the one it belongs to, the same as among the `Judged`.
    """

    people: NDArray[np.int64]
    judged: NDArray[np.float64]
    weights: NDArray[np.float64]
    conversations: NDArray[np.int64]

    @property
    def n(self) -> int:
        return len(self.people)

    @property
    def counts(self) -> NDArray[np.float64]:
        """(J,) items by the judge's outcome, unweighted."""
        return self.judged.sum(axis=0)

    def regrouped(
        self, columns: NDArray[np.int64], rows: NDArray[np.int64] | None = None
    ) -> "Labelled":
        """With outcome j counted as `columns[j]`, and people's label k as `rows[k]`."""
        people = self.people if rows is None else rows[self.people]
        return replace(self, people=people, judged=self.judged @ _membership(columns))


@dataclass(frozen=True)
class Judged:
    """Turns by conversation: `counts` (Q, J) of the judge's outcomes, `conversations` (Q,).

    A turn that was judged several times counts 1 in all.
    """

    counts: NDArray[np.float64]
    conversations: NDArray[np.int64]

    @property
    def turns(self) -> float:
        return float(self.counts.sum())

    @property
    def shares(self) -> NDArray[np.float64]:
        """(J,) share of the turns with each outcome."""
        return self.counts.sum(axis=0) / self.counts.sum()

    def share_influence(self) -> NDArray[np.float64]:
        """(Q, J) what each conversation moves the shares by; sums to 0."""
        return (self.counts - self.counts.sum(axis=1)[:, np.newaxis] * self.shares) / self.turns

    def regrouped(self, columns: NDArray[np.int64]) -> "Judged":
        return replace(self, counts=self.counts @ _membership(columns))


@dataclass(frozen=True)
class Corrected:
    """A rate corrected for the judge's errors, or the reason why there is none.

    `value` and `interval` are as estimated, be they outside 0 to 1. `sampling_error` and
    `judge_error` are the standard errors that remain if the judge's error rates, or the judge's
    labels of the turns, were known exactly. `notes` say what was done beyond the formula.
    """

    value: float | None
    interval: Interval
    standard_error: float | None = None
    sampling_error: float | None = None
    judge_error: float | None = None
    undefined: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def clipped(self) -> float | None:
        """The value, or the nearest that a rate can have."""
        return None if self.value is None else min(1.0, max(0.0, self.value))

    @property
    def clipped_interval(self) -> Interval:
        """The interval moved along with a value that was beyond 0 or 1, and what of it can be.

        Cut off instead, it would be the narrower the less the judge's errors fit these turns.
        """
        low, high = self.interval.low, self.interval.high
        if self.value is None or self.clipped is None or low is None or high is None:
            return self.interval
        moved = self.clipped - self.value
        # Of labels, whose shares are projected, it may miss the value: it reaches to it.
        low, high = min(low + moved, self.clipped), max(high + moved, self.clipped)
        return replace(self.interval, low=max(0.0, low), high=min(1.0, high))

    def as_dict(self) -> dict[str, object]:
        return {
            "value": self.clipped,
            "interval": self.clipped_interval.as_dict(),
            "unclipped": self.value,
            "unclipped_interval": self.interval.as_dict(),
            "standard_error": self.standard_error,
            "sampling_error": self.sampling_error,
            "judge_error": self.judge_error,
            "undefined": self.undefined,
            "notes": list(self.notes),
        }


def uncorrected(reason: str) -> Corrected:
    return Corrected(None, no_interval(reason), undefined=reason)


def covariance(
    parts: Sequence[tuple[NDArray[np.float64], NDArray[np.int64]]], *, shared: bool
) -> NDArray[np.float64]:
    """(T, T) of T estimates from pairs of influences (n, T) and conversations (n,).

    Influences are summed per conversation, over all parts. `shared` says whether several items
    share one: then times Q/(Q - 1), while independent items have the published formulas' variance.
    """
    conversations = np.concatenate([numbers for _, numbers in parts])
    influence = np.concatenate([moves for moves, _ in parts])
    _, position = np.unique(conversations, return_inverse=True)
    q = int(position.max(initial=-1)) + 1
    if q == len(conversations):
        sums = influence
    else:
        sums = np.stack([np.bincount(position, column, q) for column in influence.T], axis=1)
    return sums.T @ sums * (q / (q - 1) if shared and q > 1 else 1.0)


def variance(
    parts: Sequence[tuple[NDArray[np.float64], NDArray[np.int64]]], *, shared: bool
) -> NDArray[np.float64]:
    """(T,), the diagonal of `covariance`."""
    return np.diag(covariance(parts, shared=shared))


def shares_conversations(labelled: Labelled, judged: Judged) -> bool:
    """Whether two items or two turns belong to one conversation."""
    several = judged.counts.sum(axis=1).max(initial=0.0) > 1 + 1e-9
    return bool(several) or len(np.unique(labelled.conversations)) < labelled.n


def effective_number(weights: NDArray[np.float64], conversations: NDArray[np.int64]) -> float:
    """How many conversations of equal weight would tell as much (Kish 1965): (Σ w)² / Σ w²."""
    _, position = np.unique(conversations, return_inverse=True)
    sums = np.bincount(position, weights)
    squares = float(sums @ sums)
    return float(sums.sum()) ** 2 / squares if squares else 0.0


def unseen_variance(n: float) -> float:
    """Variance of a share that is 0 or 1 in n observations, by Agresti and Coull's 1998 share.

    The binomial variance would be 0, as if what was never seen could not be.
    """
    share = NORMAL_REACH * NORMAL_REACH / 2 / (n + NORMAL_REACH * NORMAL_REACH)
    return share * (1 - share) / (n + NORMAL_REACH * NORMAL_REACH)


def score_interval(share: float, spread: float, units: int) -> Interval:
    """Wilson's interval of a share with variance `spread` from so many conversations.

    n is the number of independent items with that variance, share · (1 - share) / spread, as for
    complex samples (Korn and Graubard 1998, Survey Methodology 24:193). At 0 and 1 the reach is
    √2 · z standard errors: with `unseen_variance` about that of Wilson.
    """
    if units < 2:
        return no_interval("a single conversation")
    if spread <= 0:
        return no_interval("standard error 0")
    z, name = quantile(units)
    method = f"{SCORE}{name}"
    if min(share, 1 - share) < ROUNDING:
        reach = z * (2 * spread) ** 0.5
        low, high = (0.0, min(1.0, reach)) if share < 0.5 else (max(0.0, 1 - reach), 1.0)
        return Interval(low, high, method)
    n = share * (1 - share) / spread
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * (spread + z * z / (4 * n * n)) ** 0.5
    return Interval(max(0.0, centre - reach), min(1.0, centre + reach), method)


def delta_interval(value: float, error: float, units: int) -> Interval:
    """value ± z · SE, from fewer than 30 conversations ± t · SE."""
    if units < 2:
        return no_interval("a single conversation")
    z, name = quantile(units)
    return Interval(value - z * error, value + z * error, f"{DELTA}{name}")


def quantile(units: int) -> tuple[float, str]:
    """How many standard errors an interval reaches, and the words for it where few units say so."""
    if units >= FEW:
        return NORMAL_REACH, ""
    return student_reach(units - 1), f", t({units - 1})"


def conversations_of(labelled: Labelled, judged: Judged) -> int:
    """What an interval's degrees of freedom come from: the smaller number of conversations."""
    return min(len(np.unique(labelled.conversations)), len(judged.conversations))


def _membership(columns: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.eye(int(columns.max()) + 1)[columns]
