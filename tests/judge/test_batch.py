"""`judge batch` against the stub server: the same rows as online, whatever happens between."""

import asyncio
import itertools
import json
import shlex
import shutil
from pathlib import Path

import pytest
from stub_batches import BatchScript
from stub_http import Answer, CutMidBody, Drop
from stub_server import StubServer, any_verdict, completion, error, turn_of, verdict

from generation.study import Study
from judge.batch.lines import batch_ask
from judge.batch.report import changes_told
from judge.batch.status import batch_status
from judge.batch.tally import Collector
from judge.runs.run_lock import run_lock
from judge.server.client import Client
from judge.store import open_pipeline

ITEMS = 8  # distinct items of the `study` fixture
BATCHED = ITEMS - 1  # one is asked online
KEY = "made-up-key-for-this-test"
ROWS = """SELECT judge_id, item_hash, run_index, label, sigma, rationale, invalid_reason, raw,
    prompt_tokens, cached_tokens, completion_tokens, label_probabilities
    FROM judgments ORDER BY judge_id, item_hash, run_index"""
SEEDLESS = "warning: the server of m takes less than was asked: seed 0 was not taken\n"
CONTEXT = "This model's maximum context length is 9 tokens."


class Killed(BaseException):
    """The process ends here."""


@pytest.fixture
def server(one_attempt, monkeypatch):
    monkeypatch.setattr("judge.batch.status.FIRST_POLL_SECONDS", 0.01)
    with StubServer() as stub:
        yield stub


@pytest.fixture
def second_study(study, tmp_path) -> Study:
    """The same turns, nothing judged."""
    shutil.copytree(study.folder, tmp_path / "second")
    return Study(tmp_path / "second")


@pytest.fixture
def run(run_cli, server):
    """Runs `judge` on a study with the stub server; fails unless the exit code is `code`."""

    def run(study: Study, *arguments, code: int = 0, url: str | None = None) -> tuple[str, str]:
        where = () if url == "" else ("--base-url", url or server.url)
        found, out, err = run_cli(*arguments, "--study", study.folder, *where)
        assert found == code, (out, err)
        assert err.replace(SEEDLESS, "").count("\n") == (code == 1)
        return out, err

    return run


def query(study: Study, sql: str) -> list:
    database = open_pipeline(study.pipeline)
    try:
        return database.conn.execute(sql).fetchall()
    finally:
        database.close()


def rows(study: Study) -> list:
    return query(study, ROWS)


def batch_ids(study: Study) -> list[str]:
    """The custom_ids in batches, in the order in which they were asked for."""
    found = query(study, "SELECT custom_id FROM batch_asks ORDER BY item_hash, run_index")
    return [custom_id for (custom_id,) in found]


def collected(run, study: Study) -> dict:
    """Waits for the only open batch, collects it; what was counted."""
    run(study, "batch", "status", "--wait")
    out, _err = run(study, "batch", "collect", "--json")
    (found,) = json.loads(out)["collected"]
    shares = ("kept", "invalid", "known", "missing")
    assert sum(found[name] for name in shares) + sum(found["failed"].values()) == found["asked"]
    return found


def mixed(request):
    """One reply of every kind, by the turn, with log-probabilities where they are asked for."""
    turn = turn_of(request.body)
    replies = {
        "Thanks!": completion("no JSON"),
        "": completion(verdict(), finish="length"),
        "Why 48?": completion(None, refusal="I cannot."),
    }
    if turn == "Are you sure?":
        return error(400, CONTEXT, code="context_length_exceeded")
    return Answer(body=replies[turn]) if turn in replies else any_verdict(request)


@pytest.mark.parametrize("behave", [any_verdict, mixed], ids=["valid", "every kind"])
@pytest.mark.parametrize("script", [BatchScript(), BatchScript(reversed=True)])
def test_the_same_rows_as_online(study, second_study, server, run, behave, script):
    server.behave, server.batches.script = behave, script
    run(second_study, "--model", "m", "--runs", 2)
    asked = server.counts["by_body"]
    out, _err = run(study, "batch", "submit", "--model", "m", "--runs", 2)
    assert "1 verdict of m had online" in out
    assert f"{2 * ITEMS - 1} requests to m in open batches at {server.url}" in out
    assert len(rows(study)) == 1
    found = collected(run, study)
    assert (found["asked"], found["waiting_again"]) == (2 * ITEMS - 1, 0)
    assert len(rows(study)) == 2 * ITEMS
    assert rows(study) == rows(second_study)
    assert server.counts["by_body"] == asked  # the requests are the same, byte for byte
    assert server.counts["requests"] == 2 * asked


def test_what_a_batch_holds_is_asked_by_nobody_else(study, server, run):
    run(study, "batch", "submit", "--model", "m")
    server.requests.clear()
    out, _err = run(study, "--model", "m")
    assert out.startswith("0 items judged by m under rubric v3, 1 judged before\n")
    assert f"  in an open batch: {BATCHED}\n" in out
    out, _err = run(study, "batch", "submit", "--model", "m")
    assert f"{BATCHED} requests to m in open batches" in out
    assert (server.requests, server.calls["POST", "/v1/batches"]) == ([], 1)
    # Another judge is not held up by it.
    assert run(study, "--model", "n")[0].startswith(f"{ITEMS} items judged by n")


