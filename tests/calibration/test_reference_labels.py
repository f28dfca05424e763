"""Reference labels: several people's annotations folded to one label per item, or to none."""

import json
import re

import pytest
from calibrate_command import failed, run

from annotator.adjudication.adjudication import Adjudication, adjudicate
from annotator.annotation import Annotation, current_annotations
from annotator.reference import labels_by_annotator, reference_labels
from annotator.reference_rule import ReferenceRule
from judge.calibration.references import fold_references, references_of
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


def decided(item: str, category: str) -> Adjudication:
    return Adjudication(item, "v3", category, "why", "dee", "")


DIFFERING = said(
    ("ann", "1", A), ("bo", "1", A), ("cy", "1", A),
    ("ann", "2", A), ("bo", "2", A), ("cy", "2", B),
    ("ann", "3", A), ("bo", "3", B), ("cy", "3", None),
    ("ann", "4", None),
)  # fmt: skip


def adjudicated(*decisions: Adjudication):
    return reference_labels(
        DIFFERING, RUBRIC, rule=ReferenceRule.ADJUDICATED, adjudications=decisions
    )


def test_adjudicated_takes_decisions_and_unanimous_labels_and_leaves_the_rest_undecided():
    found = adjudicated(decided("2", C))
    assert found.labels == {"1": A, "2": C}
    assert found.undecided == {"3"}
    assert found.ties == frozenset()
    assert found.skips == {"4": "too long"}
    assert "adjudicator's decision (1 made)" in found.rule


def test_adjudication_may_overrule_everybody_and_speak_where_all_skipped():
    assert adjudicated(decided("1", B), decided("4", A)).labels == {"1": B, "4": A}
    assert adjudicated(decided("4", A)).skips == {}


def test_a_decision_on_an_item_that_nobody_annotated_counts_for_nothing():
    found = adjudicated(decided("9", A))
    assert "9" not in found.labels
    assert "(0 made)" in found.rule


def test_a_decision_for_an_unknown_category_is_refused_by_name():
    with pytest.raises(InputError, match=r"category 'nonsense' \(item 2, by dee\)"):
        adjudicated(decided("2", "nonsense"))


def test_one_annotators_labels_need_no_rule():
    with pytest.raises(InputError, match="--annotator ann with --reference adjudicated"):
        fold_references(DIFFERING, RUBRIC, ReferenceRule.ADJUDICATED, "ann")


@pytest.mark.parametrize("rule", list(ReferenceRule))
def test_every_annotated_item_is_in_exactly_one_place(rule):
    found = fold_references(DIFFERING, RUBRIC, rule, adjudications=[decided("2", C)])
    places = [found.labels.keys(), found.ties, found.undecided, found.skips.keys()]
    assert sum(map(len, places)) == 4
    assert set().union(*places) == found.annotations.keys() == {"1", "2", "3", "4"}


