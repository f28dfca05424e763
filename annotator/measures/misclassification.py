"""Misclassification: true rates from the judge's rates and its errors, by inverting these.

For turns that the labelled items are no sample of. It rests on one assumption: given what people
would say, the judge errs there as it does on the labelled items, so only the shares of the labels
differ. (Rogan and Gladen 1978, Am J Epidemiol 107:71; several labels: Barron 1977.)
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.measures.double_sample import (
    Corrected,
    Judged,
    Labelled,
    conversations_of,
    delta_interval,
    effective_number,
    quantile,
    shares_conversations,
    uncorrected,
    unseen_variance,
    variance,
)
from annotator.measures.interval import ROUNDING, no_interval

ENOUGH = 5  # labelled items of a label, to tell what the judge makes of it
UNSEEN = "a share of 0 or 1 has the variance of Agresti and Coull's"
PROJECTED = "some shares were below 0: projected to the nearest that are not"


@dataclass(frozen=True)
class JudgeErrors:
    """Sensitivity and specificity of a judge's sigma, with the standard error of their sum."""

    sensitivity: float
    specificity: float
    standard_error: float

    def as_dict(self) -> dict[str, object]:
        return {
            "sensitivity": self.sensitivity,
            "specificity": self.specificity,
            "standard_error_of_sum": self.standard_error,
        }


@dataclass(frozen=True)
class _Share:
    """A judged share among the items that people gave one label: its value and influences (n,)."""

    value: float
    influence: NDArray[np.float64]
    unseen: float


def rogan_gladen(labelled: Labelled, judged: Judged) -> Corrected:
    """theta = (p + Sp - 1) / (Se + Sp - 1), labels and outcomes being 0 and 1.

    V = [p(1-p)/N + (1-theta)² Sp(1-Sp)/n0 + theta² Se(1-Se)/n1] / (Se+Sp-1)² for independent items
    (Lee et al., arXiv 2511.21140); here by linearisation, with weights and conversations. None
    where the 95% interval of Se + Sp reaches 1: the judge may tell nothing apart.
    """
    missing = _missing(labelled)
    if missing:
        return uncorrected(missing)
    se, sp = _share(labelled, 1), _share(labelled, 0)
    units, shared = conversations_of(labelled, judged), shares_conversations(labelled, judged)
    informed = se.value + sp.value - 1
    error = _sum_error(labelled, se, sp)
    z, _ = quantile(max(2, len(np.unique(labelled.conversations))))
    if informed - z * error <= 0:
        return uncorrected(
            f"sensitivity {se.value:.2f} + specificity {sp.value:.2f} is not surely above 1: "
            "the judge's sigma may tell nothing apart"
        )
    p = float(judged.shares[1])
    theta = (p + sp.value - 1) / informed
    of_judge = (
        ((1 - theta) * sp.influence - theta * se.influence)[:, np.newaxis] / informed,
        labelled.conversations,
    )
    of_sample = (judged.share_influence()[:, 1:] / informed, judged.conversations)
    unseen_p = 0.0
    if min(p, 1 - p) < ROUNDING:
        turns = effective_number(judged.counts.sum(axis=1), judged.conversations)
        unseen_p = unseen_variance(turns)
    unseen_judge = ((1 - theta) ** 2 * sp.unseen + theta**2 * se.unseen) / informed**2
    unseen_sample = unseen_p / informed**2
    judge = float(variance([of_judge], shared=shared)[0]) + unseen_judge
    sample = float(variance([of_sample], shared=shared)[0]) + unseen_sample
    both = float(variance([of_judge, of_sample], shared=shared)[0]) + unseen_judge + unseen_sample
    return Corrected(
        value=theta,
        interval=delta_interval(theta, both**0.5, units),
        standard_error=both**0.5,
        sampling_error=sample**0.5,
        judge_error=judge**0.5,
        notes=(UNSEEN,) if unseen_judge or unseen_sample else (),
    )


def judge_errors(labelled: Labelled) -> JudgeErrors | None:
    """Of labels and outcomes 0 and 1; None where no item has one of the labels."""
    if _missing(labelled):
        return None
    se, sp = _share(labelled, 1), _share(labelled, 0)
    return JudgeErrors(se.value, sp.value, _sum_error(labelled, se, sp))


