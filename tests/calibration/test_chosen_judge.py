"""Which of a study's judges is calibrated."""

import pytest

from judge.calibration.study_calibration import calibrate_study
from rubrics import InputError, load_rubric

A, B = load_rubric("v3").category_ids[:2]


def calibrated(builder, **options):
    return calibrate_study(builder.pipeline, builder.labels, builder.rubric, **options)


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
