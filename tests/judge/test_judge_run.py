"""Runs against a real HTTP server: every outcome, resuming, stopping, and the key kept secret."""

import re
import signal
import subprocess
import sys
import threading
import time

import pytest

from judge.store import JudgmentStore, open_pipeline

ITEMS = 8  # distinct items of the `study` fixture
KEY = "made-up-key-for-this-test"


def stored(study) -> list:
    """All judgments in the study, in the order of the items' hashes."""
    database = open_pipeline(study.pipeline)
    store = JudgmentStore(database)
    found = [
        judgment
        for judge in store.judges("v3")
        for _hash, judgment in sorted(store.judgments(judge.judge_id).items())
    ]
    database.close()
    return found


def turn_of(body: dict) -> str:
    return body["messages"][-1]["content"].partition("<turn>\n")[2].partition("\n</turn>")[0]


def count(out: str, name: str) -> int:
    """The number printed beside a label."""
    return int(re.search(rf"^  {name} +(\d+)$", out, re.MULTILINE)[1])


def test_all_judged_once_and_a_second_run_asks_nothing(study, server, run_cli):
    options = ("--study", study.folder, "--model", "m", "--base-url", server.url)
    code, out, err = run_cli(*options)
    assert (code, err) == (0, "")
    assert out.endswith(f"next: calibrate --rubric v3 --study {study.folder}\n")
    assert out.startswith(f"{ITEMS} items judged by m under rubric v3\n")
    assert count(out, "generic_reply") == ITEMS
    assert len(server.requests) == ITEMS
    assert all(judgment.label == "generic_reply" for judgment in stored(study))
    code, out, _err = run_cli(*options)
    assert code == 0
    assert out.startswith("0 items judged by m under rubric v3, 8 judged before\n")
    assert len(server.requests) == ITEMS


def test_the_request(study, server, run_cli):
    run_cli("--study", study.folder, "--model", "m", "--base-url", server.url, "--max-tokens", 99)
    body = server.requests[0]
    assert (body["model"], body["temperature"], body["seed"]) == ("m", 0, 0)
    assert body["max_completion_tokens"] == 99
    asked_format = body["response_format"]
    assert asked_format["type"] == "json_schema"
    assert asked_format["json_schema"]["strict"] is True
    assert asked_format["json_schema"]["schema"]["additionalProperties"] is False
    assert len({request["messages"][0]["content"] for request in server.requests}) == 1
    (judge,) = JudgmentStore(open_pipeline(study.pipeline)).judges("v3")
    assert judge.judge.parameters == {
        "temperature": 0,
        "max_completion_tokens": 99,
        "seed": 0,
        "response_format": "json_schema",
    }


