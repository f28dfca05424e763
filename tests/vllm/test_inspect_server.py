"""`inspect eval` of an exported judge against a real vLLM server.

The model is tiny, so nothing is asked of its judgement: every turn must be scored, with a label of
the rubric or as an unreadable verdict with its reason, and what the server got must be ours.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from inspect_ai.event import ModelEvent
from inspect_ai.log import EvalLog, read_eval_log
from labelled_study import RUBRIC, label
from small_server import NAME
from test_judge_server import TURNS, study  # noqa: F401
from written_export import write_export

from annotator.labels import open_labels
from judge.calibration.published.folder import publish
from judge.calibration.published.published import Wanted
from judge.calibration.sampling.sample import draw_sample
from judge.exported import load_export
from judge.inspect_task import task
from judge.inspect_task.conversation import item_of
from judge.judge import Judge
from judge.prompts.prompt import judge_messages, render_prompt
from judge.server.parameters import wanted_parameters
from judge.store import open_pipeline

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(900)]

ITEMS = len(TURNS) + 1
MAX_TOKENS = 160
TOO_LONG = "prompt and verdict do not fit the model's context"


@pytest.fixture
def folder(study, tmp_path) -> Path:  # noqa: F811
    """Where the command is typed: an export of the served model, and the study as a data set."""
    prompt = render_prompt(RUBRIC)
    parameters = wanted_parameters(max_tokens=MAX_TOKENS).values
    made = Judge(NAME, parameters, RUBRIC.version, prompt.prompt_hash)
    write_export(study, made, prompt, tmp_path / "exports").rename(tmp_path / "export")
    with (
        open_pipeline(study.pipeline) as pipeline,
        open_labels(study.labels, create=True) as labels,
    ):
        draw_sample(pipeline, labels, n=ITEMS, repeats=0)
        label(study, "script")
        publish(pipeline, study, Wanted(), tmp_path / "published")
    return tmp_path


def evaluated(folder: Path, url: str, name: str, *options: str) -> EvalLog:
    """The log of a task that was named by its file, with paths as they are typed."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "inspect_ai", "eval", f"{Path(task.__file__)}@{name}"),
            *("-T", "export=export", *options),
            *("--model", f"vllm/{NAME}", "--model-base-url", url, "--display", "plain"),
            *("--log-dir", "logs", "--log-format", "json"),
        ],
        capture_output=True,
        text=True,
        cwd=folder,
        env={
            **os.environ,
            "PWD": str(folder),
            "NO_PROXY": "127.0.0.1",
            "XDG_DATA_HOME": str(folder),
        },
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (written,) = (folder / "logs").glob(f"*_{name.replace('_', '-')}_*.json")
    log = read_eval_log(str(written), resolve_attachments=True)
    assert log.status == "success", log.error
    return log


def test_every_turn_is_judged_or_unreadable_and_the_prompts_are_ours(folder, base_url):
    log = evaluated(folder, base_url, "user_turns", "-T", "turns=published")
    prompt = load_export(folder / "export").prompt
    scores = [sample.scores["followupeval"] for sample in log.samples]
    assert len(scores) == log.results.scores[0].scored_samples == ITEMS
    for sample, score in zip(log.samples, scores, strict=True):
        print(score.answer, score.metadata["invalid_reason"], score.explanation[:80])
        item = item_of(sample.input)
        (call,) = [of.call for of in sample.events if isinstance(of, ModelEvent)]
        sent = [{key: of[key] for key in ("role", "content")} for of in call.request["messages"]]
        assert sent == judge_messages(prompt, item)
        assert (call.request["temperature"], call.request["seed"]) == (0, 0)
        assert call.request["max_tokens"] == MAX_TOKENS
        assert call.request["response_format"]["json_schema"]["name"] == "verdict"
        assert score.metadata["not_calibrated"] is None
        if score.answer == "invalid":
            assert (score.value, score.reason) == (0, "grader_failed")
            assert score.metadata["invalid_reason"]
        else:
            assert score.value == RUBRIC.category(score.answer).sigma
    assert [score.metadata["invalid_reason"] for score in scores].count(TOO_LONG) == 1
    shares = log.results.scores[1].metrics
    assert sum(of.value for of in shares.values()) == pytest.approx(1)
    assert shares["invalid"].value >= 1 / ITEMS


def test_the_judge_beside_people(folder, base_url):
    log = evaluated(folder, base_url, "judge_agreement", "-T", "labels=published")
    assert len(log.samples) == ITEMS
    for sample in log.samples:
        assert sample.scores["agrees"].metadata["reference"] == sample.target
    (score,) = log.results.scores
    print(json.dumps({name: of.value for name, of in score.metrics.items()}))
    assert score.metrics["invalid"].value >= 1 / ITEMS
    assert any(name.startswith("kappa") for name in score.metrics)


def test_a_changed_export_is_one_line(folder):
    (folder / "export" / "prompt.md").write_text("Say 1.")
    with pytest.raises(AssertionError, match=r"Error: .*prompt\.md was changed; an export is used"):
        evaluated(folder, "http://127.0.0.1:9/v1", "user_turns", "-T", "turns=published")
