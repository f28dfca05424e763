"""A small main run to its report, all for real: SmolLM2 on vLLM writes the turns and judges them.

The model is tiny, so nothing is asked of its turns or verdicts. The labels are a script's, there so
that rates can be corrected, and nobody's judgement.
"""

import json
import os
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest
from scripted_labels import label_by_script
from small_server import NAME

from generation.study import Study
from rubrics import load_rubric

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(1500)]

QUESTIONS = 2  # of each data set
TEMPERATURES = (0.0, 0.3, 0.7, 1.0)
SAMPLES = 4
PER_ANSWER = 1 + 3 * SAMPLES
TURNS = QUESTIONS * (2 * (PER_ANSWER + 2) + PER_ANSWER)  # two perturbed, of two sets; one held out
RUBRIC = "v2"  # short enough for the model's context
MODEL = "SmolLM2-135M-Instruct"
PLAN = """
name = "small"
date = "2026-11-30"
seed = 7
max_turn_tokens = 24

[answers]
max_tokens = 48

[[models]]
source = {model}
name = "SmolLM2-135M-Instruct"
context_length = 1024

[[datasets]]
source = "gsm8k"
file = {gsm8k}

[[datasets]]
source = "ifeval"
file = {ifeval}

[[datasets]]
source = "chat"
name = "open_assistant"
file = {chat}

[[sweeps]]
datasets = ["gsm8k", "ifeval"]
temperatures = [0.0, 0.3, 0.7, 1.0]
samples = 4

[[sweeps]]
datasets = ["gsm8k", "ifeval"]
perturbations = ["truncate", "ask"]

[[sweeps]]
datasets = ["open_assistant"]
settings = ["held-out"]
temperatures = [0.0, 0.3, 0.7, 1.0]
samples = 4
"""


def examples(name: str, dataset: str) -> list[dict]:
    """Records of the bundled example, one per question."""
    text = (resources.files("generation") / "example" / name).read_text("utf-8")
    found = {}
    for record in map(json.loads, text.splitlines()):
        if record["conversation"]["dataset"] == dataset:
            found.setdefault(record["conversation"]["source_id"], record)
    return list(found.values())[:QUESTIONS]


def lines(path: Path, rows: list[dict]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return json.dumps(str(path))


@pytest.fixture(scope="module")
def plan(model_folder, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("plan")
    questions = [record["conversation"] for record in examples("triples.jsonl", "gsm8k")]
    gsm8k = [
        {"question": of["messages"][0]["content"], "answer": of["meta"]["reference"]}
        for of in questions
    ]
    ifeval = [
        {"key": of["source_id"], "prompt": of["messages"][0]["content"], **of["meta"]}
        for of in (record["conversation"] for record in examples("triples.jsonl", "ifeval"))
    ]
    chat = [
        {
            "messages": [
                *record["conversation"]["messages"],
                {"role": "assistant", "content": record["answer"]["text"]},
            ]
        }
        for record in examples("held_out.jsonl", "open_assistant")
    ]
    path = folder / "small.toml"
    path.write_text(
        PLAN.format(
            model=json.dumps(str(model_folder)),
            gsm8k=lines(folder / "gsm8k.jsonl", gsm8k),
            ifeval=lines(folder / "ifeval.jsonl", ifeval),
            chat=lines(folder / "chat.jsonl", chat),
        )
    )
    return path


def command(verb: str, study: Study, *arguments: object) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own, which must succeed."""
    module = {"generate": "generation.cli", "judge": "judge.cli"}.get(verb, "judge.calibration.cli")
    program = f"from {module} import {verb}\nif __name__ == '__main__': {verb}()"
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments), "--study", str(study.folder)],
        capture_output=True,
        text=True,
        env={**os.environ, "NO_PROXY": "127.0.0.1"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done


@pytest.fixture(scope="module")
def study(plan, base_url, tmp_path_factory) -> Study:
    study = Study(tmp_path_factory.mktemp("main") / "study")
    command("generate", study, "--plan", plan)
    command("judge", study, "--rubric", RUBRIC)
    command("calibrate", study, "sample")
    label_by_script(study.labels, load_rubric(RUBRIC), "script")
    command("judge", study, "--rubric", RUBRIC, "--model", NAME, "--base-url", base_url,
            "--max-tokens", "160")  # fmt: skip
    return study


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("judge", ["lexical", NAME])
def test_the_report_built_twice_is_the_same_to_the_byte(study, plan, judge, tmp_path):
    choices = ("--plan", plan, "--rubric", RUBRIC, "--judge", judge, "--against", "paper", "--html")
    for name in ("one", "two"):
        command("calibrate", study, "report", *choices, "--output", tmp_path / name)
    one, two = files(tmp_path / "one"), files(tmp_path / "two")
    assert sorted(one) == sorted(two)
    assert [name for name in one if one[name] != two[name]] == []

    told = json.loads(one["report.json"])
    assert told["provenance"]["judge"]["model"] == judge
    (run,) = told["provenance"]["runs"]
    assert (run["name"], run["turns"]) == (f"small/{MODEL}", TURNS)
    tables = {table["name"]: table for table in told["tables"]}
    sweep = tables["temperature"]["rows"]
    assert sum(row["n"] for row in sweep) == QUESTIONS * 3 * PER_ANSWER
    assert {row["k"] for row in sweep} == {1, SAMPLES}
    assert len(tables["perturbation"]["rows"]) == 2 * 2
    assert {name.rpartition(".")[2] for name in one if name.startswith("figures/")} == {
        "png",
        "svg",
        "pdf",
    }


def test_no_cell_of_the_report_is_empty(study, plan):
    done = command("calibrate", study, "report", "--plan", plan, "--rubric", RUBRIC, "--json")
    told = json.loads(done.stdout)
    for table in told["tables"]:
        for row in table["rows"]:
            for value in row.values():
                if isinstance(value, dict):
                    assert value["value"] is not None or value["gap"]
                else:
                    assert value != ""
    kinds = {statement["kind"] for statement in told["statements"]}
    assert {"latent or absent", "with temperature", "dominant label", "perturbation"} <= kinds
