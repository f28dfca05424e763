"""From items of a study to numbers: what people said and what every judge said."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from judge.calibration.comparison.comparison import OTHER
from judge.calibration.comparison.contestants import Entrant
from judge.calibration.comparison.ratings import NONE, Ratings
from judge.calibration.pairing import Pair
from judge.calibration.sampling.weights import DesignWeights
from judge.judgment import Judgment
from rubrics import Rubric, diff_rubrics


@dataclass(frozen=True)
class ComparedItem:
    """An item that all judged: its pair of the baseline, and every entrant's verdicts."""

    pair: Pair
    verdicts: tuple[tuple[Judgment, ...], ...]


def common_categories(entrants: Sequence[Entrant], rubric: Rubric) -> tuple[str, ...]:
    """The categories that all rubrics mean alike, in the order of the reference's."""
    common = set(rubric.category_ids)
    for entrant in entrants:
        common &= set(diff_rubrics(entrant.rubric, rubric).same_meaning)
    return tuple(name for name in rubric.category_ids if name in common)


def study_ratings(
    items: Sequence[ComparedItem],
    entrants: Sequence[Entrant],
    rubric: Rubric,
    categories: Sequence[str],
    design: DesignWeights,
) -> Ratings:
    """Labels over the common `categories`, all else being `other`; sigma over all items.

    An item whose reference is no common category counts for sigma alone, which every rubric means
    alike.
    """
    position = {name: k for k, name in enumerate((*categories, OTHER))}
    other = position[OTHER]
    sigma_of = {category.id: 1 - category.sigma for category in rubric.categories}

    def sigma(verdict: Judgment) -> int:
        return 2 if verdict.sigma is None else 1 - verdict.sigma

    outcomes = [
        [[position.get(v.label or OTHER, other) for v in said] for said in item.verdicts]
        for item in items
    ]
    ids = [item.pair.item_id for item in items]
    return Ratings(
        labels=np.array([position.get(item.pair.reference, NONE) for item in items]),
        label_outcomes=np.array(outcomes),
        sigmas=np.array([sigma_of[item.pair.reference] for item in items]),
        sigma_outcomes=np.array(
            [[[sigma(v) for v in said] for said in item.verdicts] for item in items]
        ),
        categories=len(categories),
        conversations=[item.pair.conversation for item in items],
        weights=design.of(ids),
        strata=design.strata_of(ids),
    )
