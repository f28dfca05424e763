"""`judge batch write` and `read`: what is checked, recorded and held in memory."""

import json
import os
import shlex
import threading
from pathlib import Path

import pytest
from hash_halves import split_of
from judged_study import judgments, make_study
from judged_study import rows as query
from stub_server import StubServer, completion, verdict

from annotator.labels import open_labels
from generation.item import Message
from generation.store import TurnStore
from generation.study import Study
from generation.turn import Answer, Conversation, Run, Turn
from judge.batch.lines import batch_ask
from judge.batch.tally import Collector
from judge.calibration.sampling.sample import draw_sample
from judge.prompts.prompt_template import PACKAGED
from judge.store import open_pipeline

ITEMS = 8  # distinct items of the `study` fixture
QUERY = "Natalia sold clips to forty-eight of her friends. How many clips are that altogether?"


@pytest.fixture
def typed(run_cli, quick):
    """Runs `judge` as typed; fails unless the exit code is `code`; returns stdout and stderr."""

    def run(*arguments: object, code: int = 0) -> tuple[str, str]:
        found, out, err = run_cli(*arguments)
        assert found == code, (out, err)
        return out, err

    return run


def answered(asked: Path, answers: Path, first: int | None = None) -> bytes:
    """Answer the first requests in a file; returns what was written."""
    ids = [json.loads(line)["custom_id"] for line in asked.read_bytes().splitlines()]
    response = {"status_code": 200, "body": completion(verdict())}
    lines = [{"custom_id": custom_id, "response": response} for custom_id in ids[:first]]
    answers.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return answers.read_bytes()


def quoting(tmp_path: Path, name: str = "leaky.md") -> Path:
    """A template's file that quotes the query."""
    path = tmp_path / name
    path.write_text(f"Such as: {QUERY}\n\n{PACKAGED.text}")
    return path


@pytest.fixture
def tested_study(tmp_path) -> Study:
    """A study of one item, which is of the test split."""
    study = Study(tmp_path / "tested")
    turns = (
        Turn(
            Answer(Conversation("t", "1", (Message("user", QUERY + "!" * n),)), "48."),
            "Why?",
            "held-out",
        )
        for n in range(100)
    )
    turn = next(turn for turn in turns if split_of(turn.item) == "test")
    database = open_pipeline(study.pipeline, create=True)
    TurnStore(database).add_turns(Run("import", {}), [turn])
    database.close()
    return study


def draw(study: Study) -> None:
    database, labels = open_pipeline(study.pipeline), open_labels(study.labels, create=True)
    draw_sample(database, labels)
    database.close()
    labels.close()


def test_a_prompt_that_quotes_the_test_split_is_refused(typed, tested_study, tmp_path):
    """The template was there before the sample, so that nothing was to be said then."""
    study, asked, answers = tested_study, tmp_path / "asked.jsonl", tmp_path / "answers.jsonl"
    named = ("--study", study.folder)
    options = ("--prompt", "leaky", "--model", "m", *named)
    typed("prompt", "new", "leaky", "--note", "n", "--file", quoting(tmp_path), *named)
    draw(study)
    with StubServer() as server:
        at = ("--base-url", server.url)
        for act in (("submit", *at), ("write", asked)):
            out, err = typed("batch", *act, *options, code=1)
            assert "quotes the query of item" in err
            assert (out, err.count("\n")) == ("", 1)
        assert server.calls.total() == 0
    assert not asked.exists()
    # Answers to it from elsewhere are refused as well.
    answers.write_text('{"custom_id": "x"}\n')
    assert "quotes the query" in typed("batch", "read", answers, *options, code=1)[1]
    assert query(study, "SELECT * FROM judges") == []


def test_answers_that_were_asked_for_before_the_sample_was_drawn(typed, tested_study, tmp_path):
    """They are paid for, and the prompt was not refused then."""
    study, asked, answers = tested_study, tmp_path / "asked.jsonl", tmp_path / "answers.jsonl"
    named = ("--study", study.folder)
    options = ("--prompt", "leaky", "--model", "m", *named)
    typed("prompt", "new", "leaky", "--note", "n", "--file", quoting(tmp_path), *named)
    typed("batch", "write", asked, *options)
    draw(study)
    answered(asked, answers)
    assert "  kept: 1\n" in typed("batch", "read", answers, *options)[0]


