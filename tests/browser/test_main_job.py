"""The main job on the bundled example: label blind in the browser, calibrate, export, use it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from labelling_page import label, shown_turn, status

from annotator.annotation import current_annotations
from annotator.labels import open_labels
from rubrics import load_rubric

pytestmark = pytest.mark.browser
BIN = Path(sys.executable).parent


def run(command: str, *arguments, cwd: Path) -> subprocess.CompletedProcess:
    return subprocess.run(
        [BIN / command, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, check=False
    )


def succeed(command: str, *arguments, cwd: Path) -> str:
    done = run(command, *arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def example_folder(tmp_path):
    """A working folder with ./study as `make demo` makes it."""
    succeed("generate", "example", cwd=tmp_path)
    succeed("judge", cwd=tmp_path)
    succeed("calibrate", "sample", cwd=tmp_path)
    return tmp_path


def test_from_labels_by_keyboard_to_kappa_and_export(example_folder, serve, new_page):
    keys = "1243567142"
    with serve(example_folder / "study", "--annotator", "ann") as server:
        page = new_page(server.url)
        shown_turn(page)
        for key in keys:
            label(page, key)
        page.get_by_label("Skip because").select_option("Two categories fit equally well")
        page.get_by_label("Skip because").press("s")
        status(page, "Saved (receipt 11)")
        page.keyboard.press("b")
        page.locator(".saved", has_text="skipped").wait_for()
        page.keyboard.press("b")
        page.locator(".saved", has_text="Repeats the user").wait_for()
        label(page, "5")
        status(page, "Saved (receipt 12)")
        here = shown_turn(page)
        page.reload()
        assert shown_turn(page) == here
        assert page.locator(".bar .tally").inner_text().startswith("11 of ")

        result = json.loads(succeed("calibrate", "--rubric", "v3", "--json", cwd=example_folder))

    saved = current_annotations(open_labels(example_folder / "study" / "labels.db"), "v3")
    labelled = {event.item_id: event.category for event in saved if event.kind == "label"}
    assert {pair["item_id"]: pair["reference"] for pair in result["pairs"]} == labelled
    by_key = {category.key: category.id for category in load_rubric("v3").categories}
    assert sorted(labelled.values()) == sorted(by_key[key] for key in keys[:-1] + "5")
    assert result["n"]["paired"] == 10
    assert {e["reason"]: e["count"] for e in result["exclusions"]}[
        "skipped: Two categories fit equally well"
    ] == 1

    terminal = succeed("calibrate", "--rubric", "v3", cwd=example_folder)
    assert "kappa" in terminal
    assert max(map(len, terminal.splitlines())) <= 100

    exported = succeed("calibrate", "export", "--rubric", "v3", cwd=example_folder).split()[0]
    folder = example_folder / exported
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    succeed("calibrate", "export", "--rubric", "v3", cwd=example_folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert "0 items judged" in succeed("judge", "--prompt", folder, cwd=example_folder)
    (folder / "rubric.toml").write_text("changed")
    refused = run("judge", "--prompt", folder, cwd=example_folder)
    assert refused.returncode == 1
    assert "rubric.toml" in refused.stderr
