"""`judge status`: every turn is somewhere, and the numbers of each line add up to all of them."""

import json
import sqlite3

import pytest
from judged_study import make_study, rows
from stub_http import Answer
from stub_server import StubServer, completion, error, turn_of, verdict

TURNS = ["Why?", "Thanks!", "Now June.", "gibberish", "stop here"]
COPIES = 3  # of every turn


@pytest.fixture
def study(tmp_path):
    return make_study(tmp_path / "study", TURNS, copies=COPIES)


def answer(request):
    turn = turn_of(request.body)
    if turn == "stop here" and request.body["seed"] == 1:
        return error(401, "no")
    content = "nothing" if turn == "gibberish" else verdict("generic_reply")
    return Answer(body=completion(content, usage=(100, 60, 10)))


@pytest.fixture
def status(run_cli, study):
    def run(*options):
        code, out, err = run_cli("status", "--study", study.folder, *options)
        assert (code, err) == (0, "")
        return out

    return run


def test_every_turn_is_accounted_for_however_a_run_ended(study, status, run_cli, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("OPENAI_API_KEY", "made-up-key-for-this-test")
    with StubServer(answer) as server:
        options = ("--study", study.folder, "--model", "m", "--base-url", server.url)
        code, _out, _err = run_cli(*options, "--runs", 2, "--concurrency", 1)
        assert code == 1
    run_cli("--study", study.folder)
    found = json.loads(status("--json"))
    assert (found["turns"], found["items"], len(found["judges"])) == (15, 5, 2)
    lines = [run for judge in found["judges"] for run in judge["runs"]]
    assert len(lines) == 3
    for line in lines:
        labelled, invalid = sum(line["labels"].values()), sum(line["invalid"].values())
        assert labelled + invalid + line["in_batch"] + line["waiting"] == found["turns"]
    lexical, model = found["judges"]
    assert (lexical["model"], model["model"]) == ("lexical", "m")
    first, second = model["runs"]
    assert first["labels"] == {"generic_reply": 4 * COPIES}
    assert first["invalid"] == {"no JSON object": COPIES}
    assert second["waiting"] >= COPIES
    kept = rows(study, "SELECT count(*) AS n FROM judgments WHERE prompt_tokens > 0")[0]["n"]
    assert model["tokens"] == {
        "prompt": 100 * kept,
        "cached": 60 * kept,
        "completion": 10 * kept,
        "unknown": 0,
    }


def test_asks_in_an_open_batch_are_neither_judged_nor_waiting(study, status, run_cli):
    run_cli("--study", study.folder)
    (judge,) = rows(study, "SELECT judge_id FROM judges")
    database = sqlite3.connect(study.pipeline)
    (item,) = database.execute("SELECT item_hash FROM turns WHERE text = 'Why?'").fetchall()[0]
    database.execute("DELETE FROM judgments WHERE item_hash = ?", [item])
    database.execute(
        "INSERT INTO batches VALUES ('b', ?, 'u', 'in_progress', 'then', NULL)", [judge["judge_id"]]
    )
    database.execute("INSERT INTO batch_asks VALUES ('c', 'b', ?, ?, 0)", [judge["judge_id"], item])
    database.commit()
    (run,) = json.loads(status("--json"))["judges"][0]["runs"]
    assert (run["in_batch"], run["waiting"]) == (COPIES, 0)
    assert status().endswith(f"next: judge batch status --wait --study {study.folder}\n")
    code, out, _err = run_cli("--study", study.folder)
    assert code == 0
    assert out.startswith("0 items judged by lexical under rubric v3, 4 judged before\n")
    assert "\n  in an open batch: 1\n" in out
    database.execute("UPDATE batches SET closed_at = 'now'")
    database.commit()
    database.close()
    (run,) = json.loads(status("--json"))["judges"][0]["runs"]
    assert (run["in_batch"], run["waiting"]) == (0, COPIES)


def test_nobody_has_judged_yet(study, status):
    assert status() == (
        f"15 turns, 5 distinct items, judged by nobody yet\nnext: judge --study {study.folder}\n"
    )


def test_the_table(study, status, run_cli):
    run_cli("--study", study.folder)
    head, _blank, _names, _rule, line, last = status().splitlines()
    assert head == "15 turns, 5 distinct items"
    assert line.split()[2:] == ["v3", "followupeval", "0", "15", "0", "0", "0"]
    assert last == f"next: calibrate judges --study {study.folder}"
