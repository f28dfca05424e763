"""Exports: a folder that comes back whole or not at all, and what judging with it means."""

import json
from typing import Any

import pytest
from written_export import Calibrated, write_export

from generation.item import Item, Message
from judge.calibration.export import LEXICAL_NOTE, export_calibration
from judge.exported import FORMAT, export_hash, file_json, load_export
from judge.judge import Judge
from judge.lexical.baseline import lexical_parameters
from judge.prompts.prompt import render_prompt
from judge.reading import Reading
from judge.server.parameters import wanted_parameters
from judge.store import JudgmentStore, open_pipeline
from rubrics import InputError, bytes_fingerprint, fingerprint, load_rubric

FILES = ["anchors.jsonl", "calibration.json", "manifest.json", "prompt.md", "rubric.toml"]
ITEMS = 8
CHAT = wanted_parameters(max_tokens=1024).values


@pytest.fixture
def prompt():
    return render_prompt(load_rubric("v3"))


@pytest.fixture
def export(study, prompt, tmp_path):
    """Exports a judge of the study; returns the folder."""

    def make(model: str = "org/model-1", parameters: dict | None = None, **changes: Any):
        judge = Judge(model, parameters or CHAT, "v3", prompt.prompt_hash)
        return write_export(study, judge, prompt, tmp_path / "exports", **changes)

    return make


@pytest.fixture
def lexical_export(export):
    return export("lexical", lexical_parameters())


def contents(folder) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_round_trip(export, prompt):
    folder = export()
    assert sorted(contents(folder)) == FILES
    loaded = load_export(folder)
    assert loaded.judge == Judge("org/model-1", CHAT, "v3", prompt.prompt_hash)
    assert loaded.prompt == prompt
    assert loaded.rubric == load_rubric("v3")
    assert loaded.judge.reads_prompt
    assert json.loads((folder / "calibration.json").read_text())["kappa"]["value"] == 0.726


def rewritten(folder, changes: dict[str, bytes | None], **fields: Any):
    """The folder as a program that keeps the hashes right would have changed it."""
    for name, content in changes.items():
        (folder / name).unlink() if content is None else (folder / name).write_bytes(content)
    manifest = json.loads((folder / "manifest.json").read_text()) | fields
    manifest = {key: value for key, value in manifest.items() if value != "absent"}
    manifest["files"] = {
        name: bytes_fingerprint(content)
        for name, content in contents(folder).items()
        if name != "manifest.json"
    }
    manifest["export_hash"] = export_hash(manifest)
    (folder / "manifest.json").write_bytes(file_json(manifest))
    return folder


def test_it_pins_how_the_runs_were_read(export):
    single = load_export(export())
    assert (single.reading, single.runs, single.flip_rate) == ("single-run", 1, None)
    # Of three runs a, a, b the pairs that differ are 2 of 3, on every item.
    folder = export(reading=Reading.MEAN, labels=("malformed", "malformed", "generic_reply"))
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["reading"] == {"name": "mean-of-runs", "runs": 3}
    assert manifest["flip_rate"] == pytest.approx(2 / 3)
    loaded = load_export(folder)
    assert (loaded.reading, loaded.runs) == (Reading.MEAN, 3)
    assert loaded.flip_rate == manifest["flip_rate"]
    assert loaded.export_hash == manifest["export_hash"]
    other = export(reading=Reading.MAJORITY, labels=("malformed", "malformed", "generic_reply"))
    assert other != folder


def test_anchors_are_fifty_items_by_fingerprint_with_every_runs_label(export):
    folder = export(reading=Reading.MEAN, labels=("malformed", None), items=60)
    items = [Item((Message("user", "a?\u2028"),), "b", f"u{k}") for k in range(60)]
    expected = sorted(items, key=lambda item: fingerprint({"anchor": item.hash}))[:50]
    anchors = load_export(folder).anchors
    assert [anchor.item for anchor in anchors] == expected
    assert {anchor.labels for anchor in anchors} == {("malformed", None)}
    first = json.loads((folder / "anchors.jsonl").read_bytes().split(b"\n")[0])
    assert first == {
        "messages": [{"role": "user", "content": "a?\u2028"}],
        "answer": "b",
        "turn": expected[0].turn,
        "labels": ["malformed", None],
    }
    assert len(load_export(export()).anchors) == 3


