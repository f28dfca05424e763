"""Which correction a rate gets, by how the labelled items were drawn, and the correction itself."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.measures.double_sample import Corrected, Judged, Labelled
from annotator.measures.misclassification import invert, rogan_gladen
from annotator.measures.poststratification import (
    ENOUGH,
    Representativeness,
    post_strata,
    poststratify,
    representativeness,
)
from judge.calibration.rates.rate import INVERTED, POST_STRATIFIED
from rubrics import Rubric

CELL_ITEMS = 30  # labelled items from which a cell's own speak for it; fewer give wide intervals
ALONE = "too few labels to tell the judge's apart: people's labels alone"


@dataclass(frozen=True)
class Correction:
    """Corrected rates of sigma and of each label; `method` None where sigma has none."""

    method: str | None
    reason: str
    sigma: Corrected
    labels: tuple[Corrected, ...]
    representativeness: Representativeness | None = None


def outcome_sigmas(rubric: Rubric) -> NDArray[np.int64]:
    """(K + 1,) sigma of every outcome; an unreadable verdict says of no turn that it is genuine."""
    return np.array([*(category.sigma for category in rubric.categories), 0], dtype=np.int64)


def too_few(labelled: Labelled, judged: Judged, sigmas: NDArray[np.int64]) -> str | None:
    """Why a cell's own labelled items cannot speak for it, or None if they can."""
    if labelled.n < CELL_ITEMS:
        return f"fewer than {CELL_ITEMS} of its items are labelled"
    for sigma in (1, 0):
        found = float(labelled.counts[sigmas == sigma].sum())
        if judged.shares[sigmas == sigma].sum() > 0 and found < ENOUGH - 1e-9:
            return f"fewer than {ENOUGH} of its labelled items are judged sigma {sigma}"
    return None


def by_sample(
    labelled: Labelled, judged: Judged, sigmas: NDArray[np.int64], reason: str
) -> Correction:
    """Post-stratified: the labelled items are a random sample of the turns' items."""
    strata = post_strata(labelled.counts, sigmas.tolist())
    labelled, judged = labelled.regrouped(strata), judged.regrouped(strata)
    given = np.eye(len(sigmas) - 1)[labelled.people]
    genuine = given @ sigmas[:-1]
    *labels, sigma = poststratify(labelled, judged, np.column_stack([given, genuine]))
    if not strata.any():
        reason = f"{reason}; {ALONE}"
    return Correction(
        POST_STRATIFIED, reason, sigma, tuple(labels), representativeness(labelled, judged)
    )


def by_errors(
    labelled: Labelled, judged: Judged, sigmas: NDArray[np.int64], reason: str
) -> Correction:
    """Inverted: `labelled` are items from elsewhere, on which the judge errs as it does here."""
    sigma = rogan_gladen(labelled.regrouped(sigmas, sigmas[:-1]), judged.regrouped(sigmas))
    read = judged.counts[:, -1].any() or labelled.counts[-1] > 0
    columns = np.arange(len(sigmas)) if read else np.arange(len(sigmas)).clip(max=len(sigmas) - 2)
    labels = invert(labelled.regrouped(columns), judged.regrouped(columns), len(sigmas) - 1)
    if sigma.undefined:
        return Correction(None, f"{reason}; {sigma.undefined}", sigma, labels)
    return Correction(INVERTED, reason, sigma, labels)