def test_other_parameters_are_another_judge(study, server, run_cli):
    options = ("--study", study.folder, "--model", "m", "--base-url", server.url)
    run_cli(*options)
    run_cli(*options, "--max-tokens", 99)
    run_cli(*options, "--rubric", "v2")
    assert len(server.requests) == 3 * ITEMS


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (lambda s: s.completion("no JSON here"), "no JSON object"),
        (lambda s: s.completion(s.verdict("Generic")), "label not in rubric v3"),
        (lambda s: s.completion(s.verdict(sigma=1)), "sigma contradicts the label"),
        (lambda s: s.completion(s.verdict(), finish="length"), "cut off by the token limit"),
        (lambda s: s.completion(None, finish="content_filter"), "content filter"),
        (lambda s: s.completion(None, refusal="I cannot help with that."), "refusal"),
        (lambda s: s.completion(None), "empty reply"),
        (lambda s: {**s.completion(""), "choices": []}, "no choices in the reply"),
        (lambda s: {**s.completion(""), "choices": [{}]}, "empty reply"),
        (lambda s: s.completion([{"type": "text"}]), "empty reply"),
    ],
)
def test_an_unreadable_verdict_is_an_outcome_of_its_own(study, server, run_cli, reply, reason):
    server.answer = lambda body: (
        200,
        reply(server) if turn_of(body) == "Why 48?" else server.completion(server.verdict()),
    )
    code, out, err = run_cli("--study", study.folder, "--model", "m", "--base-url", server.url)
    assert (code, err) == (0, "")
    assert (count(out, "invalid"), count(out, "generic_reply")) == (1, ITEMS - 1)
    assert f"\n    {reason}: 1\n" in out
    (invalid,) = [judgment for judgment in stored(study) if not judgment.valid]
    assert invalid.invalid_reason.startswith(reason)
    if reason == "refusal":
        assert invalid.raw == "I cannot help with that."


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ({"code": "context_length_exceeded", "message": "too long"}, "do not fit the model's"),
        ({"message": "This model's maximum context length is 9 tokens."}, "do not fit the model"),
        ({"code": "content_filter", "message": "filtered"}, "content filter"),
    ],
)
def test_a_refused_item_does_not_stop_the_run(study, server, run_cli, error, reason):
    server.answer = lambda body: (
        (400, {"error": error})
        if turn_of(body) == "Why 48?"
        else (200, server.completion(server.verdict()))
    )
    code, out, _err = run_cli("--study", study.folder, "--model", "m", "--base-url", server.url)
    assert code == 0
    assert reason in out
    assert len(stored(study)) == ITEMS


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (400, "structured output"),
        (401, "check OPENAI_API_KEY"),
        (403, "may use this model"),
        (404, "serves a model named m"),
        (429, "lower --concurrency"),
        (500, "check the server's log"),
    ],
)
def test_a_refusing_server_stops_the_run_in_one_line(study, server, run_cli, status, advice):
    server.answer = lambda body: (status, {"error": {"message": f"no\nway {status}"}})
    code, out, err = run_cli("--study", study.folder, "--model", "m", "--base-url", server.url)
    assert (code, out) == (1, "")
    assert err.startswith(f"error: {server.url} answered {status} for model m: no way {status}; ")
    assert advice in err
    assert err.count("\n") == 1
    assert stored(study) == []


def test_verdicts_before_the_stop_are_kept_and_the_next_run_goes_on(study, server, run_cli):
    options = ("--study", study.folder, "--model", "m", "--base-url", server.url)
    good = (200, server.completion(server.verdict()))
    server.answer = lambda body: good if len(server.requests) <= 3 else (401, {"error": {}})
    code, _out, err = run_cli(*options, "--concurrency", 1)
    assert code == 1
    assert "verdicts so far are kept" in err
    assert (len(stored(study)), len(server.requests)) == (3, 4)
    server.answer = lambda body: good
    code, out, _err = run_cli(*options)
    assert code == 0
    assert out.startswith("5 items judged by m under rubric v3, 3 judged before\n")
    assert len(server.requests) == 4 + 5


@pytest.mark.parametrize("reply", ["<html>Welcome</html>", {"detail": "hello"}, [], None])
def test_a_web_page_is_no_judge(study, server, run_cli, reply):
    server.answer = lambda body: (200, reply)
    code, _out, err = run_cli("--study", study.folder, "--model", "m", "--base-url", server.url)
    assert code == 1
    assert "something else than a chat completion; check that --base-url ends in /v1" in err
    assert stored(study) == []


def test_nobody_listens(study, server, run_cli):
    server.close()
    code, out, err = run_cli("--study", study.folder, "--model", "m", "--base-url", server.url)
    assert (code, out) == (1, "")
    assert err.startswith(f"error: cannot reach {server.url} (")
    assert "check --base-url and that the server is running" in err
    assert err.count("\n") == 1


def test_concurrency_is_bounded(study, server, run_cli):
    """Every three requests wait for each other; a fourth would be counted while they do."""
    busy, peak, lock = 0, 0, threading.Lock()
    three = threading.Barrier(3)

    def answer(body):
        nonlocal busy, peak
        with lock:
            busy += 1
            peak = max(peak, busy)
            odd = len(server.requests) > ITEMS - ITEMS % 3
        if not odd:
            three.wait(30)
        with lock:
            busy -= 1
        return 200, server.completion(server.verdict())

    server.answer = answer
    options = ("--study", study.folder, "--model", "m", "--base-url", server.url)
    code, _out, _err = run_cli(*options, "--concurrency", 3)
    assert (code, peak) == (0, 3)