def test_many_files(study, second_study, server, run, monkeypatch):
    monkeypatch.setattr("judge.batch.submit.MAX_REQUESTS", 3)
    run(second_study, "--model", "m")
    out, _err = run(study, "batch", "submit", "--model", "m")
    assert [line.split("  ")[1][:10] for line in out.splitlines()[:3]] == ["3 requests"] * 2 + [
        "1 request,"
    ]
    out, _err = run(study, "batch", "status", "--wait")
    assert out.count("completed") == 3
    assert out.splitlines()[-1].startswith("next: judge batch collect --base-url ")
    out, _err = run(study, "batch", "collect")
    assert out.count("completed: ") == 3
    assert out.endswith(f"next: calibrate --rubric v3 --study {study.folder}\n")
    assert rows(study) == rows(second_study)


def test_the_sums_of_a_status(study, server, run):
    run(study, "batch", "submit", "--model", "m")
    for status, ended in (("in_progress", False), ("completed", True)):
        (found,) = json.loads(run(study, "batch", "status", "--json")[0])
        assert (found["status"], found["ended"], found["asked"]) == (status, ended, BATCHED)
    assert (found["total"], found["completed"], found["failed"]) == (BATCHED, BATCHED, 0)
    assert query(study, "SELECT status, closed_at FROM batches") == [("completed", None)]


def test_nothing_is_open(study, server, run):
    assert "no open batch" in run(study, "batch", "status", "--wait")[0]
    assert "no open batch" in run(study, "batch", "collect")[0]
    assert server.calls.total() == 0


def test_a_running_batch_is_left_open(study, server, run):
    server.batches.script = BatchScript(statuses=("validating", "in_progress"))
    run(study, "batch", "submit", "--model", "m")
    out, _err = run(study, "batch", "collect")
    assert "in_progress" in out
    assert "next: judge batch status --wait" in out
    assert len(rows(study)) == 1


def test_the_waits_grow(study, server, run, monkeypatch):
    statuses = ("validating", *["in_progress"] * 9, "completed")
    server.batches.script = BatchScript(statuses=statuses)
    run(study, "batch", "submit", "--model", "m")
    monkeypatch.setattr("judge.batch.status.FIRST_POLL_SECONDS", 5.0)
    waits = []

    async def sleep(seconds):
        waits.append(seconds)
        await asyncio.sleep(0)

    batch_status(study, server.url, wait=True, sleep=sleep)
    assert (waits[0], waits[-1], len(waits)) == (5, 60, 9)
    assert waits == sorted(waits)


def test_a_wait_tells_what_changes(study, server, run):
    statuses = ("validating", "in_progress", "in_progress", "completed")
    server.batches.script = BatchScript(statuses=statuses)
    run(study, "batch", "submit", "--model", "m")
    said = []
    batch_status(study, server.url, wait=True, told=changes_told(said.append))
    assert [line.split("  ")[-1] for line in said] == [
        f"in_progress, 0 of {BATCHED} answered",
        f"completed, {BATCHED} of {BATCHED} answered",
    ]


@pytest.mark.parametrize("ending", ["expired", "cancelled"])
def test_a_batch_that_ended_early(study, second_study, server, run, ending):
    server.batches.script = BatchScript(statuses=("validating", ending), answered=4)
    run(study, "batch", "submit", "--model", "m")
    found = collected(run, study)
    assert (found["kept"], found["failed"]) == (4, {f"batch_{ending}": 3})
    assert (found["status"], found["waiting_again"]) == (ending, 3)
    known = {item for _judge, item, *_rest in rows(study)}
    server.batches.script, server.requests = BatchScript(), []
    run(study, "batch", "submit", "--model", "m")
    assert len(server.requests) == 1  # online
    assert collected(run, study)["asked"] == 2
    assert len(server.requests) == 3
    assert len(known) == 5
    run(second_study, "--model", "m")
    assert rows(study) == rows(second_study)


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        ({"code": "server_error", "message": "no"}, "server_error"),
        ({"status_code": 500, "body": {"error": {"message": "no"}}}, "status 500"),
        ({"status_code": 429, "body": {"error": {"message": "no", "code": "slow"}}}, "slow"),
        ({"status_code": 400, "body": {"error": {"message": "odd"}}}, "status 400"),
    ],
)
def test_a_failed_request_is_waiting_again(study, server, run, failure, reason):
    failing = set()

    def fails(custom_id):
        if len(failing) < 2:
            failing.add(custom_id)
        return custom_id in failing

    server.batches.script = BatchScript(fails=fails, failure=failure)
    run(study, "batch", "submit", "--model", "m")
    found = collected(run, study)
    assert (found["kept"], found["failed"], found["waiting_again"]) == (5, {reason: 2}, 2)
    assert run(study, "--model", "m")[0].startswith("2 items judged by m under rubric v3, 6 ")


