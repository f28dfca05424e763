"""A judge is not tested on the items that its prompt shows to it with people's labels."""

import json
from dataclasses import replace

import pytest
from calibrate_command import failed, run

from judge.calibration.authoring import Change, new_template
from judge.calibration.report.html_report import render_report
from judge.calibration.study_calibration import calibrate_study
from judge.exported import load_export
from judge.prompts.prompt_template import PromptTemplate
from judge.prompts.template_store import TemplateStore
from rubrics import load_rubric

LABELS = load_rubric("v3").category_ids
REASON = "shown to the judge as an example"
SHOTS = 6


def calibrated(builder, **options):
    return calibrate_study(builder.pipeline, builder.labels, builder.rubric, **options)


@pytest.fixture
def labelled(builder):
    """Sixty items, all labelled by a script in turn with the first three categories."""
    builder.turns(60)
    builder.sample()
    builder.label("script", {i: LABELS[k % 3] for k, i in enumerate(builder.items)})
    return builder


@pytest.fixture
def strict(labelled) -> PromptTemplate:
    return new_template(labelled.study, "strict", Change("six examples", shots=SHOTS))


def judge_by_heart(builder, template: PromptTemplate, **options) -> str:
    """A judge that knows the shots' labels and says one label of everything else."""
    known = {shot.item: shot.label for shot in template.shots}
    verdicts = {i: known.get(item, LABELS[0]) for i, item in builder.items.items()}
    return builder.judge(verdicts, template=template, **options)


def test_the_shots_are_left_out_of_what_is_compared(labelled, strict):
    judge_by_heart(labelled, strict)
    found = calibrated(labelled)
    assert [(e.reason, e.count) for e in found.exclusions] == [(REASON, SHOTS)]
    assert (found.n, found.pairing.items) == (60 - SHOTS, 60)
    shown = {shot.item.hash for shot in strict.shots}
    assert not shown & {pair.item.hash for pair in found.pairing.pairs}
    assert found.kappas.labels.value == 0  # one label of everything is chance


def test_of_several_runs_too(labelled, strict):
    for run_index in range(2):
        judge_by_heart(labelled, strict, run_index=run_index)
    assert calibrated(labelled).pairing.excluded(REASON) == SHOTS


def test_text_json_page_and_export_say_so(labelled, strict, tmp_path):
    judge_by_heart(labelled, strict)
    lines = [line.split() for line in run(labelled).stdout.splitlines()]
    assert [*REASON.split(), str(SHOTS)] in lines
    found = json.loads(run(labelled, "--json").stdout)
    assert {"reason": REASON, "count": SHOTS} in found["exclusions"]
    assert found["n"]["excluded"] == SHOTS
    page = render_report(calibrated(labelled))
    assert f'<th scope="row">{REASON}</th><td>{SHOTS}</td>' in page
    assert run(labelled, "export", "--output", str(tmp_path / "out")).exit_code == 0
    (folder,) = (tmp_path / "out").iterdir()
    anchors = {anchor.item.hash for anchor in load_export(folder).anchors}
    assert not anchors & {shot.item.hash for shot in strict.shots}


def test_each_version_shows_its_own(labelled, strict):
    few = replace(strict, version=2, shots=strict.shots[:2])
    TemplateStore(labelled.pipeline).put(few)
    old = judge_by_heart(labelled, strict)
    new = judge_by_heart(labelled, few)
    assert calibrated(labelled, judge=old[7:]).pairing.excluded(REASON) == SHOTS
    assert calibrated(labelled, judge=new[7:]).pairing.excluded(REASON) == 2


def test_a_judge_that_was_shown_nothing_is_tested_on_all(labelled, strict):
    judge_by_heart(labelled, strict, model="shown")
    labelled.judge(dict.fromkeys(labelled.items, LABELS[0]), model="unshown")
    assert calibrated(labelled, judge="unshown").n == 60


def test_a_template_unknown_to_the_study_shows_nothing(labelled, strict):
    """As after judging with an export of another study."""
    judge_by_heart(labelled, replace(strict, name="elsewhere"))
    assert calibrated(labelled).n == 60


def test_a_shown_item_is_counted_once_whoever_labelled_it(labelled, strict):
    """Under one annotator's labels the others' items are unlabelled, the shown ones are not."""
    judge_by_heart(labelled, strict)
    first = next(i for i, item in labelled.items.items() if item != strict.shots[0].item)
    labelled.label("bo", {first: LABELS[1]})
    found = calibrated(labelled, annotator="bo")
    counts = {e.reason: e.count for e in found.exclusions}
    assert counts.pop(REASON) == SHOTS
    assert found.n + sum(counts.values()) == 60 - SHOTS


def test_where_nothing_but_examples_is_labelled_it_says_so(builder):
    builder.turns(60)
    builder.sample()
    builder.label("script", dict.fromkeys(list(builder.items)[:20], LABELS[0]))
    template = new_template(builder.study, "all", Change("all there are", shots=2))
    builder.label("script", {i: "skip: unsure" for i in list(builder.items)[:20]})
    judge_by_heart(builder, template)
    shown = {shot.item for shot in template.shots}
    builder.label("script", {i: LABELS[0] for i, item in builder.items.items() if item in shown})
    reasons = f"40 not labelled yet, 18 skipped: unsure, 2 {REASON}"
    assert f"none of 60 items can be compared: {reasons}\n" in failed(run(builder))