def test_interrupt_keeps_verdicts_and_resuming_asks_only_for_the_rest(study, server):
    """The real command in a process of its own, stopped by Ctrl-C after exactly five verdicts."""
    release = threading.Event()

    def answer(body):
        if len(server.requests) > 5:
            release.wait(30)
        return 200, server.completion(server.verdict())

    server.answer = answer
    command = [
        *(sys.executable, "-c", "from judge.cli import judge; judge()"),
        *("--study", str(study.folder), "--model", "m", "--base-url", server.url),
        *("--concurrency", "1"),
    ]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while len(server.requests) < 6 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    release.set()
    assert (process.returncode, out, err.strip()) == (130, "", "interrupted")
    assert len(stored(study)) == 5
    asked = {turn_of(body) for body in server.requests[:5]}
    server.requests.clear()
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.startswith("3 items judged by m under rubric v3, 5 judged before\n")
    assert len(server.requests) == 3
    assert asked.isdisjoint(turn_of(body) for body in server.requests)


def test_the_key_is_sent_and_never_shown_or_stored(
    study, server, run_cli, monkeypatch, files_of, tmp_path
):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    refused = {"error": {"message": f"Incorrect API key provided: {KEY}"}}
    options = ("--study", study.folder, "--model", "m", "--base-url", server.url)
    server.answer = lambda body: (401, refused)
    code, out, err = run_cli(*options)
    assert code == 1
    assert "Incorrect API key provided: …" in err
    server.answer = lambda body: (200, server.completion(server.verdict()))
    _code, later_out, later_err = run_cli(*options, "--json")
    assert server.keys == [f"Bearer {KEY}"] * len(server.keys)
    assert KEY not in out + err + later_out + later_err
    assert KEY.encode() not in files_of(tmp_path)


def test_an_impossible_key_is_one_line_without_it(study, server, run_cli, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "geheim\u2013")
    code, _out, err = run_cli("--study", study.folder, "--model", "m", "--base-url", server.url)
    assert (code, err.count("\n"), "geheim" in err) == (1, 1, False)


def test_the_servers_words_cannot_act_on_the_terminal(study, server, run_cli):
    server.answer = lambda body: (400, {"error": {"message": "\x1b[2Jno\u202e"}})
    code, _out, err = run_cli("--study", study.folder, "--model", "m", "--base-url", server.url)
    assert code == 1
    assert err.strip().isprintable()


def test_a_url_with_a_password_is_shown_without_it(study, server, run_cli):
    server.close()
    url = server.url.replace("//", "//name:hunter2@")
    code, _out, err = run_cli("--study", study.folder, "--model", "m", "--base-url", url)
    assert code == 1
    assert "hunter2" not in err


def test_without_a_key_a_stand_in_is_sent(study, server, run_cli):
    run_cli("--study", study.folder, "--model", "m", "--base-url", server.url)
    assert set(server.keys) == {"Bearer none"}


def test_base_url_from_the_environment(study, server, run_cli, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    code, _out, _err = run_cli("--study", study.folder, "--model", "m")
    assert code == 0
    assert len(server.requests) == ITEMS


def test_a_full_or_read_only_store_is_one_line(study, server, run_cli):
    database = open_pipeline(study.pipeline)
    database.conn.execute(
        "CREATE TRIGGER full BEFORE INSERT ON judgments WHEN (SELECT count(*) FROM judgments) = 2 "
        "BEGIN SELECT RAISE(FAIL, 'database or disk is full'); END"
    )
    database.close()
    code, _out, err = run_cli("--study", study.folder, "--model", "m", "--base-url", server.url)
    assert code == 1
    assert err.count("\n") == 1
    assert "free some disk space" in err
    assert len(stored(study)) == 2