def test_odd_lines_are_counted_and_do_no_harm(study, second_study, server, run):
    run(second_study, "--model", "m")
    (judge_id,) = {row[0] for row in rows(second_study)}
    items = [row[1] for row in rows(second_study)]
    ids = [batch_ask(judge_id, item, 0).custom_id for item in items]
    foreign = batch_ask(judge_id, items[0], 1).custom_id
    server.batches.script = BatchScript(
        doubled=ids[2:4], unknown=("x", foreign, ids[0]), garbage=(b"\xff", b"[]", b"{", b" ")
    )
    run(study, "batch", "submit", "--model", "m")
    found = collected(run, study)
    assert (found["kept"], found["missing"], found["waiting_again"]) == (BATCHED, 0, 0)
    assert (found["duplicates"], found["differing"]) == (2, 0)
    assert (found["unknown"], found["unreadable"]) == (3, 3)
    assert rows(study) == rows(second_study)


def test_of_two_answers_the_first_is_kept(study, server, run):
    server.batches.script = lambda number: BatchScript(unknown=tuple(batch_ids(study)[-1:]))
    run(study, "batch", "submit", "--model", "m")
    # The stub answers `unknown` ids with the first line's response, after all others.
    out, _err = (run(study, "batch", "status", "--wait"), run(study, "batch", "collect"))[1]
    assert f"  kept: {BATCHED}\n" in out
    assert "  duplicate lines: 1, 1 of them with another answer (the first verdict counts)" in out


def test_a_truncated_file(study, server, run, run_cli):
    """It stays open; what it brought stays when it is given up."""
    server.batches.script = BatchScript(truncated=True)
    run(study, "batch", "submit", "--model", "m")
    run(study, "batch", "status", "--wait")
    out, err = run(study, "batch", "collect", code=1)
    assert f"completed, {BATCHED} of {BATCHED} answered, not all of it in its files" in out
    assert f"counts {BATCHED} results and its files hold {BATCHED - 1}" in err
    assert "collect again" in err
    assert len(rows(study)) == ITEMS - 1
    code, out, _err = run_cli(*shlex.split(err.partition("give it up: judge ")[2]))
    assert (code, "1 request waiting again" in out) == (0, True)
    assert run(study, "--model", "m")[0].startswith("1 item judged")


NO_COUNTS = {"request_counts": {"total": 0, "completed": 0, "failed": 0}}


@pytest.mark.parametrize("counts", [{}, NO_COUNTS], ids=["counts", "no counts"])
@pytest.mark.parametrize("look", ["page", "empty", "no file yet"])
def test_results_that_are_unusable_for_one_look(study, server, run, counts, look):
    run(study, "batch", "submit", "--model", "m")
    run(study, "batch", "status", "--wait")
    (batch,) = server.batches._batches.values()
    batch.shown |= counts
    asked = server.counts["requests"]

    def once(request):
        if request.path.endswith("/content"):
            return Answer(body="<html>\nA page.\n</html>" if look == "page" else b"")
        if look == "no file yet" and request.path.startswith("/v1/batches/"):
            return Answer(body=batch.shown | {"output_file_id": None})
        return None

    server.intercept = once
    _out, err = run(study, "batch", "collect", code=1)
    assert f"judge batch forget {batch.shown['id']}" in err
    assert query(study, "SELECT closed_at FROM batches") == [(None,)]
    assert run(study, "--model", "m")[0].startswith("0 items judged")  # it is not paid again
    server.intercept = lambda request: None
    assert collected(run, study)["kept"] == BATCHED
    assert server.counts["requests"] == asked


def test_a_batch_that_failed_validation_needs_no_files(study, server, run):
    """Whatever its server counts as failed: nothing was run."""
    server.batches.script = BatchScript(statuses=("validating", "failed"))
    run(study, "batch", "submit", "--model", "m")
    run(study, "batch", "status", "--wait")
    (batch,) = server.batches._batches.values()
    batch.shown["request_counts"] = {"total": BATCHED, "completed": 0, "failed": BATCHED}
    assert collected(run, study)["waiting_again"] == BATCHED


@pytest.mark.parametrize("times", [2, 3])
def test_batch_ids_that_start_over(study, server, run, monkeypatch, times):
    monkeypatch.setattr("judge.batch.store.now", lambda: "2026-01-01T00:00:00+00:00")
    for n in range(times):
        server.batches._numbers = itertools.count()
        server.batches._batches.clear()
        run(study, "batch", "submit", "--model", f"m{n}")
        assert collected(run, study)["kept"] == BATCHED
    found = query(study, "SELECT DISTINCT batch_id, judge_id FROM batch_asks")
    assert len(found) == times
    assert len({judge for _, judge in found}) == times
    assert "no open batch" in run(study, "batch", "collect")[0]


