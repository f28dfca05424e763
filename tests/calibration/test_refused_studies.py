"""Studies without anything to compare, and those whose labels and judgments cannot be compared."""

import pytest

from judge.calibration.study_calibration import calibrate_study
from rubrics import InputError, load_rubric, parse_rubric

V3 = load_rubric("v3")
A, B = V3.category_ids[:2]


def calibrated(builder, **options):
    return calibrate_study(builder.pipeline, builder.labels, builder.rubric, **options)


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