def invert(labelled: Labelled, judged: Judged, labels: int) -> tuple[Corrected, ...]:
    """The share of each of K `labels`: pi = (Mᵀ)⁻¹ q, M = P(judge's outcome | people's label).

    With more outcomes than labels (unreadable verdicts) it is the least-squares solution. Shares
    below 0 are projected to the simplex (Duchi et al. 2008, ICML); then `notes` says so, and
    interval and error are those of the share before. An outcome that no turn has, or that all
    have, adds Agresti and Coull's variance. None where a label has too few items, or where the
    judge does not tell all labels apart.
    """
    support = np.bincount(labelled.people, minlength=labels)
    if support.min() < ENOUGH:
        few = f"{int((support < ENOUGH).sum())} of {labels} labels have fewer than {ENOUGH}"
        return (uncorrected(f"{few} labelled items"),) * labels
    given = np.eye(labels)[labelled.people]  # (n, K)
    of_label = labelled.weights @ given
    matrix = (given * labelled.weights[:, np.newaxis]).T @ labelled.judged / of_label[:, np.newaxis]
    if np.linalg.matrix_rank(matrix, tol=1e-6) < labels:
        return (uncorrected("the judge does not tell all labels apart"),) * labels
    inverse = np.linalg.pinv(matrix.T)  # (K, J)
    raw = inverse @ judged.shares
    of_item = labelled.weights * raw[labelled.people] / of_label[labelled.people]
    moves = of_item[:, np.newaxis] * (labelled.judged - matrix[labelled.people])
    of_judge = (-moves @ inverse.T, labelled.conversations)
    of_sample = (judged.share_influence() @ inverse.T, judged.conversations)
    shared = shares_conversations(labelled, judged)
    unseen = inverse**2 @ _unseen_shares(judged)
    errors = [
        np.sqrt(variance(parts, shared=shared) + of_chance)
        for parts, of_chance in (
            ([of_judge, of_sample], unseen),
            ([of_sample], unseen),
            ([of_judge], np.zeros(labels)),
        )
    ]
    units = conversations_of(labelled, judged)
    projected = simplex_projection(raw)
    notes = tuple(
        note for note, needed in ((PROJECTED, raw.min() < 0), (UNSEEN, unseen.any())) if needed
    )
    return tuple(
        Corrected(
            value=float(projected[k]),
            interval=delta_interval(float(raw[k]), float(errors[0][k]), units)
            if errors[0][k] > 0
            else no_interval("standard error 0"),
            standard_error=float(errors[0][k]),
            sampling_error=float(errors[1][k]),
            judge_error=float(errors[2][k]),
            notes=notes,
        )
        for k in range(labels)
    )


def simplex_projection(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """The nearest shares that are none below 0 and 1 in all.

    >>> simplex_projection(np.array([0.7, 0.5, -0.2])).round(2).tolist()
    [0.6, 0.4, 0.0]
    """
    descending = np.sort(shares)[::-1]
    excess = (np.cumsum(descending) - 1) / np.arange(1, len(shares) + 1)
    last = int(np.flatnonzero(descending > excess)[-1])
    moved = shares - excess[last]
    return np.where(moved > ROUNDING, moved, 0.0)


def _missing(labelled: Labelled) -> str | None:
    support = np.bincount(labelled.people, minlength=2)
    lacking = [f"sigma {sigma}" for sigma in (1, 0) if not support[sigma]]
    return f"no labelled item has {' or '.join(lacking)}" if lacking else None


def _unseen_shares(judged: Judged) -> NDArray[np.float64]:
    """(J,) the variance of each outcome's share of the turns where none or all have it, else 0."""
    turns = effective_number(judged.counts.sum(axis=1), judged.conversations)
    extreme = np.minimum(judged.shares, 1 - judged.shares) < ROUNDING
    return np.where(extreme, unseen_variance(turns), 0.0)


def _share(labelled: Labelled, label: int) -> _Share:
    """How often the judge says `label` where people do."""
    weights = np.where(labelled.people == label, labelled.weights, 0.0)
    weights /= weights.sum()
    said = labelled.judged[:, label]
    value = float(weights @ said)
    unseen = 0.0
    if min(value, 1 - value) < ROUNDING:
        unseen = unseen_variance(effective_number(weights, labelled.conversations))
    return _Share(value, weights * (said - value), unseen)


def _sum_error(labelled: Labelled, se: _Share, sp: _Share) -> float:
    shared = len(np.unique(labelled.conversations)) < labelled.n
    influence = (se.influence + sp.influence)[:, np.newaxis]
    spread = variance([(influence, labelled.conversations)], shared=shared)[0]
    return float(spread + se.unseen + sp.unseen) ** 0.5
