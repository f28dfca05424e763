"""Reference labels by every rule that there is, from a study's labels.db or from what it held."""

from collections.abc import Iterable, Set

import numpy as np
from sqlite_utils import Database

from annotator.adjudication.adjudication import Adjudication, current_adjudications
from annotator.annotation import Annotation, current_annotations
from annotator.measures.dawid_skene import DawidSkene, dawid_skene
from annotator.name import checked_name
from annotator.reference import (
    LabelsByAnnotator,
    References,
    folded,
    labels_by_annotator,
    reference_labels,
)
from annotator.reference_rule import ReferenceRule
from judge.plural import counted
from rubrics import InputError, Rubric


def references_of(
    labels_db: Database,
    rubric: Rubric,
    rule: ReferenceRule = ReferenceRule.MAJORITY,
    annotator: str | None = None,
    *,
    repeats: Set[str] = frozenset(),
) -> References:
    """The reference labels of a study under `rubric`; `repeats` are ids of items shown twice.

    Raises InputError as `fold_references`, and for a name that no annotator can have.
    """
    annotator = checked_name(annotator) if annotator is not None else None
    with labels_db.atomic():
        annotations = current_annotations(labels_db, rubric.version)
        adjudications = current_adjudications(labels_db, rubric.version)
    annotations = [said for said in annotations if said.item_id not in repeats]
    return fold_references(annotations, rubric, rule, annotator, adjudications)


def fold_references(
    annotations: Iterable[Annotation],
    rubric: Rubric,
    rule: ReferenceRule = ReferenceRule.MAJORITY,
    annotator: str | None = None,
    adjudications: Iterable[Adjudication] = (),
) -> References:
    """Current annotations under `rubric` by a rule, or one `annotator`'s alone.

    Raises InputError as `reference_labels`, and where one person's labels are to be folded by a
    rule for several.
    """
    if annotator is not None and rule is not ReferenceRule.MAJORITY:
        raise InputError(
            f"found --annotator {annotator} with --reference {rule}, expected one of them: one "
            "person's labels need no rule; leave --reference out"
        )
    annotations = list(annotations)
    if rule is ReferenceRule.DAWID_SKENE:
        return _estimated(annotations, rubric)
    return reference_labels(annotations, rubric, annotator, rule, adjudications)


def _estimated(annotations: list[Annotation], rubric: Rubric) -> References:
    """The most probable labels by Dawid-Skene; of a single annotator those are the ones given."""
    labels = labels_by_annotator(annotations, rubric)
    if len(labels) < 2:
        return reference_labels(annotations, rubric)
    items = sorted({item_id for given in labels.values() for item_id in given})
    ratings = _ratings(labels, items, rubric)
    found = dawid_skene(ratings, len(rubric.categories))
    names = (*rubric.category_ids, None)  # -1, no label, is the last
    winners = {item_id: names[k] for item_id, k in zip(items, found.labels.tolist(), strict=True)}
    return folded(annotations, _words(found, ratings), winners)


def _ratings(labels: LabelsByAnnotator, items: list[str], rubric: Rubric) -> np.ndarray:
    """(n, A) of label numbers, -1 where an annotator gave none; annotators in order of name."""
    position = {category: k for k, category in enumerate(rubric.category_ids)}
    rows = [
        [position[given[item_id]] if item_id in given else -1 for given in labels.values()]
        for item_id in items
    ]
    return np.array(rows, dtype=np.int64)


def _words(found: DawidSkene, ratings: np.ndarray) -> str:
    annotators = ratings.shape[1]
    words = [
        f"most probable label by Dawid-Skene 1979 from {annotators} annotators; a tie gives none"
    ]
    if annotators == 2:
        words.append("two annotators' labels cannot tell whose errors are whose")
    highest = ratings.max(axis=1)
    unanimous = ((ratings == highest[:, np.newaxis]) | (ratings < 0)).all(axis=1)
    overruled = int((unanimous & (found.labels != highest)).sum())
    if overruled:
        words.append(f"{counted(overruled, 'item')} without the label that all its annotators gave")
    if not found.converged:
        words.append(f"not converged in {found.rounds:,} rounds")
    return "; ".join(words)