@pytest.mark.parametrize("way", ["collect", "forget"])
def test_an_id_that_an_open_batch_of_another_server_has(study, server, run, run_cli, way):
    run(study, "batch", "submit", "--model", "m")
    ((batch_id,),) = query(study, "SELECT batch_id FROM batches")
    with StubServer() as other:
        _out, err = run(study, "batch", "submit", "--model", "n", url=other.url, code=1)
        assert f"still open: {batch_id} at {server.url}; collect that one first, or " in err
        for act in ("status", "collect"):
            out, again = run(study, "batch", act, url=other.url, code=1)
            assert "cut off while submitting" in out
            assert again == err
        where = ("--base-url", other.url, "--study", study.folder)
        code, _out, again = run_cli("batch", "submit", "--model", "n", *where)
        assert (code, again) == (0, err.replace("error", "warning"))
        if way == "collect":
            run(study, "batch", "status", "--wait")
            run(study, "batch", "collect")
        else:
            assert run_cli(*shlex.split(err.partition("give it up: judge ")[2]))[0] == 0
        run(study, "batch", "status", "--wait", url=other.url)
        assert f"  kept: {BATCHED}\n" in run(study, "batch", "collect", url=other.url)[0]
        assert other.calls["POST", "/v1/batches"] == 1


def cut_off(study, server, run, monkeypatch) -> None:
    """A submission of which nobody knows yet whether it arrived."""
    monkeypatch.setattr("judge.batch.leftovers.SETTLED_SECONDS", 0)
    server.intercept = lambda request: Drop() if request.path == "/v1/batches" else None
    run(study, "batch", "submit", "--model", "m", code=1)


@pytest.mark.parametrize("pages", ["in turn", "ever new"])
def test_a_list_without_end(study, server, run, monkeypatch, pages):
    """It ends, and what may have been accepted is not paid for again unasked."""
    monkeypatch.setattr("judge.batch.server.MAX_PAGES", 20)
    cut_off(study, server, run, monkeypatch)
    number = itertools.count()

    def page(_request):
        n = next(number)
        assert n < 100
        name = f"b{n % 2 if pages == 'in turn' else n}"
        return Answer(body={"data": [{"id": name, "status": "completed"}], "has_more": True})

    server.intercept = page
    out, err = run(study, "batch", "status", code=1)
    assert "cut off while submitting" in out
    assert "lists batches without end" in err
    assert next(number) == (3 if pages == "in turn" else 20)
    assert query(study, "SELECT status FROM batches") == [("submitting",)]