def test_dawid_skene_tells_a_tie_by_who_errs():
    """Ann and bo agree on everything else, cy on half of it: cy's word weighs less."""
    rows = [(who, str(i), (A, B)[i % 2]) for i in range(20) for who in ("ann", "bo")]
    rows += [("cy", str(i), (A, B)[i % 4 // 2]) for i in range(20)]
    rows += [("ann", "x", A), ("cy", "x", B), ("ann", "y", None)]
    found = fold_references(said(*rows), RUBRIC, ReferenceRule.DAWID_SKENE)
    assert found.labels["x"] == A
    assert found.skips == {"y": "too long"}
    assert found.rule == (
        "most probable label by Dawid-Skene 1979 from 3 annotators; a tie gives none"
    )
    assert fold_references(said(*rows), RUBRIC).ties == {"x"}


def test_dawid_skene_leaves_what_it_cannot_tell_a_tie():
    rows = [("ann", "1", A), ("bo", "1", B), ("ann", "2", B), ("bo", "2", A)]
    found = fold_references(said(*rows), RUBRIC, ReferenceRule.DAWID_SKENE)
    assert found.labels == {}
    assert found.ties == {"1", "2"}
    assert "two annotators' labels cannot tell" in found.rule


def test_dawid_skene_says_where_it_overrules_all_annotators_of_an_item():
    """Zed says A whatever the item is, so what only zed calls A is most likely a B."""
    rows = [(who, str(i), B) for i in range(20) for who in ("ann", "bo")]
    rows += [("zed", str(i), A) for i in range(20)]
    rows += [("zed", "x", A)]
    found = fold_references(said(*rows), RUBRIC, ReferenceRule.DAWID_SKENE)
    assert found.labels["x"] == B
    assert "1 item without the label that all its annotators gave" in found.rule


def test_dawid_skene_of_one_annotator_is_what_they_said():
    found = fold_references(said(("ann", "1", A)), RUBRIC, ReferenceRule.DAWID_SKENE)
    assert (found.labels, found.rule) == ({"1": A}, "labels of ann, the only annotator")


def test_references_of_a_study_leave_repeats_out(builder):
    builder.turns(3)
    builder.sample()
    first, second, third = builder.items
    builder.label("ann", {first: A, second: A, third: A})
    builder.label("bo", {first: B, second: A})
    adjudicate(builder.labels, RUBRIC, first, C, reason="why")
    found = references_of(
        builder.labels, RUBRIC, ReferenceRule.ADJUDICATED, repeats=frozenset({third})
    )
    assert found.labels == {first: C, second: A}
    assert references_of(builder.labels, RUBRIC, annotator=" ann ").labels[third] == A


@pytest.fixture
def judged_study(builder):
    """Nine items: three people agree but on the first, where two outvote the third."""
    builder.turns(9)
    builder.sample()
    ids = list(builder.items)
    labels = {item_id: (A, B, C)[i % 3] for i, item_id in enumerate(ids)}
    builder.label("ann", labels)
    builder.label("bo", labels)
    builder.label("cy", labels | {ids[0]: B})
    builder.judge(labels)
    return builder, ids[0]


def calibrated(builder, *options: str) -> dict:
    return json.loads(run(builder, "kappa", "--json", *options).stdout)


def test_calibrate_takes_decisions_and_counts_what_is_undecided(judged_study):
    builder, first = judged_study
    text = run(builder, "--reference", "adjudicated").stdout
    assert re.search("labelled differently, not adjudicated yet +1\n", text)
    assert "1 item to decide: annotate adjudicate" in text
    assert "judge less people" in text
    adjudicate(builder.labels, RUBRIC, first, B, reason="why")
    decided = calibrated(builder, "--reference", "adjudicated")
    assert decided["exclusions"] == []
    (pair,) = (pair for pair in decided["pairs"] if pair["item_id"] == first)
    assert (pair["reference"], pair["judge"]) == (B, A)
    assert "adjudicator's decision (1 made)" in decided["reference"]["rule"]


def test_calibrate_takes_dawid_skene_and_the_ceiling_takes_everybody(judged_study):
    builder, _ = judged_study
    found = calibrated(builder, "--reference", "dawid-skene")
    assert found["n"]["paired"] == 9
    assert "Dawid-Skene" in found["reference"]["rule"]
    human = found["human"]
    assert human["ceiling"]["items"] == 9
    assert human["ceiling"]["annotators"] == {"ann": 9, "bo": 9, "cy": 9}
    assert [of["annotator"] for of in human["without_each"]["without"]] == ["ann", "bo", "cy"]
    assert human["intra"]["repeats"] == 0


def test_one_annotator_and_a_rule_for_several_are_refused_in_one_line(judged_study):
    builder, _ = judged_study
    line = failed(run(builder, "kappa", "--annotator", "ann", "--reference", "dawid-skene"))
    assert "leave --reference out" in line
