"""Reference labels: several people's annotations folded to one label per item, or to none."""

import pytest

from annotator.annotation import Annotation, current_annotations
from annotator.reference import labels_by_annotator, reference_labels
from rubrics import InputError, load_rubric

RUBRIC = load_rubric("v3")
A, B, C = RUBRIC.category_ids[:3]


def said(*rows: tuple[str, str, str | None]) -> list[Annotation]:
    """Annotations from (annotator, item, category); without a category it is a skip."""
    return [
        Annotation(k, who, item, "v3", "label" if label else "skip", label,
                   None if label else "too long", None, "", False, "")
        for k, (who, item, label) in enumerate(rows)
    ]  # fmt: skip


def test_one_annotators_label_stands():
    found = reference_labels(said(("ann", "1", A), ("ann", "2", B)), RUBRIC)
    assert found.labels == {"1": A, "2": B}
    assert found.rule == "labels of ann, the only annotator"


@pytest.mark.parametrize(
    ("votes", "label"),
    [
        ([A, A], A),
        ([A, B], None),
        ([A, B, A], A),
        ([A, B, C], None),
        ([A, B, C, B], B),
        ([A, A, B, B], None),
        ([A, A, B, B, C, A], A),
    ],
)
def test_the_most_frequent_label_wins_and_a_tie_gives_none(votes, label):
    found = reference_labels(said(*((f"p{k}", "1", v) for k, v in enumerate(votes))), RUBRIC)
    assert found.labels == ({"1": label} if label else {})
    assert found.ties == (frozenset() if label else {"1"})


def test_a_skip_is_no_label_and_counts_where_nobody_gave_one():
    found = reference_labels(
        said(("ann", "1", A), ("bo", "1", None), ("ann", "2", None), ("bo", "2", None)), RUBRIC
    )
    assert found.labels == {"1": A}
    assert found.skips == {"2": "too long"}


def test_everything_said_of_an_item_is_kept_in_order_of_name(builder):
    builder.turns(3)
    builder.sample()
    first, second, third = builder.items
    builder.label("bo", {first: A})
    builder.label("bo", {second: "skip: too long"}, flagged=True)
    builder.label("ann", {first: B}, flagged=True, note="Hm.")
    builder.label("ann", {third: B})
    annotations = current_annotations(builder.labels, "v3")
    found = reference_labels(annotations, RUBRIC)
    assert [(a.annotator, a.note) for a in found.annotations[first]] == [("ann", "Hm."), ("bo", "")]
    assert found.annotations.keys() == {first, second, third}
    assert found.flagged == 2
    assert reference_labels(annotations, RUBRIC, "bo").flagged == 1


def test_one_annotator_can_be_the_reference():
    annotations = said(("ann", "1", A), ("bo", "1", B), ("bo", "2", C))
    found = reference_labels(annotations, RUBRIC, "bo")
    assert found.labels == {"1": B, "2": C}
    assert found.rule == "labels of bo alone"


def test_an_annotator_without_annotations_is_refused_with_those_who_have_some():
    with pytest.raises(InputError, match=r"'zed' has annotated nothing .*: ann, bo"):
        reference_labels(said(("bo", "1", A), ("ann", "1", A)), RUBRIC, "zed")


def test_an_unknown_category_is_refused_by_name():
    with pytest.raises(InputError, match=r"category 'nonsense' \(item 7, by ann\)"):
        reference_labels(said(("ann", "7", "nonsense")), RUBRIC)


def test_labels_by_annotator_are_in_order_of_name_without_skips():
    found = labels_by_annotator(said(("bo", "1", A), ("ann", "1", B), ("ann", "2", None)), RUBRIC)
    assert list(found.items()) == [("ann", {"1": B}), ("bo", {"1": A})]


def test_a_corrected_label_counts_once_and_as_corrected(builder):
    """Repeated labels of one rater have made a published kappa exceed 1."""
    builder.turns(2)
    builder.sample()
    first, second = builder.items
    builder.label("ann", {first: A, second: A})
    builder.label("ann", {first: B})
    found = reference_labels(current_annotations(builder.labels, "v3"), RUBRIC)
    assert found.labels == {first: B, second: A}
