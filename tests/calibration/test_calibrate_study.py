"""From the two stores to one result: the numbers and the sums."""

import json
import re

import numpy as np
import pytest

from annotator.labels import open_labels
from annotator.measures.agreement import table_agreement
from judge.calibration.study_calibration import calibrate_study
from judge.store import open_pipeline
from rubrics import load_rubric

V3 = load_rubric("v3")
LABELS = V3.category_ids
A, B, C = LABELS[:3]


def calibrated(builder, **options):
    return calibrate_study(builder.pipeline, builder.labels, builder.rubric, **options)


def test_counts_by_hand(small_study):
    """See the fixture: 30 of 40 agree, 2 verdicts are unreadable."""
    found = calibrated(small_study)
    assert found.n == 40
    assert found.kappas.labels.agreement.observed == 0.75
    assert found.kappas.parseable.agreement.n == 38
    assert found.kappas.parseable.agreement.observed == pytest.approx(30 / 38)
    assert found.invalid == {"no label found": 2}
    assert len(found.disagreements) == 10
    assert found.confusion.table[:, 7].tolist() == [1, 1, 0, 0, 0, 0, 0]
    assert found.sigma_confusion.table.sum() == 40
    assert found.confusion.table[0].sum() == found.sigma_confusion.table[0].sum()


def test_sigma_is_the_genuine_follow_up_against_the_rest(builder):
    builder.from_pairs([(A, A)] * 4 + [(A, B)] * 2 + [(B, A)] + [(B, C)] * 5 + [(C, None)] * 3)
    found = calibrated(builder)
    assert found.sigma_confusion.counts == ((4, 2, 0), (1, 5, 3))
    expected = table_agreement(np.array([[4, 2, 0], [1, 5, 3]]))
    assert found.kappas.sigma.agreement == expected


def test_kappa_is_that_of_a_published_table(builder):
    """Cohen 1960 p45 through the stores: .491525, FCE standard error .051002."""
    table = [[88, 14, 18], [10, 40, 10], [2, 6, 12]]
    builder.from_pairs(
        (LABELS[i], LABELS[j]) for i in range(3) for j in range(3) for _ in range(table[i][j])
    )
    found = calibrated(builder)
    assert found.n == 200
    assert found.kappas.labels.value == pytest.approx(0.491525, abs=5e-7)
    assert found.kappas.labels.agreement.standard_error == pytest.approx(0.051002, abs=5e-7)
    assert found.kappas.parseable == found.kappas.labels
    assert [s.f1.value for s in found.label_scores[:3]] == pytest.approx([0.80, 2 / 3, 0.40])
    assert found.label_scores[6].undefined.keys() == {"precision", "recall", "f1", "kappa"}


def test_every_sum_adds_up(builder):
    builder.turns(30)
    builder.sample(24)
    ids = list(builder.items)
    builder.label("ann", {i: LABELS[k % 7] for k, i in enumerate(ids[:16])})
    builder.label("bo", {i: LABELS[k % 5] for k, i in enumerate(ids[:10])})
    builder.label("ann", {ids[16]: "skip: too long"})
    builder.label("ann", {i: A for i in ids[15:20]}, rubric=load_rubric("v2"))
    builder.judge({i: LABELS[k % 7] for k, i in enumerate(ids[:14])})
    found = calibrated(builder)
    n = found.as_dict()["n"]
    assert n["items"] == 24 == n["paired"] + n["excluded"]
    assert n["paired"] == found.n == found.confusion.n == found.sigma_confusion.n
    assert sum(s.support for s in found.label_scores) == found.n
    assert {(e.reason, e.count) for e in found.exclusions} == {
        ("annotators tie", 5),
        ("labelled but not judged", 2),
        ("skipped: too long", 1),
        ("labelled under another rubric version only", 3),
        ("not labelled yet", 4),
    }
    assert found.other_labels == {"v2": 5}
    assert found.annotators == {"ann": 16, "bo": 10}
    assert found.human.pairs[0].kappa.agreement.n == 10


def test_human_agreement_with_three_people(builder):
    builder.turns(12)
    builder.sample()
    ids = list(builder.items)
    builder.label("ann", {i: LABELS[k % 3] for k, i in enumerate(ids)})
    builder.label("bo", {i: LABELS[k % 3] for k, i in enumerate(ids[:8])})
    builder.label("cy", {ids[11]: A})
    builder.judge({i: A for i in ids})
    human = calibrated(builder).human
    by_name = {(p.first, p.second): p.kappa for p in human.pairs}
    assert by_name["ann", "bo"].value == 1
    assert "Wilson" in by_name["ann", "bo"].interval.method
    assert by_name["bo", "cy"].agreement.undefined == "no items"
    assert human.alpha.items == 9
    assert human.alpha.value == pytest.approx(1 - 17 * 2 / (18**2 - 7**2 - 6**2 - 5**2))