@pytest.mark.parametrize("name", ["a\nb", "\ud800", f"batch-{KEY}", "x" * 201])
def test_an_id_that_cannot_be_used(study, server, run, monkeypatch, name):
    """One line, and nothing is asked again that the server may have."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr("judge.batch.leftovers.SETTLED_SECONDS", 0)
    shown = {}

    def odd(request):
        if request.path != "/v1/batches":
            return None
        if request.method == "POST":
            shown.update(id=name, status="validating", metadata=request.body["metadata"])
            return Answer(body=shown)
        return Answer(body={"data": [shown], "has_more": False})

    server.intercept = odd
    _out, err = run(study, "batch", "submit", "--model", "m", code=1)
    assert "something else than a batch or file that can be used" in err
    out, err = run(study, "batch", "status", code=1)
    assert "names no id that can be used" in err
    assert KEY not in out + err
    assert query(study, "SELECT status FROM batches") == [("submitting",)]


def test_names_cannot_act_on_a_terminal(study, server, run, tmp_path):
    model, path = "m", tmp_path / "asked\x1b[31m.jsonl"  # a model's name is refused instead
    said = run(study, "batch", "write", path, "--model", model)[0]
    results = write_lines(tmp_path / "answers\x1b[1m.jsonl", answers(path)[:2])
    said += run(study, "batch", "read", results, "--model", model)[0]
    server.batches.script = lambda number: BatchScript(fails=set(batch_ids(study)[:1]))
    said += run(study, "batch", "submit", "--model", model)[0]
    said += run(study, "batch", "status", "--wait")[0]
    said += run(study, "batch", "collect")[0]
    assert r"asked\x1b[31m" in said
    assert r"answers\x1b[1m" in said
    assert said.replace("\n", "").isprintable()


def test_a_batch_that_fails_validation(study, server, run):
    fault = {"code": "token_limit_exceeded", "message": "Enqueued\ntoken limit", "line": None}
    server.batches.script = BatchScript(statuses=("validating", "failed"), errors=(fault,))
    run(study, "batch", "submit", "--model", "m")
    run(study, "batch", "status", "--wait")
    out, _err = run(study, "batch", "collect")
    assert "  the server says: Enqueued token limit\n" in out
    assert f"  waiting again: {BATCHED}\n" in out
    assert "next: judge batch submit --model m" in out
    assert run(study, "--model", "m")[0].startswith(f"{BATCHED} items judged")


def test_a_verdict_that_came_in_between_stays(study, server, run):
    run(study, "batch", "submit", "--model", "m")
    before = query(study, "SELECT custom_id, judge_id, item_hash FROM batch_asks LIMIT 1")[0]
    database = open_pipeline(study.pipeline)
    database.conn.execute(
        """INSERT INTO judgments (judge_id, item_hash, run_index, invalid_reason, raw, judged_at)
           VALUES (?, ?, 0, 'first', '', '')""",
        before[1:],
    )
    database.close()
    found = collected(run, study)
    assert (found["kept"], found["known"], found["waiting_again"]) == (BATCHED - 1, 1, 0)
    assert [row[6] for row in rows(study) if row[1] == before[2]] == ["first"]


def test_a_collect_that_was_cut_off_is_made_again(study, second_study, server, run, monkeypatch):
    run(second_study, "--model", "m")
    run(study, "batch", "submit", "--model", "m")
    run(study, "batch", "status", "--wait")
    add = Collector.add
    for cut_after in (0, 3, BATCHED):
        left = iter(range(cut_after))

        def add_or_die(self, result, left=left):
            kill() if next(left, None) is None else add(self, result)

        with monkeypatch.context() as patched:
            patched.setattr(Collector, "add", add_or_die)
            patched.setattr("judge.batch.store.BatchStore.close", lambda *_: kill())
            with pytest.raises(Killed):
                run(study, "batch", "collect")
        assert len(rows(study)) == 1 + cut_after
    out, _err = run(study, "batch", "collect", "--json")
    (found,) = json.loads(out)["collected"]
    assert (found["known"], found["kept"]) == (BATCHED, 0)
    assert rows(study) == rows(second_study)
    assert "no open batch" in run(study, "batch", "collect")[0]


def kill():
    raise Killed


@pytest.mark.parametrize("again", ["submit", "status", "collect"])
@pytest.mark.parametrize("reached", [True, False])
def test_killed_while_submitting(study, second_study, server, run, monkeypatch, again, reached):
    """Whether the server was reached or not: nothing is lost, and nothing is paid for twice."""
    start = Client.start_batch

    async def start_and_die(self, *arguments):
        if reached:
            await start(self, *arguments)
        raise Killed

    run(second_study, "--model", "m")
    monkeypatch.setattr("judge.batch.leftovers.SETTLED_SECONDS", 0)
    with monkeypatch.context() as patched:
        patched.setattr(Client, "start_batch", start_and_die)
        with pytest.raises(Killed):
            run(study, "batch", "submit", "--model", "m")
    assert query(study, "SELECT status FROM batches") == [("submitting",)]
    assert run(study, "--model", "m")[0].startswith("0 items judged")  # as long as it is unknown
    options = ("--model", "m") if again == "submit" else ()
    out, _err = run(study, "batch", again, *options)
    if not reached and again != "submit":
        assert "no open batch" in out
        assert query(study, "SELECT * FROM batch_asks") == []
        run(study, "batch", "submit", "--model", "m")
    found = collected(run, study)
    online = 1 if reached else 2
    assert found["asked"] == ITEMS - online
    assert server.calls["POST", "/v1/batches"] == 1
    assert rows(study) == rows(second_study)
    assert server.counts["requests"] == 2 * ITEMS


def test_a_list_that_lags_is_given_time(study, server, run):
    """A lost connection, and a server whose list does not show the batch yet."""
    hidden = {"object": "list", "data": [], "has_more": False}
    server.intercept = lambda request: (
        Drop()
        if (request.method, request.path) == ("POST", "/v1/batches")
        else Answer(body=hidden)
        if request.path == "/v1/batches"
        else None
    )
    _out, err = run(study, "batch", "submit", "--model", "m", code=1)
    assert "run the command again, which finds out" in err
    out, _err = run(study, "batch", "status")
    assert "submitting, or cut off while it was: look again in a minute" in out
    assert query(study, "SELECT status FROM batches") == [("submitting",)]


@pytest.mark.parametrize("status", [404, 405])
def test_a_leftover_of_a_server_that_lists_none(study, server, run, run_cli, monkeypatch, status):
    """--wait ends, and what is to be typed then is said."""
    server.intercept = lambda request: (
        None
        if request.path != "/v1/batches"
        else Drop()
        if request.method == "POST"
        else error(status, "no such thing")
    )
    run(study, "batch", "submit", "--model", "m", code=1)
    assert "look again in a minute" in run(study, "batch", "status")[0]
    monkeypatch.setattr("judge.batch.leftovers.SETTLED_SECONDS", 0.5)
    waits = []

    async def sleep(seconds):
        waits.append(seconds)
        assert len(waits) < 1000
        await asyncio.sleep(0.01)

    (found,) = batch_status(study, server.url, wait=True, sleep=sleep)
    assert found.fault
    _code, _out, err = run_cli(
        *("batch", "submit", "--model", "m", "--base-url", server.url, "--study", study.folder)
    )
    assert f"warning: {server.url} lists no batches, so" in err
    assert run(study, "batch", "collect", code=1)[1] == f"error: {found.fault}\n"
    out, err = run(study, "batch", "status", "--wait", code=1)
    assert "cut off while submitting" in out
    assert "next:" not in out
    command = err.partition("give it up: judge ")[2]
    code, out, _err = run_cli(*shlex.split(command))
    assert (code, out.count(f"{BATCHED} requests waiting again")) == (0, 1)
    assert run(study, "--model", "m")[0].startswith(f"{BATCHED} items judged")


def test_what_is_said_to_be_next_works_as_printed(study, server, run_cli):
    def follow(out: str) -> str:
        (command,) = [line for line in out.splitlines() if line.startswith("next: judge ")]
        code, out, err = run_cli(*shlex.split(command.removeprefix("next: judge ")))
        assert (code, err) == (0, "")
        return out

    where = ("--base-url", server.url, "--study", study.folder)
    server.batches.script = lambda number: BatchScript(
        fails=set() if number else set(batch_ids(study)[:2])
    )
    submitted = follow(run_cli("batch", "status", *where)[1])
    assert f"{BATCHED} requests to NAME in open batches" in submitted
    collected = follow(follow(submitted))
    assert "waiting again: 2" in collected
    submitted = follow(collected)
    assert "1 request to NAME in open batches" in submitted
    running = run_cli("batch", "collect", *where)[1]
    assert "next: judge batch status --wait" in running
    collected = follow(follow(running))
    assert collected.endswith(f"next: calibrate --rubric v3 --study {study.folder}\n")
    assert len(rows(study)) == ITEMS


def test_a_submission_says_how_much_it_is(study, server, run):
    found = json.loads(run(study, "batch", "submit", "--model", "m", "--json")[0])
    collected(run, study)
    counted = query(study, "SELECT prompt_tokens FROM judgments ORDER BY judgment_id")
    taken = sum(tokens for (tokens,) in counted[1:])  # of 4 characters each
    assert taken <= found["prompt_tokens"] <= taken * 1.05  # ours are of 4 bytes
    out, _err = run(study, "batch", "submit", "--model", "n")
    assert f"about {found['prompt_tokens']:,} prompt tokens submitted" in out


def test_a_leftover_on_a_later_page(study, server, run, monkeypatch):
    monkeypatch.setattr("judge.server.client.BATCHES_PER_PAGE", 1)
    monkeypatch.setattr("judge.batch.submit.MAX_REQUESTS", 3)
    run(study, "batch", "submit", "--model", "m")
    shown = [batch.shown for batch in server.batches._batches.values()]
    database = open_pipeline(study.pipeline)
    with database.atomic():
        database.conn.execute("PRAGMA defer_foreign_keys=ON")
        new = (shown[0]["metadata"]["followupeval"], shown[0]["id"])
        database.conn.execute(
            "UPDATE batches SET batch_id = ?, status = 'submitting' WHERE batch_id = ?", new
        )
        database.conn.execute("UPDATE batch_asks SET batch_id = ? WHERE batch_id = ?", new)
    database.close()
    found = json.loads(run(study, "batch", "status", "--json")[0])
    assert sorted(one["batch_id"] for one in found) == sorted(one["id"] for one in shown)


@pytest.mark.parametrize("status", [400, 404, 429])
def test_a_refused_batch_is_one_line_and_holds_nothing(study, server, run, status):
    server.intercept = lambda request: (
        error(status, "no\nway") if request.path == "/v1/batches" else None
    )
    _out, err = run(study, "batch", "submit", "--model", "m", code=1)
    assert "no way" in err
    assert ("judge batch write" in err) == (status == 404)
    assert query(study, "SELECT * FROM batches") == []
    assert query(study, "SELECT * FROM batch_asks") == []
    assert run(study, "--model", "m")[0].startswith(f"{BATCHED} items judged")


@pytest.mark.parametrize("reply", [Answer(body="<html>"), Answer(body=[]), Answer(body={"id": 1})])
@pytest.mark.parametrize("path", ["/v1/files", "/v1/batches"])
def test_a_server_that_makes_no_sense(study, server, run, reply, path):
    server.intercept = lambda request: reply if request.path == path else None
    _out, err = run(study, "batch", "submit", "--model", "m", code=1)
    assert err.startswith(f"error: {server.url} answered with something else")


def test_a_batch_of_another_server_is_left_alone(study, server, run):
    run(study, "batch", "submit", "--model", "m")
    with StubServer() as other:
        for act in ("status", "collect"):
            out, err = run(study, "batch", act, url=other.url, code=1)
            assert f"of {server.url}, left alone: give its --base-url" in out
            assert err.startswith("error: no open batch is at this server; give --base-url")
        assert other.calls.total() == 0
    assert collected(run, study)["kept"] == BATCHED


def test_without_a_server_named_the_one_that_has_the_batches_is_asked(study, run, run_cli):
    run(study, "batch", "submit", "--model", "m")
    code, out, _err = run_cli("batch", "status", "--wait", "--study", study.folder)
    assert (code, "completed" in out) == (0, True)
    code, out, _err = run_cli("batch", "collect", "--study", study.folder)
    assert code == 0
    assert f"kept: {BATCHED}" in out


def test_requests_are_not_mistaken_for_answers(study, run, tmp_path):
    asked = tmp_path / "asked.jsonl"
    run(study, "batch", "write", asked, "--model", "m")
    _out, err = run(study, "batch", "read", asked, "--model", "m", code=1)
    assert err == f"error: {asked} holds requests, not answers; give the file that a runner wrote\n"


def test_a_batch_that_its_server_does_not_know(study, server, run):
    run(study, "batch", "submit", "--model", "m")
    server.batches._batches.clear()
    for act in ("status", "collect"):
        out, err = run(study, "batch", act, code=1)
        assert "unknown to its server" in out
        assert "does not know batch" in err
    ((batch_id, closed_at),) = query(study, "SELECT batch_id, closed_at FROM batches")
    assert closed_at is None
    out, _err = run(study, "batch", "forget", batch_id, url="")
    assert f"{batch_id} is given up: {BATCHED} requests waiting again" in out
    _out, err = run(study, "batch", "forget", batch_id, code=1, url="")
    assert "no open batch" in err
    assert run(study, "--model", "m")[0].startswith(f"{BATCHED} items judged")


def test_results_that_are_gone(study, server, run):
    run(study, "batch", "submit", "--model", "m")
    run(study, "batch", "status", "--wait")
    server.batches._files.clear()
    out, err = run(study, "batch", "collect", code=1)
    assert "unknown to its server" in out
    assert "does not know file" in err
    assert query(study, "SELECT closed_at FROM batches") == [(None,)]


def test_a_result_that_breaks_off_is_fetched_again(study, server, run, monkeypatch):
    monkeypatch.setattr("judge.server.patience.ATTEMPTS", 2)
    monkeypatch.setattr("judge.server.patience.FIRST_WAIT_SECONDS", 0)
    run(study, "batch", "submit", "--model", "m")
    run(study, "batch", "status", "--wait")
    broken = []

    def once(request):
        if not request.path.endswith("/content") or broken:
            return None
        broken.append(request)
        file_id = request.path.split("/")[-2]
        return CutMidBody(server.batches._files[file_id][1], after_bytes=5000)

    server.intercept = once
    assert collected(run, study)["kept"] == BATCHED
    assert len(broken) == 1


def test_what_another_process_is_submitting_is_left_to_it(study, server, run, monkeypatch):
    async def die(*_arguments):
        raise Killed

    monkeypatch.setattr("judge.batch.leftovers.SETTLED_SECONDS", 0)
    with monkeypatch.context() as patched:
        patched.setattr(Client, "start_batch", die)
        with pytest.raises(Killed):
            run(study, "batch", "submit", "--model", "m")
    ((prompt_hash,),) = query(study, "SELECT prompt_hash FROM judges")
    with run_lock(study, "m", prompt_hash):
        assert "submitting" in run(study, "batch", "status")[0]
        _out, err = run(study, "batch", "submit", "--model", "m", code=1)
        assert "another run of m" in err
    assert "no open batch" in run(study, "batch", "status")[0]


def test_the_baseline_needs_no_batch(study, server, run_cli, run, tmp_path):
    for act in (("submit",), ("write", tmp_path / "r.jsonl"), ("read", tmp_path / "r.jsonl")):
        code, _out, err = run_cli("batch", *act, "--study", study.folder)
        assert (code, err.count("\n")) == (1, 1)
        assert "the lexical baseline needs no batch" in err


def test_the_key_is_neither_shown_nor_stored(study, server, run, monkeypatch, files_of, tmp_path):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    echo = completion(verdict(rationale=f"By {KEY}."))
    server.behave = lambda request: Answer(body=echo)
    out = run(study, "batch", "submit", "--model", "m")[0] + json.dumps(collected(run, study))
    assert KEY not in out
    assert len(rows(study)) == ITEMS
    assert KEY.encode() not in files_of(tmp_path)


def answers(path: Path, behave=any_verdict) -> list[dict]:
    """What a runner such as vLLM's makes of a file of requests, in another order."""
    with StubServer(behave) as runner:
        asks = [json.loads(line) for line in path.read_bytes().splitlines()]
        found = [
            (ask["custom_id"], runner._ask_line(ask["custom_id"], ask["body"])) for ask in asks
        ]
    return [
        {
            "id": f"vllm-{custom_id}",
            "custom_id": custom_id,
            "response": {"status_code": status, "request_id": "r", "body": body},
            "error": None,
        }
        if status == 200
        else {
            "id": f"vllm-{custom_id}",
            "custom_id": custom_id,
            "response": {"status_code": status, "request_id": "r", "body": None},
            "error": body,
        }
        for custom_id, (status, body) in reversed(found)
    ]


