"""Runs against a real HTTP server: every outcome, resuming, stopping, and the key kept secret."""

import json
import re
import signal
import subprocess
import sys
import threading
import time

import pytest

from generation.store import TurnStore
from judge.cli import judge
from judge.reply import read_reply
from judge.store import JudgmentStore, open_pipeline
from judge.verdict import MAX_KEPT, MAX_REASON
from judge.verdict_runs import judgments_by_run

ITEMS = 8  # distinct items of the `study` fixture
KEY = "made-up-key-for-this-test"


def stored(study) -> list:
    """All judgments in the study, in the order of the items' hashes."""
    database = open_pipeline(study.pipeline)
    store = JudgmentStore(database)
    found = [
        judgment
        for judge in store.judges("v3")
        for _hash, judgment in sorted(judgments_by_run(database, judge.judge_id)[0].items())
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
    assert out.endswith(f"next: calibrate sample --study {study.folder}\n")
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
        (lambda s: s.completion([{"type": "text"}]), "no JSON object"),
        (lambda s: {**s.completion(""), "choices": ["x"]}, "empty reply"),
        (lambda s: {**s.completion(""), "choices": [None]}, "empty reply"),
        (lambda s: {**s.completion(""), "choices": [[[["x"]]]]}, "empty reply"),
        (lambda s: {**s.completion(""), "choices": [{"message": ["x"]}]}, "empty reply"),
        (lambda s: s.completion(None, refusal={"odd": 1}), "refusal"),
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
    if reason == "refusal" and invalid.raw:
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
        (400, "check its words, the model and the parameters"),
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


@pytest.mark.parametrize(
    "reply",
    [
        "<html>Welcome</html>",
        {"detail": "hello"},
        [],
        None,
        b"[" * 100_000,
        b'{"choices":' + b"[" * 100_000,
    ],
    ids=["html", "other JSON", "list", "null", "deep", "deep choices"],
)
def test_a_web_page_is_no_judge(study, server, run_cli, reply):
    server.answer = lambda body: (200, reply)
    code, _out, err = run_cli("--study", study.folder, "--model", "m", "--base-url", server.url)
    assert code == 1
    assert "something else than a chat completion; check that --base-url ends in /v1" in err
    assert stored(study) == []


@pytest.mark.parametrize("defect", [TypeError("a defect"), ZeroDivisionError()])
def test_a_defect_in_one_worker_loses_no_verdict_and_surfaces(
    study, server, run_cli, monkeypatch, defect
):
    """The first request goes alone, so that four have been made. Two of the other three are under
    way when one worker fails, and answered only then.
    """
    failed, three = threading.Event(), threading.Barrier(3)

    def answer(body):
        if turn_of(body) != first:
            three.wait(30)
        if turn_of(body) not in (first, broken):
            failed.wait(30)
        return 200, server.completion(server.verdict())

    def read(completion, rubric):
        if len(server.requests) > 1 and not failed.is_set():
            failed.set()
            raise defect
        return read_reply(completion, rubric)

    database = open_pipeline(study.pipeline)
    first, broken, *_others = (item.turn for _hash, item in TurnStore(database).items())
    database.close()
    server.answer = answer
    monkeypatch.setattr("judge.runs.shift.read_reply", read)
    options = ("--study", study.folder, "--model", "m", "--base-url", server.url)
    with pytest.raises(type(defect)) as surfaced:
        judge.main([*map(str, options), "--concurrency", "3"])
    assert surfaced.value is defect
    assert [judgment.label for judgment in stored(study)] == ["generic_reply"] * 3


@pytest.mark.parametrize(
    "url",
    [
        "http://\udcff/",
        "http://xn--\xff/",
        "http://a\tb/v1",
        "http://256.256.256.256/v1",
        "http://127.0.0.1:1/" + "a" * 70_000,
        "http://127.0.0.1:1/\udcff",
    ],
)
def test_an_odd_url_is_one_line(study, server, run_cli, monkeypatch, url):
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    code, out, err = run_cli("--study", study.folder, "--model", "m")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "--base-url" in err
    assert len(err) < 1000


def test_nobody_listens(study, server, run_cli):
    server.close()
    code, out, err = run_cli("--study", study.folder, "--model", "m", "--base-url", server.url)
    assert (code, out) == (1, "")
    assert err.startswith(f"error: cannot reach {server.url} (")
    assert "check --base-url and that the server is running" in err
    assert err.count("\n") == 1


def test_concurrency_is_bounded(study, server, run_cli):
    """The first request goes alone. After it every three wait for each other; a fourth would be
    counted while they do.
    """
    busy, peak, lock = 0, 0, threading.Lock()
    three = threading.Barrier(3)

    def answer(body):
        nonlocal busy, peak
        with lock:
            busy += 1
            peak = max(peak, busy)
            number = len(server.requests)
            odd = number == 1 or number > 1 + (ITEMS - 1) // 3 * 3
        if not odd:
            three.wait(30)
        with lock:
            busy -= 1
        return 200, server.completion(server.verdict())

    server.answer = answer
    options = ("--study", study.folder, "--model", "m", "--base-url", server.url)
    code, _out, _err = run_cli(*options, "--concurrency", 3)
    assert (code, peak) == (0, 3)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_keeps_verdicts_and_resuming_asks_only_for_the_rest(study, server, how):
    """The real command in a process of its own, stopped after exactly five verdicts."""
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
    process.send_signal(how)
    out, err = process.communicate(timeout=30)
    release.set()
    assert (process.returncode, out) == (130, "")
    assert err.split("\n") == [
        "5 verdicts are kept; the same command goes on",
        "",
        "interrupted",
        "",
    ]
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


@pytest.mark.parametrize(
    "key", [KEY, "a/b+c=d", r"back\slash's \"quotes\""], ids=["plain", "slashes", "quotes"]
)
def test_a_key_that_the_server_repeats_is_not_kept(
    study, server, run_cli, monkeypatch, files_of, tmp_path, key
):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    replies = {
        "Why 48?": server.completion(f"You sent Bearer {key}."),
        "Are you sure?": server.completion(server.verdict(rationale=f"By Bearer {key}.")),
        "Thanks!": server.completion(None, refusal=f"Bearer {key}?"),
        "": server.completion(server.verdict(label=f"Bearer {key}")),
        "Now for June, please.": server.completion(server.verdict().replace("sigma", key)),
        "Write a poem about rain.": server.completion(
            server.verdict(rationale="By KEY.").replace(
                "KEY", "".join(f"\\u{ord(sign):04X}" for sign in key)
            )
        ),
        "Natalia sold 48 clips.": server.completion(
            server.verdict(rationale=f"By Bearer {key}.").replace("/", "\\/")
        ),
    }
    overflow = (400, {"error": {"code": "context_length_exceeded", "message": f"Bearer {key}"}})
    server.answer = lambda body: (
        (200, replies[turn_of(body)]) if turn_of(body) in replies else overflow
    )
    code, _out, _err = run_cli("--study", study.folder, "--model", "m", "--base-url", server.url)
    assert (code, len(stored(study))) == (0, ITEMS)
    texts = [text for j in stored(study) for text in (j.raw, j.rationale, j.invalid_reason) if text]
    assert not [text for text in texts if key in text or json.dumps(key)[1:-1] in text]
    assert sorted({judgment.rationale for judgment in stored(study) if judgment.valid}) == [
        "By Bearer ….",
        "By ….",
    ]
    assert key.encode() not in files_of(tmp_path)
    kept = "".join(texts).replace("\\/", "/")
    assert key not in kept


def test_a_stand_in_for_a_key_spoils_no_verdict(study, server, run_cli, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "e")
    code, _out, _err = run_cli("--study", study.folder, "--model", "m", "--base-url", server.url)
    assert code == 0
    assert {judgment.raw for judgment in stored(study)} == {server.verdict()}


def test_a_reply_is_kept_up_to_a_limit_and_says_what_was_cut(study, server, run_cli):
    long = "x" * 200_000
    replies = {
        "Why 48?": f"{long} {server.verdict()}",
        "Are you sure?": server.verdict(label=long),
        "Thanks!": server.verdict(rationale=long),
        "": server.verdict().replace("sigma", long),
    }
    server.answer = lambda body: (
        200,
        server.completion(replies.get(turn_of(body), server.verdict())),
    )
    code, out, _err = run_cli("--study", study.folder, "--model", "m", "--base-url", server.url)
    assert code == 0
    assert count(out, "generic_reply") == ITEMS - 2
    for judgment in stored(study):
        texts = (judgment.raw, judgment.rationale or "")
        assert all(len(text) <= MAX_KEPT + 40 for text in texts)
        assert len(judgment.invalid_reason or "") <= MAX_REASON + 40
    (cut,) = [j for j in stored(study) if j.raw.startswith("xxx")]
    assert cut.raw.endswith(server.verdict())
    missing = 200_000 + 1 + len(server.verdict()) - MAX_KEPT
    assert f" [… {missing} characters cut …] " in cut.raw


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