def test_a_template_is_used_once_its_requests_are_written(typed, study, tmp_path):
    """An edit then makes the next version, and the answers to the one that was written count."""
    asked, answers, named = tmp_path / "asked.jsonl", "ANSWERS.jsonl", ("--study", study.folder)
    text = quoting(tmp_path)
    typed("prompt", "new", "strict", "--note", "n", "--file", text, *named)
    options = ("--model", "m", "--prompt", "strict", "--runs", 2, *named)
    out, _err = typed("batch", "write", asked, *options)
    text.write_text(f"Another.\n\n{PACKAGED.text}")
    edited, _err = typed("prompt", "edit", "strict", "--note", "n", "--file", text, *named)
    assert edited.startswith("prompt template strict@2 written")
    answered(asked, tmp_path / answers)
    assert typed("batch", "read", answers, *options, code=1)[1].endswith(
        "--prompt NAME@N if it was a template's\n"
    )
    (then,) = [line for line in out.splitlines() if line.startswith("then: judge ")]
    assert "--prompt strict@1" in then
    out, _err = typed(*shlex.split(then.removeprefix("then: judge ")))
    assert f"  kept: {2 * ITEMS}\n" in out
    assert "  still waiting: 0\n" in out
    assert len(judgments(study)) == 2 * ITEMS


def test_nothing_is_recorded_where_no_file_is_written(typed, study, tmp_path):
    asked = tmp_path / "asked.jsonl"
    asked.write_text("mine")
    typed("batch", "write", asked, "--model", "m", "--study", study.folder, code=1)
    typed("batch", "write", tmp_path, "--model", "m", "--study", study.folder, code=2)
    assert query(study, "SELECT * FROM judges") == []


def test_memory_goes_by_the_file_and_not_by_the_study(typed, study, tmp_path, monkeypatch):
    """Of 8 items, 100 runs and 2 judges, what a file of 3 answers is about; no item is built."""
    asked, answers = tmp_path / "asked.jsonl", tmp_path / "answers.jsonl"
    options = ("--model", "m", "--runs", 100, "--study", study.folder)
    typed("batch", "write", asked, *options)
    answered(asked, answers, first=3)
    held = []

    def collector(asks, keep):
        held.append(len(asks))
        return Collector(asks, keep)

    def item_from(*_texts):
        raise AssertionError("an item was built")

    monkeypatch.setattr("judge.batch.files.Collector", collector)
    monkeypatch.setattr("judge.runs.ledger.item_from", item_from)
    found = json.loads(typed("batch", "read", answers, *options, "--json")[0])
    assert (found["kept"], found["waiting"], held) == (3, 100 * ITEMS - 3, [3])


def test_what_is_waiting_is_what_would_be_written(typed, study, tmp_path):
    """In neither count is what is judged, or held by an open batch."""
    asked, answers = tmp_path / "asked.jsonl", tmp_path / "answers.jsonl"
    options = ("--model", "m", "--runs", 3, "--study", study.folder)
    typed("batch", "write", asked, *options)
    answered(asked, answers, first=5)
    (judge,) = query(study, "SELECT judge_id FROM judges")
    (item, *_rest) = query(study, "SELECT DISTINCT item_hash FROM turns ORDER BY item_hash DESC")
    held = batch_ask(judge["judge_id"], item["item_hash"], 2)
    database = open_pipeline(study.pipeline)
    database.conn.execute(
        "INSERT INTO batches VALUES ('b', ?, 's', 'x', 'now', NULL)", [held.judge_id]
    )
    database.conn.execute(
        """INSERT INTO batch_asks (custom_id, batch_id, judge_id, item_hash, run_index)
           VALUES (?, 'b', ?, ?, ?)""",
        [held.custom_id, held.judge_id, held.item_hash, held.run_index],
    )
    database.close()
    found = json.loads(typed("batch", "read", answers, *options, "--json")[0])
    again = json.loads(typed("batch", "write", tmp_path / "again.jsonl", *options, "--json")[0])
    assert found["waiting"] == again["requests"] == 3 * ITEMS - 5 - 1


def test_answers_from_a_pipe(typed, study, tmp_path):
    asked, answers, pipe = (tmp_path / name for name in ("asked.jsonl", "answers.jsonl", "pipe"))
    options = ("--model", "m", "--study", study.folder)
    typed("batch", "write", asked, *options)
    content = answered(asked, answers)
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(content,), daemon=True)
    writer.start()
    assert f"  kept: {ITEMS}\n" in typed("batch", "read", pipe, *options)[0]
    writer.join(10)


def test_a_server_that_is_named_by_mistake_is_not_needed(typed, study, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "no url")
    options = ("--model", "m", "--study", study.folder)
    assert f"{ITEMS} requests to m" in typed("batch", "write", tmp_path / "a.jsonl", *options)[0]


@pytest.mark.parametrize("act", [("submit",), ("write", "a.jsonl"), ("status",), ("collect",)])
def test_a_study_without_turns(typed, tmp_path, act):
    study = make_study(tmp_path / "empty", ())
    model = ("--model", "m") if act[0] in ("submit", "write") else ()
    at = () if act[0] == "write" else ("--base-url", "http://127.0.0.1:9/v1")
    _out, err = typed("batch", *act, *model, *at, "--study", study.folder, code=1)
    assert "holds no turns" in err
