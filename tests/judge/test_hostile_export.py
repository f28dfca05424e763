"""Exports made by a program that means harm and keeps the hashes right: refused in one line."""

import json
import os
from typing import Any

import pytest
from written_export import write_export

from judge.exported import export_hash, file_json, load_export
from judge.judge import Judge
from judge.lexical.baseline import lexical_parameters
from judge.prompts.prompt import render_prompt
from judge.server.parameters import wanted_parameters
from rubrics import InputError, bytes_fingerprint, load_rubric

PARAMETERS = wanted_parameters().values
ABSENT = "absent"


@pytest.fixture
def prompt():
    return render_prompt(load_rubric("v3"))


@pytest.fixture
def folder(study, prompt, tmp_path):
    judge = Judge("m", PARAMETERS, "v3", prompt.prompt_hash)
    return write_export(study, judge, prompt, tmp_path / "exports")


def rewrite(folder, changed: dict[str, bytes] | None = None, /, **fields: Any):
    """Change files and fields of the manifest, all hashes of which stay right."""
    manifest = json.loads((folder / "manifest.json").read_text())
    for name, content in (changed or {}).items():
        (folder / name).write_bytes(content)
        manifest["files"][name] = bytes_fingerprint(content)
    manifest |= fields
    manifest = {key: value for key, value in manifest.items() if value is not ABSENT}
    manifest["export_hash"] = export_hash(manifest)
    (folder / "manifest.json").write_bytes(file_json(manifest))


def rewrite_judge(folder, **fields: Any):
    """Change the judge of a manifest, which gets the id that belongs to it."""
    judge = json.loads((folder / "manifest.json").read_text())["judge"] | fields
    of = {name: judge[name] for name in ("model", "parameters", "rubric_version", "prompt_hash")}
    rewrite(folder, judge=judge | {"judge_id": Judge(**of).judge_id})


def refusal(folder) -> str:
    with pytest.raises(InputError) as refused:
        load_export(folder)
    assert len(str(refused.value)) < 700
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({"files": ABSENT}, "files is no table"),
        ({"files": ["prompt.md"]}, "files is no table"),
        ({"files": {}}, "anchors.jsonl is missing"),
        ({"judge": ABSENT}, "judge is no table"),
        ({"judge": []}, "judge is no table"),
        ({"judge": {}}, "judge: template = None"),
        ({"reading": None}, "reading = None; expected a table"),
        ({"reading": {"name": [], "runs": 1}}, "reading: name = []; expected one of single-run"),
        ({"reading": {"name": "single-run", "runs": "1"}}, "runs = '1'; expected 1 to 100"),
        ({"reading": {"name": "single-run", "runs": 0}}, "runs = 0; expected 1 to 100"),
        ({"reading": {"name": "single-run", "runs": True}}, "runs = True; expected 1 to 100"),
        ({"reading": {"name": "mean-of-runs", "runs": 101}}, "runs = 101; expected 1 to 100"),
        ({"reading": {"name": "single-run"}}, "runs = None; expected 1 to 100"),
        ({"flip_rate": "0.5"}, "flip_rate = '0.5'; expected 0 to 1"),
        ({"flip_rate": 10**400}, "flip_rate = 1000"),
    ],
)
def test_a_manifest_of_another_shape(folder, fields, found):
    rewrite(folder, **fields)
    assert found in refusal(folder)


@pytest.mark.parametrize("model", [None, ["m"], "", "m\x1b[31m", "a\nb", "\u202em", "x" * 301])
def test_a_model_of_no_name(folder, model):
    rewrite_judge(folder, model=model)
    assert "expected a text of 1 to 300 printable characters" in refusal(folder)


@pytest.mark.parametrize("name", ["template", "judge_id"])
@pytest.mark.parametrize("value", [None, 3, "a\x1b[2J"])
def test_a_label_that_is_none(folder, name, value):
    judge = json.loads((folder / "manifest.json").read_text())["judge"]
    rewrite(folder, judge=judge | {name: value})
    assert f"judge: {name} = " in refusal(folder)


@pytest.mark.parametrize(
    ("parameters", "found"),
    [
        ([], "parameters is no table"),
        ({"n": 64}, "'n' is no parameter of a judge; expected temperature"),
        ({"messages": []}, "'messages' is no parameter"),
        ({"temperature": "0"}, "temperature = '0'; expected a number, 0 to 2"),
        ({"temperature": 3}, "temperature = 3"),
        ({"max_tokens": 0}, "max_tokens = 0; expected a whole number, 1 to 1000000"),
        ({"max_tokens": 1_000_001}, "max_tokens = 1000001"),
        ({"max_completion_tokens": 10**400}, "max_completion_tokens = 1000"),
        ({"seed": 0.5}, "seed = 0.5; expected a whole number"),
        ({"response_format": {"type": "text"}}, "expected one of json_schema, json_object, text"),
        ({"reasoning_effort": ["low"]}, "reasoning_effort = ['low']; expected one of"),
    ],
)
def test_parameters_that_no_judge_has(folder, parameters, found):
    rewrite_judge(folder, parameters=parameters)
    assert found in refusal(folder)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"temperature": 0.5, "max_tokens": 1_000_000, "response_format": "text"},
        {"max_completion_tokens": 1, "seed": 7, "reasoning_effort": "low"},
    ],
)
def test_parameters_that_a_server_agreed_to(folder, parameters):
    rewrite_judge(folder, parameters=parameters)
    assert load_export(folder).judge.parameters == parameters


def test_the_baseline_has_parameters_of_its_own(folder):
    rewrite_judge(folder, model="lexical", parameters=lexical_parameters())
    assert load_export(folder).judge.parameters == lexical_parameters()


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("prompt.md", b"\xff", "prompt.md is not UTF-8"),
        ("rubric.toml", b"\xff", "rubric.toml is no TOML"),
        ("rubric.toml", b"a = " + b"[" * 5000 + b"]" * 5000, "nested too deep"),
        ("rubric.toml", b"a." * 500 + b"a = 1", "nested too deep"),
        ("rubric.toml", b"version = " + b"1" * 5000, "a number of too many digits"),
        ("rubric.toml", b"version = 0x" + b"f" * 9000, "a number of too many digits"),
        ("rubric.toml", b"#" * 1_000_001, "has more than 1,000,000 bytes"),
    ],
)
def test_a_file_that_cannot_be_read(folder, name, content, found):
    rewrite(folder, {name: content})
    assert found in refusal(folder)


def sparse(path, size: int) -> None:
    with path.open("wb") as file:
        os.truncate(file.fileno(), size)


def test_an_extra_file_is_named_before_any_is_read(folder, monkeypatch):
    sparse(folder / "notes.bin", 10**12)
    (folder / "anchors.jsonl").write_bytes(b"changed, which would be found by reading it")
    assert "notes.bin does not belong to the export" in refusal(folder)


def test_an_extra_file_that_the_manifest_lists(folder):
    rewrite(folder, {"notes.txt": b"mine"})
    assert "notes.txt does not belong to the export" in refusal(folder)
    (folder / "notes.txt").unlink()
    assert "manifest.json lists 'notes.txt', which is no export's file" in refusal(folder)


@pytest.mark.parametrize(
    ("name", "most"), [("calibration.json", 100_000_000), ("manifest.json", 1_000_000)]
)
def test_a_file_of_any_size(folder, name, most):
    sparse(folder / name, 10**12)
    assert f"{name} has more than {most:,} bytes" in refusal(folder)
