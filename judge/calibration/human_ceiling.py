"""The human ceiling: how far people agree with each other where the judge is held against them.

A judge cannot be asked for more agreement with people than people have among themselves. Both are
measured on the same items, those that the judge judged and that two people or more labelled, and
from the same resamples, so that their difference has an interval of its own.
"""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.measures.confusion import INVALID, positions
from annotator.measures.estimate import Estimate, estimates
from annotator.measures.kappa import cluster_numbers
from annotator.measures.panel import DIFFERENCE, JUDGE, PEOPLE, REFERENCE, Panel
from annotator.measures.replicates import Sums
from annotator.measures.units import gather, patterns
from annotator.reference import LabelsByAnnotator
from judge.calibration.sampling.weights import DesignWeights
from rubrics import Rubric

LABELS, SIGMA = "labels ", "sigma "  # prefixes of what is estimated


@dataclass(frozen=True)
class Ceiling:
    """Mean kappas: `people` with each other, `judge` with each; `difference` is judge - people.

    `reference` is the judge's kappa with the reference label, on those of the items that have one.
    It is systematically higher than `judge`: what single people get wrong is voted out of it.
    `undefined` names pairs that have no kappa, as both gave one same label only; the means are
    without them.
    """

    people: Estimate
    judge: Estimate
    difference: Estimate
    reference: Estimate
    undefined: tuple[str, ...]

    def as_dict(self) -> dict[str, object]:
        difference = {"two_sided_p": self.difference.two_sided_p}
        return {
            "people": self.people.as_dict(),
            "judge": self.judge.as_dict(),
            "difference": self.difference.as_dict() | difference,
            "reference": self.reference.as_dict(),
            "undefined_pairs": list(self.undefined),
        }


@dataclass(frozen=True)
class HumanCeiling:
    """The ceiling over labels and over sigma.

    `annotators` counts each one's labels on the `items`, `pairs` the pairs of annotators that share
    an item; `reference_items` have a reference label.
    """

    items: int
    conversations: int
    reference_items: int
    annotators: Mapping[str, int]
    pairs: int
    labels: Ceiling
    sigma: Ceiling

    def as_dict(self) -> dict[str, object]:
        return {
            "items": self.items,
            "conversations": self.conversations,
            "reference_items": self.reference_items,
            "annotators": dict(self.annotators),
            "pairs": self.pairs,
            "labels": self.labels.as_dict(),
            "sigma": self.sigma.as_dict(),
        }


def human_ceiling(
    labels: LabelsByAnnotator,
    outcomes: Mapping[str, Sequence[str]],
    references: Mapping[str, str],
    rubric: Rubric,
    conversations: Mapping[str, Hashable],
    design: DesignWeights,
    *,
    seed: int,
) -> HumanCeiling:
    """The ceiling from people's labels and a judge's outcomes by item id.

    Every item has as many outcomes as the others, one per verdict that counts. `references` are
    the reference labels there are, `conversations` says of every item which one it belongs to.
    Raises InputError for a label that the rubric does not have.
    """
    labelled = Counter(item_id for given in labels.values() for item_id in given)
    items = sorted(item_id for item_id in outcomes if labelled[item_id] >= 2)
    counts = {name: len(given.keys() & set(items)) for name, given in labels.items()}
    names = sorted(name for name, count in counts.items() if count)
    codes = _codes(items, [labels[name] for name in names], outcomes, references, rubric)
    k, runs = len(rubric.categories), codes.shape[1] - 1 - len(names)
    found = patterns(codes)
    ratings = slice(1, 1 + len(names))
    views = {LABELS: range(k), SIGMA: [1 - int(of.sigma) for of in rubric.categories]}
    panel = Panel(codes[:, ratings], k, views, runs=runs)
    features = [
        panel.features(found.rows[:, ratings], outcome, found.rows[:, 0])
        for outcome in found.rows.T[1 + len(names) :]
    ]
    units = gather(
        np.stack(features, axis=1),
        found.of_item,
        clusters=cluster_numbers([conversations[item_id] for item_id in items]),
        weights=design.of(items),
        strata=design.strata_of(items),
    )
    estimated = estimates(units, panel.measures(LABELS) + panel.measures(SIGMA), seed=seed)
    return HumanCeiling(
        items=len(items),
        conversations=units.count,
        reference_items=int((codes[:, 0] >= 0).sum()),
        annotators={name: counts[name] for name in names},
        pairs=len(panel.pairs),
        labels=_ceiling(estimated, LABELS, _undefined(panel, LABELS, units.total, names)),
        sigma=_ceiling(estimated, SIGMA, _undefined(panel, SIGMA, units.total, names)),
    )


def _codes(
    items: Sequence[str],
    given: Sequence[Mapping[str, str]],
    outcomes: Mapping[str, Sequence[str]],
    references: Mapping[str, str],
    rubric: Rubric,
) -> NDArray[np.int64]:
    """(n, 1 + A + R): the reference, every annotator's label, and every outcome; -1 for none."""
    row, column = positions(rubric.category_ids), positions(rubric.category_ids, (INVALID,))
    codes = [
        [
            row(references[item_id]) if item_id in references else -1,
            *(row(labels[item_id]) if item_id in labels else -1 for labels in given),
            *map(column, outcomes[item_id]),
        ]
        for item_id in items
    ]
    return np.array(codes, dtype=np.int64).reshape(len(items), len(codes[0]) if codes else 2)


def _ceiling(found: Mapping[str, Estimate], prefix: str, undefined: tuple[str, ...]) -> Ceiling:
    named = (found[f"{prefix}{name}"] for name in (PEOPLE, JUDGE, DIFFERENCE, REFERENCE))
    return Ceiling(*named, undefined)


def _undefined(panel: Panel, view: str, total: Sums, names: Sequence[str]) -> tuple[str, ...]:
    people = [
        f"{names[first]} – {names[second]}"
        for (first, second), none in zip(
            panel.pairs, panel.people(total, view).undefined, strict=True
        )
        if none
    ]
    judge = panel.judge(total, view).undefined
    return (*people, *(f"judge – {name}" for name, none in zip(names, judge, strict=True) if none))