def test_a_format_1_folder_still_loads(export):
    folder = rewritten(
        export(), {"anchors.jsonl": None}, format=1, reading="absent", flip_rate="absent"
    )
    manifest = json.loads((folder / "manifest.json").read_text())
    assert set(manifest) == {"format", "files", "reads_prompt", "judge", "export_hash"}
    loaded = load_export(folder)
    assert (loaded.reading, loaded.runs, loaded.anchors) == (Reading.SINGLE, 1, ())
    assert loaded.flip_rate is None
    assert loaded.export_hash == manifest["export_hash"]
    (folder / "anchors.jsonl").write_bytes(b"")
    with pytest.raises(InputError, match=r"anchors.jsonl does not belong to the export"):
        load_export(folder)


def test_a_folder_of_format_2_cannot_pass_without_its_anchors(export):
    folder = rewritten(export(), {"anchors.jsonl": None})
    with pytest.raises(InputError, match=r"anchors.jsonl is missing"):
        load_export(folder)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"{}\n", "line 1 is no anchor"),
        (b"\n", "line 1 is no anchor"),
        (b"\xff\n", "line 1 is no anchor"),
        (b'{"answer":"a","labels":[],"messages":[],"turn":"u"}\n', "line 1 is no anchor"),
        (
            b'{"answer":"a","labels":["x"],"messages":[{"role":"user","content":"q"}],"turn":"u"}\n',
            "an anchor has the labels ['x']; expected 1 of rubric v3 or null",
        ),
        (
            b'{"answer":"a","labels":[null,null],"messages":[{"role":"user","content":"q"}],'
            b'"turn":"u"}\n',
            "an anchor has the labels [None, None]; expected 1 of rubric v3 or null",
        ),
    ],
)
def test_anchors_that_are_none_are_refused_by_name(export, content, found):
    folder = rewritten(export(), {"anchors.jsonl": content})
    with pytest.raises(InputError) as caught:
        load_export(folder)
    assert str(caught.value).startswith(f"{folder / 'anchors.jsonl'}: {found}")


@pytest.mark.parametrize("number", [0, -1, "1", None, 1.5])
def test_a_format_that_never_was_is_refused(export, number):
    folder = rewritten(export(), {}, format=number)
    with pytest.raises(InputError, match=r"manifest.json was changed"):
        load_export(folder)


def test_an_unknown_reading_is_refused(export):
    folder = rewritten(export(), {}, reading={"name": "best-of-runs", "runs": 1})
    with pytest.raises(InputError, match="unknown reading 'best-of-runs'; expected one of single"):
        load_export(folder)


def test_name_says_rubric_judge_and_content(export):
    folder = export()
    digest = json.loads((folder / "manifest.json").read_text())["export_hash"]
    assert folder.name == f"v3-org-model-1-{digest.removeprefix('sha256:')[:8]}"
    assert export(kappa=0.5) != folder


@pytest.mark.parametrize("model", ["../../etc/x", "a\\b:c*?", "🤖", ".", "x" * 300, "-rf"])
def test_any_model_name_makes_a_folder_inside_the_output(export, tmp_path, model):
    folder = export(model)
    assert folder.parent == tmp_path / "exports"
    assert load_export(folder).judge.model == model


def test_exporting_again_changes_nothing_and_says_so(study, prompt, tmp_path, capsys):
    database = open_pipeline(study.pipeline)
    judge_id = JudgmentStore(database).add_judge(Judge("m", CHAT, "v3", prompt.prompt_hash), prompt)

    def make():
        return export_calibration(database, Calibrated(judge_id), tmp_path / "exports")

    first = make()
    folder, before = first.folder, contents(first.folder)
    times = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    again = make()
    assert (first.new, again.new, again.folder) == (True, False, folder)
    assert contents(folder) == before
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == times
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]
    assert capsys.readouterr() == ("", ""), "printing is the command's"


