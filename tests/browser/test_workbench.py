"""The owner's loop in the browser: from a cell to a cause, a rubric, a run, an A/B, an export."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect
from scripted_labels import label_by_script, labels_by_turn
from stub_http import Answer
from stub_server import StubServer, any_verdict, completion, turn_of, verdict
from workbench_page import choose, go, settled

from annotator.labels import open_labels
from generation.study import Study
from judge.calibration.causes.cause_store import current_notes, note_cause
from judge.calibration.splits.opening import openings
from judge.prompts.prompt_template import PACKAGED
from judge.store import JudgmentStore, open_pipeline
from rubrics import load_rubric

pytestmark = pytest.mark.browser
BIN = Path(sys.executable).parent
SERVE = (BIN / "calibrate", "serve")
RULE = "A turn that a test has marked is what the mark says."
INTENT = "the rubric is chosen, this is its test"


def run(folder: Path, *command: str) -> str:
    done = subprocess.run(
        [BIN / command[0], *command[1:]], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """The example with 60 items labelled by two scripts, judged by the baseline and a model.

    The model follows people only where its prompt holds RULE.
    """
    folder = tmp_path_factory.mktemp("workbench")
    run(folder, "generate", "example")
    run(folder, "judge")
    run(folder, "calibrate", "sample", "--n", "60", "--repeats", "0")
    labels = folder / "study" / "labels.db"
    for annotator in ("script a", "script b"):
        label_by_script(labels, load_rubric("v3"), annotator, slips=0.15)
    known = labels_by_turn(labels)

    def behave(request):
        body = request.body
        if not turn_of(body):  # asked to revise a prompt
            revised = PACKAGED.text.replace("# Categories", f"{RULE}\n\n# Categories", 1)
            return Answer(body=completion(f"<template>\n{revised}</template>"))
        label = known.get(turn_of(body))
        if label is None or RULE not in body["messages"][0]["content"]:
            return any_verdict(request)
        return Answer(body=completion(verdict(label), usage=(10, 0, 5)))

    with StubServer(behave) as stub:
        run(folder, "calibrate", "split")
        run(folder, "judge", "--on", "dev", "--model", "stub", "--base-url", stub.url)
        yield folder, stub


@pytest.fixture(scope="module")
def bench_url(judged, server_of_module):
    folder, stub = judged
    return server_of_module(folder / "study", command=SERVE, port=7970, OPENAI_BASE_URL=stub.url)


def calibrated(folder: Path, *options: str) -> dict:
    return json.loads(run(folder, "calibrate", *options, "--json"))


def test_the_whole_loop(judged, bench_url, new_page):
    folder, stub = judged
    page = new_page(bench_url)
    settled(page)

    # A cell of the matrix, and the items in it.
    go(page, "Who said what")
    choose(page, "judge", "stub")
    cell = page.locator(".matrix .cell:not(.agrees) a").first
    count = int(re.match(r"\d+", cell.inner_text())[0])
    cell.click()
    settled(page)
    expect(page.locator(".step .where")).to_contain_text(f"1 of {count}")

    # Five disagreements noted by keyboard alone.
    go(page, "Disagreements")
    noted = []
    for key in "12412":
        noted.append(page.locator(".step code").inner_text())
        page.keyboard.press(key)
        page.keyboard.press("Enter")
        expect(page.locator(".bench .status")).to_contain_text("Noted: ")
        page.keyboard.press("n")
        expect(page.locator(".step code")).not_to_have_text(noted[-1])
    expect(page.get_by_text("Noted: 5 of")).to_be_visible()
    heading = page.locator(".view h1 small").inner_text()
    assert "stub" in heading
    with open_pipeline(folder / "study" / "pipeline.db") as database:
        judge_id = next(r["judge_id"] for r in database["judges"].rows if r["model"] == "stub")
        found = current_notes(database, judge_id)
    assert sorted(found) == sorted(noted)
    assert sorted(note.causes for note in found.values()) == sorted(
        [("judge error",)] * 2 + [("rubric gap",)] * 2 + [("truly ambiguous",)]
    )

    # A rubric of one's own: what does not validate says so and stays typed.
    go(page, "Write")
    page.get_by_role("link", name="Rubric").click()
    settled(page)
    source = page.locator("textarea[name=text]")
    old = source.input_value()
    broken = old.replace('key = "2"', 'key = "1"').replace('version = "v3"', 'version = "v4"')
    source.fill(broken)
    expect(page.get_by_role("alert")).to_contain_text("duplicate key 1")
    page.get_by_role("button", name="Save as a new version").click()
    expect(page.locator(".bench .status.refused")).to_contain_text("duplicate key 1")
    assert source.input_value() == broken
    mended = old.replace('version = "v3"', 'version = "v4"').replace(
        "decision_rules = [", f'decision_rules = [\n  "{RULE}",', 1
    )
    source.fill(mended)
    expect(page.locator(".diff .added").first).to_contain_text("v4")
    expect(page.get_by_text("It makes a prompt of about")).to_be_visible()
    page.get_by_role("button", name="Save as a new version").click()
    expect(page.locator(".view h1")).to_have_text("Run a judge on dev")
    assert Study(folder / "study").rubric("v4").text == mended

    # Its run on dev, after an estimate.
    settled(page)
    assert page.locator("select[name=rubric]").input_value() == "v4"
    page.locator("input[name=model]").fill("stub")
    page.get_by_role("button", name="What would it take?").click()
    expect(page.locator(".bench .status")).to_contain_text("verdicts to be had of stub")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator(".launch .state").first).to_have_text("done", timeout=60_000)
    expect(page.locator(".launch .matrix")).to_contain_text("genuine followup")

    # The A/B against the old rubric: all numbers are the command's.
    page.get_by_role("link", name="A/B against another").first.click()
    settled(page)
    choose(page, "judge", "v3", "stub")
    expect(page.locator(".verdict-words").first).to_contain_text("is better")
    compared = json.loads(
        run(
            folder,
            "calibrate",
            "compare",
            "--rubric",
            "v3",
            "--rubric",
            "v4",
            "--judge",
            "stub",
            "--json",
        )
    )
    (challenger,) = compared["challengers"]
    row = page.locator("tr", has_text="kappa, labels").inner_text()
    assert f"{compared['baseline']['kappa']['labels']['value']:.3f}" in row
    assert f"{challenger['kappa']['labels']['value']:.3f}" in row
    assert f"{challenger['difference']['labels']['value']:+.3f}" in row
    fixed, broken = challenger["items"]["fixed"], challenger["items"]["broken"]
    assert fixed
    expect(
        page.get_by_text(f"Items fixed ({len(fixed)}) and broken ({len(broken)})")
    ).to_be_visible()
    page.locator(".changed a").first.click()
    settled(page)
    assert page.locator(".step code").inner_text() == fixed[0]["item_id"]

    # People label under the new rubric, then its test half is opened, once, and exported.
    for annotator in ("script a", "script b"):
        label_by_script(
            folder / "study" / "labels.db",
            load_rubric("v4", folder / "study" / "rubrics"),
            annotator,
            slips=0.15,
        )
    run(folder, "judge", "--model", "stub", "--base-url", stub.url, "--rubric", "v4")
    go(page, "Test and export")
    choose(page, "judge", "v4")
    page.get_by_role("button", name="Open the test half").click()
    expect(page.locator(".bench .status.refused")).to_contain_text("expected a sentence")
    page.locator("textarea[name=intent]").fill(INTENT)
    page.get_by_role("button", name="Open the test half").click()
    expect(page.locator(".bench .status")).to_contain_text("opened for the 1. time")
    with open_pipeline(folder / "study" / "pipeline.db") as database:
        assert [opening.intent for opening in openings(database)] == [INTENT]
    expect(page.get_by_text(f"stub: {INTENT}")).to_be_visible()
    page.get_by_role("button", name="Export this calibration").click()
    expect(page.locator(".bench .status")).to_contain_text("is written")
    exported = re.search(r"exports/\S+", page.locator(".bench .status").inner_text())[0]
    calibration = json.loads((folder / exported / "calibration.json").read_text())
    assert calibration["split"]["opening"]["intent"] == INTENT
    assert (
        f"{calibration['kappa']['labels']['kappa']:.3f}"
        in page.locator(".verdict-words").inner_text()
    )
    summary = run(folder, "judge", "--prompt", exported, "--base-url", stub.url)
    assert "judged by stub under rubric v4" in summary
    page.get_by_role("button", name="Export the dev calibration").click()
    expect(page.locator(".bench .status")).to_contain_text("is written")
    again = run(folder, "calibrate", "export", "--rubric", "v4", "--judge", "stub")
    assert again.split()[0] in page.locator(".bench .status").inner_text()


def test_the_overview_shows_the_numbers_of_the_command(judged, bench_url, new_page):
    folder, _ = judged
    page = new_page(bench_url)
    settled(page)
    for model in ("lexical", "stub"):
        result = calibrated(folder, "--rubric", "v3", "--judge", model)
        row = page.locator("table.judges tr", has_text="v3 × ").filter(has_text=model).inner_text()
        sigma = result["coefficients"]["sigma"]
        for found in (result["kappa"]["labels"], result["kappa"]["sigma"]):
            assert f"{found['kappa']:.3f}" in row
            assert f"{found['interval']['low']:.2f}–{found['interval']['high']:.2f}" in row or (
                found["interval"]["low"] < 0
            )
        for name in ("sensitivity", "specificity"):
            assert f"{sigma[name]['value']:.3f}" in row
        assert f"{result['human']['ceiling']['labels']['people']['value']:.3f}" in row
        assert str(result["n"]["paired"]) in row.split()


def test_a_suggestion_opens_in_the_editor_as_a_draft(judged, bench_url, new_page):
    folder, _ = judged
    study = Study(folder / "study")
    found = calibrated(folder, "--rubric", "v3", "--judge", "stub")
    judge_id = found["judge"]["judge_id"]
    differing = [p["item_id"] for p in found["pairs"] if p["judge"] != p["reference"]]
    with open_pipeline(study.pipeline) as pipeline_db, open_labels(study.labels) as labels_db:
        judge = JudgmentStore(pipeline_db).judge(judge_id)
        noted = current_notes(pipeline_db, judge_id)
        for item_id in differing:
            if item_id not in noted:
                stores = (pipeline_db, labels_db, judge_id, judge)
                note_cause(*stores, item_id, causes=["judge error"])
    page = new_page(bench_url)
    go(page, "Suggest")
    choose(page, "judge", "v3", "stub")
    page.locator("input[name=calls]").fill("60")
    page.get_by_role("button", name="Suggest").click()
    expect(page.locator(".launch .state").first).to_have_text("done", timeout=60_000)
    page.get_by_role("button", name="Open it in the editor").click()
    expect(page.locator(".diff .added", has_text=RULE)).to_be_visible()
    assert RULE in page.locator("textarea[name=text]").input_value()
    assert page.locator("input[name=note]").input_value().startswith("GEPA from ")
    with open_pipeline(study.pipeline) as database:
        assert database["prompt_templates"].count == 0  # nothing is adopted by itself
