"""What may befall a run: a damaged study, a full disk, servers that differ, keys of others."""

import json
import sqlite3

import pytest
from judged_study import judges, judgments, make_study, rows
from stub_http import Answer
from stub_server import StubServer, any_verdict, completion, error, turn_of, verdict

ITEMS = 12


@pytest.fixture
def study(tmp_path):
    return make_study(tmp_path / "study", [f"u{number}" for number in range(ITEMS)])


@pytest.fixture
def judge_by(run_cli, study, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr("judge.server.patience.ATTEMPTS", 1)

    def run(server, *options):
        return run_cli(
            *("--study", study.folder, "--model", "m", "--base-url", server.url, *options)
        )

    return run


def test_a_damaged_item_ends_the_run_and_loses_no_verdict(study, judge_by, monkeypatch):
    """It is met in reading what is still to be asked, while other requests are under way."""
    monkeypatch.setattr("judge.runs.ledger.PAGE", 4)
    with sqlite3.connect(study.pipeline) as database:
        (last,) = database.execute("SELECT max(item_hash) FROM turns").fetchone()
        database.execute(
            "INSERT INTO conversations (conversation_id, dataset, source_id, messages, meta)"
            " VALUES ('bad', 'test', '2', '[7]', '{}')",
        )
        database.execute(
            "INSERT INTO answers (answer_id, conversation_id, run_id, text)"
            " SELECT 'bad', 'bad', run_id, text FROM answers LIMIT 1"
        )
        database.execute("UPDATE turns SET answer_id = 'bad' WHERE item_hash = ?", [last])
    with StubServer() as server:
        code, out, err = judge_by(server, "--concurrency", 4)
        assert (code, out, err.count("\n")) == (1, "", 1)
        assert "a stored message is 7" in err
        assert len(judgments(study)) == len(server.requests) == ITEMS - 1


def test_a_disk_that_cannot_be_written_through_ends_the_run(study, judge_by, monkeypatch):
    monkeypatch.setattr("judge.runs.shift.SYNC_SECONDS", 0.01)

    def full(ledger):
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr("judge.runs.ledger.StudyLedger.sync", full)
    with StubServer(latency=0.05) as server:
        code, _out, err = judge_by(server, "--concurrency", 1)
        assert len(server.requests) < ITEMS
    assert code == 1
    assert "free some disk space" in err


def test_a_context_that_holds_no_item_is_found_out_after_a_few(study, judge_by):
    """Nothing is kept: with a longer context the same judge labels them all."""
    overflow = error(400, "maximum context length is 9 tokens", "context_length_exceeded")
    with StubServer(lambda request: overflow) as server:
        code, out, err = judge_by(server)
        assert (code, out, len(server.requests)) == (1, "", 8)
        assert "refused the first 8 items one after the other (prompt and verdict do not fit" in err
        assert (judges(study), judgments(study)) == ([], [])
        server.behave = any_verdict
        code, out, _err = judge_by(server)
    assert out.startswith(f"{ITEMS} items judged by m")


def test_one_flagged_text_does_not_stop_a_reasoning_model(study, judge_by):
    flagged = error(400, "Invalid prompt: your prompt was flagged", "invalid_prompt")
    with StubServer(lambda r: flagged if turn_of(r.body) == "u3" else any_verdict(r)) as server:
        code, _out, _err = judge_by(server)
    assert code == 0
    (invalid,) = [row for row in judgments(study) if row["label"] is None]
    assert (invalid["turn"], invalid["invalid_reason"]) == ("u3", "content filter")


def test_a_model_that_may_not_show_logprobs_is_asked_without(study, judge_by):
    refusal = error(403, "You are not allowed to request logprobs from this model")
    with StubServer(lambda r: refusal if "logprobs" in r.body else any_verdict(r)) as server:
        code, out, _err = judge_by(server)
        assert (code, len(server.requests)) == (0, 1 + ITEMS)
    assert out.startswith(f"{ITEMS} items judged by m")


@pytest.mark.parametrize("fault", ["overloaded", {"message": "overloaded", "code": "busy"}])
def test_a_routers_error_in_a_choice_is_one_line(study, judge_by, fault):
    reply = completion(verdict())
    reply["choices"][0]["error"] = fault
    with StubServer(lambda request: Answer(body=reply)) as server:
        code, out, err = judge_by(server)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "overloaded" in err
    assert judgments(study) == []


def test_servers_that_differ_under_one_model_name_are_judges_of_their_own(study, judge_by):
    """What the second refuses is said before it is paid for, and forgotten at the first."""
    no_seed = error(400, "Unsupported parameter: 'seed'", param="seed")
    stop = error(401, "no")
    with (
        StubServer(lambda r: any_verdict(r) if r.number < 3 else stop) as first,
        StubServer(lambda r: no_seed if "seed" in r.body else any_verdict(r)) as second,
    ):
        judge_by(first, "--concurrency", 1)
        code, _out, err = judge_by(second)
        assert code == 0
        assert err == "warning: the server of m takes less than was asked: seed 0 was not taken\n"
        assert len(second.requests) == 1 + ITEMS
        first.behave = any_verdict
        code, out, err = judge_by(first)
        assert (code, err) == (0, "")
        assert out.startswith(f"{ITEMS - 3} items judged by m under rubric v3, 3 judged before\n")
        judge_by(second)
        assert (len(first.requests), len(second.requests)) == (ITEMS + 1, 1 + ITEMS)
    agreed = rows(study, "SELECT * FROM agreed_parameters")
    takes = {row["server"]: "seed" in json.loads(row["agreed"]) for row in agreed}
    assert takes == {first.url: True, second.url: False}


def test_all_judges_are_looked_at_before_the_first_is_paid(study, run_cli, tmp_path, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with StubServer() as server:
        path = tmp_path / "judges.toml"
        table = f'[[judge]]\nmodel = "a"\nbase_url = "{server.url}"\n'
        path.write_text(f'{table}{table}prompt = "strct"\n')
        code, out, err = run_cli("--study", study.folder, "--judge-config", path)
        assert server.requests == []
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(f"error: {path}, judge 2: no prompt template strct")


def test_the_key_of_openai_goes_to_no_other_server_of_a_file(study, run_cli, tmp_path, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("OPENAI_API_KEY", "made-up-key-for-this-test")
    with StubServer() as server:
        path = tmp_path / "judges.toml"
        path.write_text(f'[[judge]]\nmodel = "a"\nbase_url = "{server.url}"\n')
        code, _out, _err = run_cli("--study", study.folder, "--judge-config", path)
        assert code == 0
        assert {r.headers["authorization"] for r in server.requests} == {"Bearer none"}
        path.write_text(f'[[judge]]\nmodel = "b"\nbase_url = "{server.url}"\napi_key_env = "UNSET"')
        code, _out, err = run_cli("--study", study.folder, "--judge-config", path)
    assert code == 1
    assert "UNSET is not set" in err


@pytest.mark.parametrize("fate", ["removed", "replaced"])
def test_a_study_that_is_taken_away_ends_the_run(study, judge_by, monkeypatch, fate):
    monkeypatch.setattr("judge.runs.shift.SYNC_SECONDS", 0.01)

    def behave(request):
        if request.number == 3:
            content = study.pipeline.read_bytes()
            study.pipeline.unlink()
            if fate == "replaced":
                study.pipeline.write_bytes(content)
        return any_verdict(request)

    with StubServer(behave, latency=0.1) as server:
        code, _out, err = judge_by(server, "--concurrency", 1)
        assert len(server.requests) < ITEMS
    assert code == 1
    assert "was moved, removed or replaced while the judge ran" in err


def test_an_answer_in_parts_is_its_text(study, judge_by):
    parts = [{"type": "text", "text": part} for part in (verdict()[:9], verdict()[9:])]
    with StubServer(lambda request: Answer(body=completion(parts))) as server:
        judge_by(server)
    assert {row["label"] for row in judgments(study)} == {"generic_reply"}


@pytest.mark.parametrize("logprob", ["-1" + "0" * 400, "NaN", "-Infinity", "7", '"x"'])
def test_an_odd_logprob_costs_no_verdict(study, judge_by, logprob):
    token = f'{{"token": "x", "logprob": {logprob}, "top_logprobs": []}}'
    reply = json.dumps(completion(verdict(), logprobs={"content": ["HERE"]}))
    raw = reply.replace('"HERE"', token).encode()
    with StubServer(lambda request: Answer(body=raw)) as server:
        code, _out, _err = judge_by(server)
    assert code == 0
    assert [row["label_probabilities"] for row in judgments(study)] == [None] * ITEMS