def write_lines(path: Path, lines: list[dict]) -> Path:
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


@pytest.mark.parametrize("behave", [any_verdict, mixed], ids=["valid", "every kind"])
def test_by_files_the_same_rows_as_online(study, second_study, server, run, tmp_path, behave):
    server.behave = behave
    run(second_study, "--model", "m", "--runs", 2)
    path = tmp_path / "requests.jsonl"
    out, _err = run(study, "batch", "write", path, "--model", "m", "--runs", 2)
    assert f"{2 * ITEMS} requests to m" in out
    assert f"judge batch read ANSWERS.jsonl --model m --runs 2 --study {study.folder}" in out
    assert query(study, "SELECT * FROM batches") == []
    results = write_lines(tmp_path / "answers.jsonl", answers(path, behave))
    out, _err = run(study, "batch", "read", results, "--model", "m", "--runs", 2)
    assert "  still waiting: 0\n" in out
    assert rows(study) == rows(second_study)
    out, _err = run(study, "batch", "read", results, "--model", "m", "--runs", 2, "--json")
    found = json.loads(out)
    assert (found["kept"], found["invalid"], found["known"]) == (0, 0, 2 * ITEMS)


def test_a_file_needs_neither_server_nor_key(study, server, run_cli, run, tmp_path):
    options = ("--model", "m", "--study", study.folder)
    path = tmp_path / "requests.jsonl"
    assert run_cli("batch", "write", path, *options)[0] == 0
    bodies = [json.loads(line)["body"] for line in path.read_bytes().splitlines()]
    assert not any("logprobs" in body for body in bodies)
    results = write_lines(tmp_path / "answers.jsonl", answers(path))
    assert run_cli("batch", "read", results, *options)[0] == 0
    assert server.calls.total() == 0
    assert len(rows(study)) == ITEMS
    path.unlink()
    code, out, _err = run_cli("batch", "write", path, *options)
    assert (code, path.exists()) == (0, False)
    assert "nothing is waiting for m; no file was written" in out


