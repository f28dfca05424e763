"""Dawid-Skene: true labels and every annotator's error rates, estimated from each other.

Dawid and Skene 1979, Maximum likelihood estimation of observer error-rates using the EM algorithm
(Appl Stat 28:20). An annotator's label depends on the true one alone, so annotators who err alike
are taken for right; of one or two annotators the labels cannot tell whose errors are whose.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from annotator.measures.units import patterns

SMOOTHING = 0.01  # of a label, added to each cell: a label not seen yet is rare, not impossible
ROUNDS = 1_000
TOLERANCE = 1e-9  # largest change of a posterior probability in the last round
TIE = 1e-6  # two posterior probabilities nearer than this are the same


@dataclass(frozen=True)
class DawidSkene:
    """The estimate: `posterior` (n, K) of the true label, class `prior` (K,), and `confusion`.

    `confusion` (A, K, K) has annotators' chances of each label (columns) by the true one (rows).
    """

    posterior: NDArray[np.float64]
    prior: NDArray[np.float64]
    confusion: NDArray[np.float64]
    rounds: int
    converged: bool

    @property
    def labels(self) -> NDArray[np.int64]:
        """The most probable label of each item (n,); -1 where two are equally probable."""
        first = self.posterior.argmax(axis=1)
        top = np.sort(self.posterior, axis=1)[:, ::-1]
        tied = top[:, 1] > top[:, 0] - TIE if top.shape[1] > 1 else np.zeros(len(first), dtype=bool)
        return np.where(tied, -1, first)


def dawid_skene(
    ratings: NDArray[np.int64],
    categories: int,
    *,
    annotators: Sequence[int] | None = None,
    smoothing: float = SMOOTHING,
) -> DawidSkene:
    """EM from the shares of votes; `ratings` (n, C) holds label numbers below K, -1 for none.

    `annotators` (C,) numbers from 0 whose ratings a column holds, by default one person's each:
    somebody may have rated items several times. Every item needs a label. `smoothing` 0 gives the
    maximum likelihood of the paper. The result depends neither on the order of the items nor on
    chance.
    """
    whose = np.arange(ratings.shape[1]) if annotators is None else np.array(annotators)
    found = patterns(ratings)
    times = np.bincount(found.of_item, minlength=len(found.rows)).astype(np.float64)
    people = int(whose.max(initial=-1)) + 1
    said = _counts(found.rows, whose, (people, categories))
    votes = np.asarray(said.sum(axis=1))
    if not votes.all():
        raise ValueError("an item without a label")
    posterior = said @ np.tile(np.eye(categories), (people, 1)) / votes[:, np.newaxis]
    rounds, change = 0, np.inf
    while change >= TOLERANCE and rounds < ROUNDS:
        update = _expected(said, *_maximised(said, posterior, times, smoothing))
        change = np.abs(update - posterior).max(initial=0.0)
        posterior, rounds = update, rounds + 1
    prior, confusion = _maximised(said, posterior, times, smoothing)
    return DawidSkene(
        posterior[found.of_item],
        prior,
        confusion.reshape(people, categories, categories).transpose(0, 2, 1),
        rounds,
        bool(change < TOLERANCE),
    )


def _counts(rows: NDArray[np.int64], whose: NDArray[np.int64], shape: tuple[int, int]) -> csr_array:
    """(P, A · K): how often each annotator gave each label to the items of a pattern."""
    people, categories = shape
    pattern, column = np.nonzero(rows >= 0)
    cell = whose[column] * categories + rows[pattern, column]
    return csr_array(
        (np.ones(len(pattern)), (pattern, cell)), shape=(len(rows), people * categories)
    )


def _maximised(
    said: csr_array, posterior: NDArray[np.float64], times: NDArray[np.float64], smoothing: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The prior (K,) and each annotator's chances (A · K labels, K true ones) given posteriors."""
    weighted = posterior * times[:, np.newaxis]
    k = posterior.shape[1]
    prior = weighted.sum(axis=0) + smoothing
    counts = (said.T @ weighted + smoothing).reshape(-1, k, k)
    whole = counts.sum(axis=1, keepdims=True)
    # Of a true label that an annotator never met nothing is known.
    chances = np.divide(counts, whole, out=np.full_like(counts, 1 / k), where=whole > 0)
    return prior / prior.sum(), chances.reshape(-1, k)


def _expected(
    said: csr_array, prior: NDArray[np.float64], chances: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Posteriors (P, K) given the prior and everybody's chances."""
    joint = said @ _log(chances) + _log(prior)
    joint -= joint.max(axis=1, keepdims=True)
    likely = np.exp(joint)
    return likely / likely.sum(axis=1, keepdims=True)


def _log(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Finite of an impossible chance, too: without smoothing, all a pattern's could be that."""
    return np.log(np.maximum(chances, np.finfo(np.float64).tiny))
