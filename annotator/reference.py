"""The reference label of an item: what its annotators agreed on under one rubric version."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from annotator.adjudication import Adjudication
from annotator.annotation import Annotation
from annotator.name import checked_name
from rubrics import InputError, Rubric

LabelsByAnnotator = dict[str, dict[str, str]]  # annotator → item id → category id


class ReferenceRule(StrEnum):
    """How several annotators' labels of an item become its reference label.

    `majority`: the most frequent one; a tie gives none. `adjudicated`: the adjudicator's decision;
    an item without one takes the label that everybody gave it, and one that people label
    differently has none until somebody decides. `dawid-skene`: the most probable one when
    everybody's error rates are estimated too.
    """

    MAJORITY = "majority"
    ADJUDICATED = "adjudicated"
    DAWID_SKENE = "dawid-skene"


@dataclass(frozen=True)
class References:
    """Item ids by what their annotations amount to; every annotated item is in exactly one.

    `labels` maps to the category, `skips` to the reasons given; `undecided` are those that people
    label differently and that await an adjudicator. `annotations` holds all that was said of each
    item, skips too. `rule` says in words how several annotators' labels became one.
    """

    rule: str
    labels: Mapping[str, str]
    ties: frozenset[str]
    skips: Mapping[str, str]
    annotations: Mapping[str, tuple[Annotation, ...]]
    undecided: frozenset[str] = frozenset()

    @property
    def flagged(self) -> int:
        """How many items, labelled or skipped, somebody flagged for discussion."""
        return sum(any(said.flagged for said in item) for item in self.annotations.values())


def reference_labels(
    annotations: Iterable[Annotation],
    rubric: Rubric,
    annotator: str | None = None,
    rule: ReferenceRule = ReferenceRule.MAJORITY,
    adjudications: Iterable[Adjudication] = (),
) -> References:
    """Fold current annotations under `rubric`, one per (item, annotator), to reference labels.

    `annotator` takes one person's labels alone; else `rule` says what of several people's counts,
    with the current `adjudications` under the rubric where these decide. A skip is never a label:
    it counts only where nobody gave one.

    Raises InputError for a category that the rubric does not have, and for an `annotator` who
    has annotated nothing under it. The Dawid-Skene rule needs numpy, so it is not here but in
    `judge.calibration.references`.
    """
    annotations = list(annotations)
    if annotator is not None:
        annotations = _by(annotator, annotations, rubric)
        rule = ReferenceRule.MAJORITY
    votes = labels_by_item(annotations, rubric)
    if rule is ReferenceRule.MAJORITY:
        words = _rule(annotator, annotations)
        return folded(annotations, votes, words, {i: _most_frequent(v) for i, v in votes.items()})
    if rule is not ReferenceRule.ADJUDICATED:
        raise ValueError(f"no fold of labels alone: {rule}")
    decided = {said.item_id: said.category for said in adjudications}
    _refuse_unknown(decided.items(), rubric)
    annotated = {said.item_id for said in annotations}
    decided = {item_id: category for item_id, category in decided.items() if item_id in annotated}
    agreed = {i: given[0] if len(set(given)) == 1 else None for i, given in votes.items()}
    words = (
        "the label that all annotators of an item gave it, else the adjudicator's decision "
        f"({len(decided)} decided); labelled differently and undecided gives none"
    )
    return folded(annotations, votes, words, agreed | decided, undecided=True)


def folded(
    annotations: Iterable[Annotation],
    votes: Mapping[str, list[str]],
    rule: str,
    winners: Mapping[str, str | None],
    *,
    undecided: bool = False,
) -> References:
    """References with what a rule made of each item's votes, None being no label.

    Items without a label are ties, or with `undecided` those that nobody has decided.
    """
    reasons: dict[str, set[str]] = defaultdict(set)
    by_item: dict[str, list[Annotation]] = defaultdict(list)
    for annotation in sorted(annotations, key=lambda said: said.annotator):
        by_item[annotation.item_id].append(annotation)
        if annotation.kind == "skip" and not (annotation.item_id in votes or annotation.item_id in winners):
            reasons[annotation.item_id].add(annotation.skip_reason or "no reason given")
    without = frozenset(item_id for item_id, label in winners.items() if label is None)
    return References(
        rule=rule,
        labels={item_id: label for item_id, label in winners.items() if label is not None},
        ties=frozenset() if undecided else without,
        skips={item_id: ", ".join(sorted(given)) for item_id, given in reasons.items()},
        annotations={item_id: tuple(said) for item_id, said in by_item.items()},
        undecided=without if undecided else frozenset(),
    )


def labels_by_annotator(annotations: Iterable[Annotation], rubric: Rubric) -> LabelsByAnnotator:
    """Each annotator's labels by item id, annotators in order of name; skips are no labels.

    Raises InputError for a category that the rubric does not have.
    """
    labels: LabelsByAnnotator = defaultdict(dict)
    for annotation in annotations:
        if annotation.category is None:
            continue
        if annotation.category not in rubric.category_ids:
            raise InputError(
                f"labels.db has category {annotation.category!r} (item {annotation.item_id}, by "
                f"{annotation.annotator}), which rubric {rubric.version} does not know: it has "
                f"{', '.join(rubric.category_ids)}"
            )
        labels[annotation.annotator][annotation.item_id] = annotation.category
    return {annotator: labels[annotator] for annotator in sorted(labels)}


def _by(annotator: str, annotations: list[Annotation], rubric: Rubric) -> list[Annotation]:
    theirs = [annotation for annotation in annotations if annotation.annotator == annotator]
    if not theirs:
        known = sorted({annotation.annotator for annotation in annotations})
        raise InputError(
            f"{annotator!r} has annotated nothing under rubric {rubric.version}; "
            f"annotators are: {', '.join(known) or 'none yet'}"
        )
    return theirs


def _most_frequent(categories: list[str]) -> str | None:
    """The category named most often, or None if two are named equally often."""
    (first, most), *others = Counter(categories).most_common(2)
    return None if others and others[0][1] == most else first


def _rule(annotator: str | None, annotations: list[Annotation]) -> str:
    if annotator is not None:
        return f"labels of {annotator} alone"
    names = sorted({annotation.annotator for annotation in annotations})
    if len(names) == 1:
        return f"labels of {names[0]}, the only annotator"
    return f"most frequent label of {len(names)} annotators; a tie gives none"
