"""Post-stratification: rates of people's labels where the labelled items are a random sample.

theta = Σ_j q_j · P(people say so | the judge says j): the turns tell how often the judge says j,
the labelled items what people say then. However poor the judge, the design makes it unbiased.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.measures.double_sample import (
    Corrected,
    Judged,
    Labelled,
    conversations_of,
    covariance,
    effective_number,
    score_interval,
    shares_conversations,
    unseen_variance,
    variance,
)
from annotator.measures.interval import ROUNDING

ENOUGH = 5  # labelled items that a post-stratum needs for a share of its own
UNSEEN = "a share of 0 or 1 in a post-stratum has the variance of Agresti and Coull's"


@dataclass(frozen=True)
class Representativeness:
    """Whether the judge labelled the labelled items like all turns; `p` None says why not known."""

    chi_square: float | None
    degrees: int
    p: float | None
    undefined: str | None = None

    def as_dict(self) -> dict[str, object]:
        return {
            "test": "Wald test of the judge's labels, by conversation",
            "chi_square": self.chi_square,
            "degrees_of_freedom": self.degrees,
            "p": self.p,
            "undefined": self.undefined,
        }


def post_strata(counts: NDArray[np.float64], kinds: Sequence[int]) -> NDArray[np.int64]:
    """The post-stratum of each of the judge's J outcomes, by how many items are labelled of it.

    The smallest are merged until each has `ENOUGH`, outcomes of the same kind (judged sigma)
    before others. Under the design any merging is unbiased; less of it is more precise.

    >>> post_strata(np.array([40.0, 3, 4, 0, 60]), (1, 0, 0, 0, 0)).tolist()
    [0, 1, 1, 1, 2]
    """
    done: list[list[int]] = []
    for kind in sorted(set(kinds)):
        done += _merged([[j] for j, of in enumerate(kinds) if of == kind], counts)
    strata = np.zeros(len(kinds), dtype=np.int64)
    for number, outcomes in enumerate(sorted(_merged(done, counts))):
        strata[outcomes] = number
    return strata


def poststratify(
    labelled: Labelled, judged: Judged, outcomes: NDArray[np.float64]
) -> tuple[Corrected, ...]:
    """The rate of each of T outcomes (n, T), 1 where people's label has it and else 0.

    The judge's outcomes are the post-strata, none without a labelled item unless no turn has it.
    Independent items: V = Σ_j q_j² v_j / n_j + Var_j(P) / N; here by linearisation, so that weights
    and conversations count (Särndal, Swensson and Wretman 1992, 7.6 and 9.3).
    """
    weights = labelled.weights[:, np.newaxis] * labelled.judged
    of_stratum = weights.sum(axis=0)
    seen = of_stratum > 0
    shares = judged.shares
    if not labelled.n or (shares[~seen] > 0).any():
        raise ValueError("every post-stratum with turns needs a labelled item")
    scale = np.divide(1.0, of_stratum, out=np.zeros_like(of_stratum), where=seen)
    given = (weights.T @ outcomes) * scale[:, np.newaxis]  # (J, T)
    rates = shares @ given
    reach = weights * (shares * scale)
    judge_moves = reach.sum(axis=1)[:, np.newaxis] * outcomes - reach @ given
    sample_moves = judged.share_influence() @ given
    shared = shares_conversations(labelled, judged)
    of_judge = (judge_moves, labelled.conversations)
    of_sample = (sample_moves, judged.conversations)
    unseen = np.array([_unseen(column, shares, labelled) for column in given.T])
    total = variance([of_judge, of_sample], shared=shared) + unseen
    judge = variance([of_judge], shared=shared) + unseen
    sample = variance([of_sample], shared=shared)
    units = conversations_of(labelled, judged)
    return tuple(
        Corrected(
            value=float(rate),
            interval=score_interval(float(rate), float(total[t]), units),
            standard_error=float(total[t]) ** 0.5,
            sampling_error=float(sample[t]) ** 0.5,
            judge_error=float(judge[t]) ** 0.5,
            notes=(UNSEEN,) if unseen[t] else (),
        )
        for t, rate in enumerate(np.clip(rates, 0.0, 1.0))
    )


def representativeness(labelled: Labelled, judged: Judged) -> Representativeness:
    """Wald's test that the labelled items, weighted, have the judge's labels in the turns' shares.

    Conversations are independent, items are not; a chi-square test of independent items would see
    a difference in every clustered sample. It compares with all turns, those labelled among them,
    which is the comparison with the others: one difference is a multiple of the other.
    """
    shares = judged.shares
    if np.count_nonzero(shares) < 2:
        return Representativeness(None, 0, None, "the judge gave all turns one label")
    weights = labelled.weights / labelled.weights.sum()
    found = weights @ labelled.judged
    influence = [
        (weights[:, np.newaxis] * (labelled.judged - found), labelled.conversations),
        (-judged.share_influence(), judged.conversations),
    ]
    spread = covariance(influence, shared=shares_conversations(labelled, judged))
    degrees = int(np.linalg.matrix_rank(spread, tol=ROUNDING, hermitian=True))
    if not degrees:
        return Representativeness(None, 0, None, "every turn has a labelled item")
    from scipy.stats import chi2

    away = found - shares
    statistic = float(away @ np.linalg.pinv(spread, rtol=1e-9, hermitian=True) @ away)
    return Representativeness(statistic, degrees, float(chi2.sf(statistic, degrees)))


def _merged(groups: list[list[int]], counts: NDArray[np.float64]) -> list[list[int]]:
    def size(group: list[int]) -> tuple[float, list[int]]:
        return float(counts[group].sum()), group

    groups = sorted(groups, key=size)
    while len(groups) > 1 and size(groups[0])[0] < ENOUGH - 1e-9:
        first, second, *others = groups
        groups = sorted([sorted(first + second), *others], key=size)
    return groups


def _unseen(given: NDArray[np.float64], shares: NDArray[np.float64], labelled: Labelled) -> float:
    """What the strata with a share of 0, and those of 1, add to the variance, each as one."""
    total = 0.0
    for extreme in (0.0, 1.0):
        at = (np.abs(given - extreme) < ROUNDING) & (shares > 0)
        if at.any():
            numbers = [
                effective_number(labelled.weights * labelled.judged[:, j], labelled.conversations)
                for j in np.flatnonzero(at)
            ]
            share = float(shares[at].sum())
            n = share**2 / float(np.sum(shares[at] ** 2 / numbers))
            total += share**2 * unseen_variance(n)
    return total
