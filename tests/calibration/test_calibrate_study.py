"""From the two stores to one result: the numbers, the sums, and what is refused."""

import json
import re

import numpy as np
import pytest

from annotator.labels import open_labels
from judge.calibration.agreement import table_agreement
from judge.calibration.calibration import calibrate_study
from judge.store import open_pipeline
from rubrics import InputError, load_rubric, parse_rubric

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
    assert [s.f1 for s in found.label_scores[:3]] == pytest.approx([0.80, 2 / 3, 0.40])
    assert found.label_scores[6].undefined.keys() == {"precision", "recall", "f1"}


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


def test_the_newest_judge_is_calibrated_and_others_named(builder):
    builder.turns(4)
    builder.sample()
    ids = list(builder.items)
    builder.label("ann", dict(zip(ids, [A, B, A, B], strict=True)))
    first = builder.judge(dict.fromkeys(ids, A), model="first")
    second = builder.judge({ids[0]: A}, model="second")
    assert calibrated(builder).judge_id == second
    builder.judge({}, model="never ran")
    assert calibrated(builder).judge_id == second
    assert calibrated(builder, judge="first").judge_id == first
    assert calibrated(builder, judge=first[7:15]).judge_id == first
    assert [j.judge.model for j in calibrated(builder, judge=first).other_judges] == [
        "never ran", "second",
    ]  # fmt: skip


def test_an_ambiguous_or_unknown_judge_is_refused_with_a_list(builder):
    builder.turns(2)
    builder.sample()
    ids = list(builder.items)
    builder.label("ann", dict(zip(ids, [A, B], strict=True)))
    cold = builder.judge(dict.fromkeys(ids, A), model="m", temperature=0)
    warm = builder.judge(dict.fromkeys(ids, A), model="m", temperature=1)
    with pytest.raises(InputError, match=r"2 judges fit 'm'") as caught:
        calibrated(builder, judge="m")
    assert cold[7:15] in str(caught.value)
    assert warm[7:15] in str(caught.value)
    for unknown in ("other", "", "zz"):
        with pytest.raises(InputError, match=f"no judge fits '{unknown}'"):
            calibrated(builder, judge=unknown)


def test_a_tampered_text_is_left_out(small_study):
    small_study.labels.execute(
        "UPDATE items SET answer = 'other' WHERE item_id = ?", [next(iter(small_study.items))]
    )
    found = calibrated(small_study)
    assert found.n == 39
    assert [(e.reason, e.count) for e in found.exclusions] == [
        ("text differs from what was sampled", 1)
    ]


def test_nothing_labelled(builder):
    builder.turns(3)
    builder.sample()
    builder.judge(dict.fromkeys(builder.items, A))
    with pytest.raises(InputError, match="no item is labelled under rubric v3 yet; label some: "):
        calibrated(builder)


def test_labels_under_another_version_only(builder):
    builder.turns(3)
    builder.sample()
    builder.label("ann", dict.fromkeys(builder.items, A), rubric=load_rubric("v2"))
    builder.judge(dict.fromkeys(builder.items, A))
    with pytest.raises(InputError, match=r"under rubric v3 yet \(labels left out: 3 under v2\)"):
        calibrated(builder)


def test_only_skips(builder):
    builder.turns(3)
    builder.sample()
    builder.label("ann", dict.fromkeys(builder.items, "skip: too long"))
    builder.judge(dict.fromkeys(builder.items, A))
    with pytest.raises(InputError, match="no item is labelled under rubric v3"):
        calibrated(builder)


def test_nothing_judged(builder):
    builder.turns(3)
    builder.sample()
    builder.label("ann", dict.fromkeys(builder.items, A))
    with pytest.raises(InputError, match="nothing is judged under rubric v3 yet; run: judge"):
        calibrated(builder)


def test_nothing_in_common(builder):
    builder.turns(4)
    builder.sample()
    ids = list(builder.items)
    builder.label("ann", dict.fromkeys(ids[:2], A))
    builder.judge(dict.fromkeys(ids[2:], A))
    message = "none of 4 items .*: 2 labelled but not judged, 2 not labelled yet"
    with pytest.raises(InputError, match=message):
        calibrated(builder)


def test_one_class_is_undefined_not_perfect(builder):
    builder.from_pairs([(A, A)] * 5)
    found = calibrated(builder)
    assert found.kappas.labels.value is None
    written = found.as_dict()["kappa"]["labels"]
    assert written["kappa"] is None
    assert written["undefined"].startswith("one class")
    assert written["observed"] == 1
    assert found.more_labels == 96


def test_a_category_that_the_rubric_lacks_is_refused(builder):
    builder.turns(2)
    builder.sample()
    first, second = builder.items
    builder.label("ann", {first: A, second: "nonsense"})
    builder.judge(dict.fromkeys(builder.items, A))
    with pytest.raises(InputError, match="'nonsense'"):
        calibrated(builder)


def test_labels_made_under_a_changed_text_are_refused(builder):
    builder.turns(2)
    builder.sample()
    changed = parse_rubric(V3.text.replace("chat", "talk"), source="x")
    builder.label("ann", dict.fromkeys(builder.items, A), rubric=changed)
    builder.judge(dict.fromkeys(builder.items, A))
    with pytest.raises(InputError, match="rubric v3 is not one text but several"):
        calibrated(builder)


def test_judgments_made_under_a_changed_text_are_refused(builder):
    builder.turns(2)
    builder.sample()
    changed = parse_rubric(V3.text.replace("chat", "talk"), source="x")
    assert changed.hash != V3.hash
    builder.label("ann", dict.fromkeys(builder.items, A))
    builder.judge(dict.fromkeys(builder.items, A), rubric=changed)
    with pytest.raises(InputError, match="that judge-a judged under"):
        calibrated(builder)