def test_a_file_is_never_overwritten(study, server, run, tmp_path):
    path = tmp_path / "requests.jsonl"
    path.write_text("mine")
    _out, err = run(study, "batch", "write", path, "--model", "m", code=1)
    assert "is there already" in err
    assert path.read_text() == "mine"


@pytest.mark.parametrize("nameless", [False, True])
def test_a_file_holds_what_the_server_agreed_to(
    study, second_study, server, run, tmp_path, nameless
):
    """No seed at this server: what is written then is the judge that ran online."""

    def behave(request):
        if "seed" in request.body:
            return error(400, "Unsupported parameter: 'seed'", param="seed")
        return any_verdict(request)

    server.behave = behave
    run(second_study, "--model", "m")
    asked = len(server.requests)
    run(study, "batch", "submit", "--model", "m")
    collected(run, study)
    path = tmp_path / "requests.jsonl"
    run(study, "batch", "write", path, "--model", "m", "--runs", 2, url="" if nameless else None)
    bodies = [json.loads(line)["body"] for line in path.read_bytes().splitlines()]
    assert len(bodies) == ITEMS
    assert all("seed" not in body and body["logprobs"] for body in bodies)
    assert rows(study) == rows(second_study)
    assert len(server.requests) == 2 * asked
    results = write_lines(tmp_path / "answers.jsonl", answers(path))
    out, _err = run(study, "batch", "read", results, "--model", "m", "--runs", 2)
    assert f"  kept: {ITEMS}\n" in out