def test_byte_identical_in_another_place(export, tmp_path):
    first = export()
    moved = first.rename(tmp_path / "elsewhere")
    again = export()
    assert contents(again) == contents(moved)
    assert load_export(moved).judge == load_export(again).judge
    assert all(content.endswith(b"\n") for content in contents(again).values())


@pytest.mark.parametrize("name", FILES)
def test_a_changed_file_is_named(export, name):
    folder = export()
    (folder / name).write_bytes((folder / name).read_bytes().replace(b"a", b"A", 1))
    with pytest.raises(InputError, match=rf"{name} was changed; an export is used unchanged"):
        load_export(folder)


@pytest.mark.parametrize("name", [name for name in FILES if name != "manifest.json"])
def test_a_missing_file_is_named(export, name):
    folder = export()
    (folder / name).unlink()
    with pytest.raises(InputError, match=rf"{name} is missing"):
        load_export(folder)


def test_a_missing_manifest_is_no_export(export):
    folder = export()
    (folder / "manifest.json").unlink()
    with pytest.raises(InputError, match="is no exported judge prompt"):
        load_export(folder)


@pytest.mark.parametrize("make", ["touch", "mkdir"])
def test_an_extra_file_is_named(export, make):
    folder = export()
    getattr(folder / "notes.txt", make)()
    with pytest.raises(InputError, match=r"notes.txt does not belong to the export"):
        load_export(folder)


@pytest.mark.parametrize("field", ["model", "parameters", "judge_id", "template"])
def test_an_edited_manifest_is_refused(export, field):
    folder = export()
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["judge"][field] = {} if field == "parameters" else "other"
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(InputError, match=r"manifest.json was changed"):
        load_export(folder)


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '{"export_hash": 1}', "\x00"])
def test_a_broken_manifest_is_refused(export, text):
    folder = export()
    (folder / "manifest.json").write_text(text)
    with pytest.raises(InputError, match=r"manifest.json was changed"):
        load_export(folder)


def test_a_newer_format_is_refused_with_the_way_out(export):
    folder = export()
    manifest = json.loads((folder / "manifest.json").read_text()) | {"format": FORMAT + 1}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(InputError, match="newer followupeval; upgrade"):
        load_export(folder)


@pytest.mark.parametrize("name", FILES)
def test_an_edited_folder_is_never_overwritten(export, name):
    folder = export()
    (folder / name).write_text("mine")
    with pytest.raises(InputError, match=rf"{name} is not what this export would write"):
        export()
    assert (folder / name).read_text() == "mine"


def test_nothing_half_written_stays_behind(export, tmp_path, monkeypatch):
    def full(*_arguments):
        raise OSError(28, "No space left on device", "calibration.json")

    monkeypatch.setattr("pathlib.Path.rename", full)
    with pytest.raises(InputError, match="No space left on device"):
        export()
    assert list((tmp_path / "exports").iterdir()) == []


def test_output_that_is_a_file_is_one_line(export, tmp_path):
    (tmp_path / "exports").write_text("in the way")
    with pytest.raises(InputError, match="exports: File exists"):
        export()


def test_an_unknown_judge_is_refused(study, tmp_path):
    with pytest.raises(InputError, match="no judge nope in this study"):
        export_calibration(open_pipeline(study.pipeline), Calibrated("nope"), tmp_path)


def test_the_study_records_the_export_once(export, study):
    folder = export()
    export()
    (row,) = open_pipeline(study.pipeline)["exports"].rows
    assert row["folder"] == str(folder)
    assert json.loads(row["calibration"])["n"] == 148


def test_the_baselines_export_says_whose_the_calibration_is(lexical_export):
    manifest = json.loads((lexical_export / "manifest.json").read_text())
    assert manifest["reads_prompt"] is False
    assert manifest["note"] == LEXICAL_NOTE
    assert manifest["judge"]["parameters"] == lexical_parameters()


