"""The reference label of an item: what its annotators agreed on under one rubric version."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from annotator.annotation import Annotation
from rubrics import InputError, Rubric

LabelsByAnnotator = dict[str, dict[str, str]]  # annotator → item id → category id


@dataclass(frozen=True)
class References:
    """Item ids by what their annotations amount to; every annotated item is in exactly one.

    `labels` maps to the category, `skips` to the reasons given; `annotations` holds all that was
    said of each item, skips too. `rule` says in words how several annotators' labels became one.
    """

    rule: str
    labels: Mapping[str, str]
    ties: frozenset[str]
    skips: Mapping[str, str]
    annotations: Mapping[str, tuple[Annotation, ...]]

    @property
    def flagged(self) -> int:
        """How many items, labelled or skipped, somebody flagged for discussion."""
        return sum(any(said.flagged for said in item) for item in self.annotations.values())


def reference_labels(
    annotations: Iterable[Annotation], rubric: Rubric, annotator: str | None = None
) -> References:
    """Fold current annotations under `rubric`, one per (item, annotator), to reference labels.

    One annotator's label stands; of several the most frequent one does, and where two are equally
    frequent there is none. A skip is never a label: it counts only where nobody gave one.

    Raises InputError for a category that the rubric does not have, and for an `annotator` who
    has annotated nothing under it.
    """
    annotations = list(annotations)
    if annotator is not None:
        annotations = _by(annotator, annotations, rubric)
    votes: dict[str, list[str]] = defaultdict(list)
    for labels in labels_by_annotator(annotations, rubric).values():
        for item_id, category in labels.items():
            votes[item_id].append(category)
    winners = {item_id: _most_frequent(categories) for item_id, categories in votes.items()}
    reasons: dict[str, set[str]] = defaultdict(set)
    by_item: dict[str, list[Annotation]] = defaultdict(list)
    for annotation in sorted(annotations, key=lambda said: said.annotator):
        by_item[annotation.item_id].append(annotation)
        if annotation.kind == "skip" and annotation.item_id not in votes:
            reasons[annotation.item_id].add(annotation.skip_reason or "no reason given")
    return References(
        rule=_rule(annotator, annotations),
        labels={item_id: label for item_id, label in winners.items() if label is not None},
        ties=frozenset(item_id for item_id, label in winners.items() if label is None),
        skips={item_id: ", ".join(sorted(given)) for item_id, given in reasons.items()},
        annotations={item_id: tuple(said) for item_id, said in by_item.items()},
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