def test_items_of_one_conversation_are_resampled_together(builder):
    builder.add([f"Why {k}?" for k in range(40)], per_question=2)
    builder.sample()
    ids = sorted(builder.items, key=lambda i: builder.items[i].messages[0].content)
    for name in ("ann", "bo", "cy"):
        builder.label(name, {i: LABELS[k // 2 % 3] for k, i in enumerate(ids)})
    builder.label("cy", dict.fromkeys(ids[:10], C))
    builder.judge({i: A if 8 <= k < 20 else LABELS[k // 2 % 3] for k, i in enumerate(ids)})
    found = calibrated(builder)
    assert (found.n, found.conversations) == (40, 20)
    assert found.as_dict()["n"]["conversations"] == 20
    assert len({pair["conversation"] for pair in found.as_dict()["pairs"]}) == 20
    for kappa in (found.kappas.labels, found.human.pairs[1].kappa):
        assert (kappa.agreement.n, kappa.conversations) == (40, 20)
        expected = kappa.agreement.standard_error * (2 * 20 / 19) ** 0.5  # items come in equals
        assert kappa.standard_error == pytest.approx(expected)
    assert (found.human.alpha.items, found.human.alpha.conversations) == (40, 20)
    assert found.human.alpha.interval.low < found.human.alpha.value


def test_what_people_said_goes_with_each_pair(builder):
    builder.turns(4)
    builder.sample()
    one, two, three, four = builder.items
    builder.label("ann", {one: A, two: B, three: A})
    builder.label("ann", {four: "skip: too long"}, flagged=True)
    builder.label("bo", {one: A}, confidence="sure", note="Why so?", flagged=True)
    builder.label("bo", {three: B})
    builder.judge(dict.fromkeys((one, two, three, four), A))
    found = calibrated(builder).as_dict(texts=True)
    assert found["reference"]["items_by_labels"] == {"1": 1, "2": 1}
    assert (found["reference"]["ties"], found["reference"]["flagged"]) == (1, 2)
    said = {"category": A, "skip_reason": None, "confidence": None, "flagged": False, "note": ""}
    assert {pair["item_id"]: pair["annotations"] for pair in found["pairs"]}[one] == [
        {"annotator": "ann"} | said,
        {"annotator": "bo"} | said | {"confidence": "sure", "note": "Why so?", "flagged": True},
    ]
    assert "Why so?" not in json.dumps(calibrated(builder).as_dict())


def test_one_annotator_as_the_reference(builder):
    builder.turns(6)
    builder.sample()
    ids = list(builder.items)
    builder.label("ann", dict.fromkeys(ids, A))
    builder.label("bo", dict(zip(ids, [A, B] * 3, strict=True)))
    builder.judge(dict(zip(ids, [A, B] * 3, strict=True)))
    assert calibrated(builder, annotator="bo").kappas.labels.value == 1
    assert calibrated(builder).n == 3
    alone = calibrated(builder, annotator="ann")
    assert alone.kappas.labels.value == 0
    assert alone.human == calibrated(builder).human


def test_json_is_valid_and_identical_when_run_again(small_study):
    first = json.dumps(calibrated(small_study).as_dict(texts=True), allow_nan=False)
    again = calibrate_study(
        open_pipeline(small_study.study.pipeline), open_labels(small_study.study.labels), V3
    )
    assert json.dumps(again.as_dict(texts=True), allow_nan=False) == first
    assert not re.search(r"20\d\d-\d\d-\d\dT", first)  # no clock in it


def test_as_dict_holds_no_text_of_the_study_unless_asked(small_study):
    plain, full = (json.dumps(calibrated(small_study).as_dict(texts=t)) for t in (False, True))
    assert "Why " not in plain
    assert "Because." not in plain
    assert "Why " in full
    assert "Because." in full


def test_a_seed_moves_the_interval_and_never_the_estimate(small_study):
    one, other = calibrated(small_study, seed=1), calibrated(small_study, seed=2)
    assert one.kappas.labels.agreement == other.kappas.labels.agreement
    assert one.kappas.labels.interval != other.kappas.labels.interval


def test_a_tampered_text_is_left_out(small_study):
    small_study.labels.execute(
        "UPDATE items SET answer = 'other' WHERE item_id = ?", [next(iter(small_study.items))]
    )
    found = calibrated(small_study)
    assert found.n == 39
    assert [(e.reason, e.count) for e in found.exclusions] == [
        ("text differs from what was sampled", 1)
    ]


def test_one_class_is_undefined_not_perfect(builder):
    builder.from_pairs([(A, A)] * 5)
    found = calibrated(builder)
    assert found.kappas.labels.value is None
    written = found.as_dict()["kappa"]["labels"]
    assert written["kappa"] is None
    assert written["undefined"].startswith("one class")
    assert written["observed"] == 1
    assert found.more_labels == 96
