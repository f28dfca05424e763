"""The reference label of an item: what its annotators agreed on under one rubric version."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from annotator.adjudication.adjudication import Adjudication
from annotator.annotation import Annotation
from annotator.reference_rule import ReferenceRule
from rubrics import InputError, Rubric

ONLY = ", the only annotator"  # ends the rule of a study that one person labelled
LabelsByAnnotator = dict[str, dict[str, str]]  # annotator → item id → category id


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
    votes: dict[str, list[str]] = defaultdict(list)
    for labels in labels_by_annotator(annotations, rubric).values():
        for item_id, category in labels.items():
            votes[item_id].append(category)
    if rule is ReferenceRule.MAJORITY:
        most = {item_id: _most_frequent(given) for item_id, given in votes.items()}
        return folded(annotations, _rule(annotator, annotations), most)
    if rule is not ReferenceRule.ADJUDICATED:
        raise ValueError(f"{rule} is no fold of the labels alone")
    annotated = {annotation.item_id for annotation in annotations}
    decided = {
        decision.item_id: _known(decision.category, rubric, decision.item_id, decision.adjudicator)
        for decision in adjudications
        if decision.item_id in annotated
    }
    agreed = {i: given[0] if len(set(given)) == 1 else None for i, given in votes.items()}
    words = (
        f"the adjudicator's decision ({len(decided)} made), else the label that all annotators of "
        "an item gave it; labelled differently and undecided gives none"
    )
    return folded(annotations, words, agreed | decided, undecided=True)


def folded(
    annotations: Iterable[Annotation],
    rule: str,
    winners: Mapping[str, str | None],
    *,
    undecided: bool = False,
) -> References:
    """References by what a rule made of each item that has labels: one of them, or None.

    Items without a winner are ties, or with `undecided` those that await a decision. `rule` is
    the rule in words.
    """
    reasons: dict[str, set[str]] = defaultdict(set)
    by_item: dict[str, list[Annotation]] = defaultdict(list)
    for annotation in sorted(annotations, key=lambda said: said.annotator):
        by_item[annotation.item_id].append(annotation)
        if annotation.kind == "skip" and annotation.item_id not in winners:
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


def unnamed(rule: str) -> str:
    """A rule in words that may leave the study: without the name of an only annotator.

    >>> unnamed("labels of ann, the only annotator"), unnamed("most frequent label; …")
    ('labels of the only annotator', 'most frequent label; …')
    """
    return "labels of the only annotator" if rule.endswith(ONLY) else rule


def labels_by_annotator(annotations: Iterable[Annotation], rubric: Rubric) -> LabelsByAnnotator:
    """Each annotator's labels by item id, annotators in order of name; skips are no labels.

    Raises InputError for a category that the rubric does not have.
    """
    labels: LabelsByAnnotator = defaultdict(dict)
    for annotation in annotations:
        if annotation.category is None:
            continue
        labels[annotation.annotator][annotation.item_id] = _known(
            annotation.category, rubric, annotation.item_id, annotation.annotator
        )
    return {annotator: labels[annotator] for annotator in sorted(labels)}


def _known(category: str, rubric: Rubric, item_id: str, by: str) -> str:
    if category in rubric.category_ids:
        return category
    raise InputError(
        f"labels.db has category {category!r} (item {item_id}, by {by}), which rubric "
        f"{rubric.version} does not know: it has {', '.join(rubric.category_ids)}"
    )


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
        return f"labels of {names[0]}{ONLY}"
    return f"most frequent label of {len(names)} annotators; a tie gives none"