def test_judging_with_the_baselines_export_is_the_same_judge(study, run_cli, lexical_export):
    code, out, err = run_cli("--study", study.folder, "--prompt", lexical_export)
    assert (code, err) == (0, "")
    assert out.startswith(f"{ITEMS} items judged by lexical under rubric v3\n")
    code, out, _err = run_cli("--study", study.folder)
    assert out.startswith("0 items judged by lexical under rubric v3, 8 judged before\n")


def test_another_version_of_the_baseline_is_another_judge(study, run_cli, export):
    folder = export("lexical", lexical_parameters() | {"version": 0})
    code, _out, err = run_cli("--study", study.folder, "--prompt", folder)
    assert code == 0
    assert err == (
        f"warning: the calibration in {folder} does not carry over to this judge: "
        f"version {lexical_parameters()['version']}, calibrated was 0\n"
    )


def test_judging_with_a_models_export_is_the_calibrated_judge(study, server, run_cli, export):
    folder = export()
    code, out, err = run_cli("--study", study.folder, "--prompt", folder, "--base-url", server.url)
    assert (code, err) == (0, "")
    assert out.startswith(f"{ITEMS} items judged by org/model-1 under rubric v3\n")
    assert {body["model"] for body in server.requests} == {"org/model-1"}
    (judge,) = JudgmentStore(open_pipeline(study.pipeline)).judges("v3")
    assert judge.judge_id == load_export(folder).judge.judge_id


def test_an_export_needs_nothing_of_the_packaged_prompt(
    study, server, run_cli, export, monkeypatch
):
    """What is sent comes from the folder, even when the installed template has moved on."""
    folder = export()
    monkeypatch.setattr("judge.instrument.render_prompt", None)
    monkeypatch.setattr("generation.study.load_rubric", None)
    run_cli("--study", study.folder, "--prompt", folder, "--base-url", server.url)
    sent = server.requests[0]["messages"][0]["content"]
    assert (folder / "prompt.md").read_text().startswith(sent)


@pytest.mark.parametrize(
    ("options", "difference"),
    [
        (["--model", "other"], "model other, calibrated was org/model-1"),
        (["--max-tokens", 7], "max_completion_tokens 7, calibrated was 1024"),
    ],
)
def test_another_model_or_parameter_is_warned_of(
    study, server, run_cli, export, options, difference
):
    folder = export()
    code, out, err = run_cli(
        "--study", study.folder, "--prompt", folder, "--base-url", server.url, *options
    )
    assert code == 0
    assert out
    assert err == (
        f"warning: the calibration in {folder} does not carry over to this judge: {difference}\n"
    )


def test_a_model_with_the_baselines_export_is_warned_of(study, server, run_cli, lexical_export):
    options = ("--study", study.folder, "--prompt", lexical_export, "--base-url", server.url)
    for given in (options, (*options[:4], "--max-tokens", 9), (*options[:4], "--concurrency", 2)):
        code, _out, err = run_cli(*given)
        assert code == 1
        assert "names no model; say which: --model NAME" in err
    code, _out, err = run_cli(*options, "--model", "m")
    assert code == 0
    assert "does not carry over to this judge: model m, calibrated was lexical" in err


def test_a_models_export_without_a_server_says_how_to_give_one(study, server, run_cli, export):
    code, _out, err = run_cli("--study", study.folder, "--prompt", export())
    assert code == 1
    assert "found neither --base-url nor OPENAI_API_KEY" in err


@pytest.mark.parametrize("name", FILES)
def test_the_command_refuses_a_changed_export_and_names_the_file(study, run_cli, export, name):
    folder = export()
    with (folder / name).open("ab") as file:
        file.write(b" ")
    code, out, err = run_cli("--study", study.folder, "--prompt", folder)
    assert (code, out) == (1, "")
    assert f"{folder / name} was changed" in err
    assert err.count("\n") == 1