def test_answers_to_another_judge_are_not_stored(study, server, run, tmp_path):
    path = tmp_path / "requests.jsonl"
    run(study, "batch", "write", path, "--model", "m")
    lines = answers(path)
    results = write_lines(tmp_path / "answers.jsonl", lines)
    out, err = run(study, "batch", "read", results, "--model", "n", code=1)
    assert f"  lines with an unknown id: {ITEMS} " in out
    assert "answers nothing that this judge was asked here" in err
    assert rows(study) == []
    odd = [*lines, lines[0], {"custom_id": "x"}, {"custom_id": 1}, lines[1] | {"response": None}]
    results = write_lines(tmp_path / "odd.jsonl", odd)
    found = json.loads(run(study, "batch", "read", results, "--model", "m", "--json")[0])
    assert (found["kept"], found["unknown"], found["unreadable"]) == (ITEMS, 1, 1)
    assert (found["duplicates"], found["differing"], found["waiting"]) == (2, 1, 0)


@pytest.mark.parametrize("name", ["missing.jsonl", "."])
def test_a_file_that_cannot_be_read(study, server, run_cli, run, tmp_path, name):
    code, _out, err = run_cli(
        "batch", "read", tmp_path / name, "--model", "m", "--study", study.folder
    )
    assert code == (1 if name == "missing.jsonl" else 2)
    assert "missing.jsonl" in err or "is a directory" in err


def test_an_upload_that_breaks_off_is_made_again_in_full(study, server, run, monkeypatch):
    monkeypatch.setattr("judge.server.patience.FIRST_ATTEMPTS", 2)
    monkeypatch.setattr("judge.server.patience.FIRST_WAIT_SECONDS", 0)
    broken = []

    def once(request):
        if request.path != "/v1/files" or broken:
            return None
        broken.append(request)
        return Drop()

    server.intercept = once
    run(study, "batch", "submit", "--model", "m")
    assert len(broken) == 1
    assert collected(run, study)["kept"] == BATCHED
