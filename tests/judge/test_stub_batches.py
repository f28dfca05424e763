"""The stub's Files and Batch API, seen through the real openai client."""

import json
from pathlib import Path

import openai
import pytest
from stub_batches import BatchScript
from stub_http import Answer, CutMidBody, Drop
from stub_server import StubServer, any_verdict, error

ENDPOINT = "/v1/chat/completions"
IDS = tuple(f"i{number}" for number in range(6))
FAILED = {"status_code": 500, "body": {"error": {"message": "no"}}}


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def client_of(server) -> openai.OpenAI:
    return openai.OpenAI(base_url=server.url, api_key="none", max_retries=0)


def request(turn: str, model: str = "m") -> dict:
    content = f"<turn>\n{turn}\n</turn>"
    return {"model": model, "messages": [{"role": "user", "content": content}]}


def batch_lines(ids=IDS, **changes) -> bytes:
    lines = (
        {"custom_id": name, "method": "POST", "url": ENDPOINT, "body": request(name)}
        for name in ids
    )
    return b"".join(json.dumps({**line, **changes}).encode() + b"\n" for line in lines)


def run_batch(client, tmp_path: Path, content: bytes | None = None):
    """The batch when it has ended, its output and its errors, each as lines."""
    path = tmp_path / "in put.jsonl"
    path.write_bytes(batch_lines() if content is None else content)
    file = client.files.create(file=path, purpose="batch")
    assert client.files.content(file.id).content == path.read_bytes()
    assert (file.filename, file.bytes) == (path.name, path.stat().st_size)
    batch = client.batches.create(
        input_file_id=file.id,
        endpoint=ENDPOINT,
        completion_window="24h",
        metadata={"a": "b"},
    )
    assert batch.status == "validating"
    assert next(iter(client.batches.list(limit=1))).metadata == {"a": "b"}
    while batch.status in ("validating", "in_progress", "finalizing", "cancelling"):
        batch = client.batches.retrieve(batch.id)
    return batch, *(
        client.files.content(file_id).content.splitlines() if file_id else []
        for file_id in (batch.output_file_id, batch.error_file_id)
    )


def named(lines: list[bytes]) -> list[str]:
    return [json.loads(line)["custom_id"] for line in lines]


def test_a_batch(tmp_path):
    with StubServer() as server, client_of(server) as client:
        batch, output, errors = run_batch(client, tmp_path)
        assert (batch.status, batch.error_file_id, errors) == ("completed", None, [])
        assert batch.request_counts.to_dict() == {"total": 6, "completed": 6, "failed": 0}
        assert batch.created_at <= batch.in_progress_at <= batch.completed_at < batch.expires_at
        response = json.loads(output[0])["response"]
        assert response["status_code"] == 200
        asked = client.chat.completions.create(**request(IDS[0]))
        assert asked.to_dict() == response["body"]
        assert named(output) == [asked.custom_id for asked in server.requests[:6]] == list(IDS)
        assert {"requests": 7, "by_body": 6, "duplicates": 1}.items() <= server.counts.items()


@pytest.mark.parametrize(
    ("fails", "failure"),
    [
        ({"i1", "i4"}, FAILED),
        (lambda custom_id: custom_id in ("i1", "i4"), {"code": "server_error", "message": "no"}),
    ],
)
def test_lines_that_fail_by_script(tmp_path, fails, failure):
    script = BatchScript(fails=fails, failure=failure)
    with StubServer(batch=script) as server, client_of(server) as client:
        batch, output, errors = run_batch(client, tmp_path)
    assert batch.request_counts.to_dict() == {"total": 6, "completed": 4, "failed": 2}
    assert (named(output), named(errors)) == (["i0", "i2", "i3", "i5"], ["i1", "i4"])
    line = json.loads(errors[0])
    assert line.keys() == {"id", "custom_id", "response", "error"}
    if failure is FAILED:
        assert line["response"] == {"request_id": "req_i1", **FAILED}
        assert line["error"] is None
    else:
        assert (line["response"], line["error"]) == (None, failure)


def test_lines_that_fail_by_behaviour(tmp_path):
    replies = {"i2": error(400, "no", "content_filter"), "i3": Drop()}
    with StubServer(lambda r: replies.get(r.custom_id) or any_verdict(r)) as server:
        _batch, output, errors = run_batch(client_of(server), tmp_path)
    assert named(output) == ["i0", "i1", "i4", "i5"]
    refused, lost = map(json.loads, errors)
    assert refused["response"]["body"] == replies["i2"].body
    assert (lost["response"], lost["error"]["code"]) == (None, "request_timeout")


@pytest.mark.parametrize("answered", [0, 2])
def test_an_expired_batch(tmp_path, answered):
    script = BatchScript(("validating", "in_progress", "expired"), answered=answered)
    with StubServer(batch=script) as server:
        batch, output, errors = run_batch(client_of(server), tmp_path)
        assert server.counts["requests"] == answered
    assert batch.status == "expired"
    assert batch.request_counts.to_dict() == {
        "total": 6,
        "completed": answered,
        "failed": 6 - answered,
    }
    assert bool(batch.output_file_id) == bool(answered)
    assert (named(output), named(errors)) == (list(IDS[:answered]), list(IDS[answered:]))
    line = json.loads(errors[0])
    assert (line["response"], line["error"]["code"]) == (None, "batch_expired")


def test_a_cancelled_batch(tmp_path):
    script = BatchScript(("validating", "in_progress"), answered=1)
    with StubServer(batch=script) as server, client_of(server) as client:
        file = client.files.create(file=("a.jsonl", batch_lines()), purpose="batch")
        batch = client.batches.create(
            input_file_id=file.id, endpoint=ENDPOINT, completion_window="24h"
        )
        assert client.batches.cancel(batch.id).status == "cancelling"
        batch = client.batches.retrieve(batch.id)
        assert (batch.status, batch.request_counts.completed) == ("cancelled", 1)
        errors = client.files.content(batch.error_file_id).content.splitlines()
        assert {json.loads(line)["error"]["code"] for line in errors} == {"batch_cancelled"}
        with pytest.raises(openai.ConflictError):
            client.batches.cancel(batch.id)


def test_odd_output_files(tmp_path):
    scripts = (
        BatchScript(reversed=True, doubled={"i1"}, unknown=("x",)),
        BatchScript(garbage=(b"<html>", b"")),
        BatchScript(truncated=True),
    )
    with StubServer(batch=lambda number: scripts[number]) as server, client_of(server) as client:
        batch, output, _errors = run_batch(client, tmp_path)
        assert named(output) == ["x", "i1", "i5", "i4", "i3", "i2", "i1", "i0"]
        assert batch.request_counts.completed == 6
        _batch, output, _errors = run_batch(client, tmp_path)
        assert output[3:5] == [b"<html>", b""]
        assert named(output[:3] + output[5:]) == list(IDS)
        _batch, output, _errors = run_batch(client, tmp_path)
        assert named(output[:-1]) == list(IDS[:-1])
        with pytest.raises(json.JSONDecodeError):
            json.loads(output[-1])


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"", ("empty_file", None)),
        (b"{}\n", ("invalid_json_line", 1)),
        (batch_lines()[:-9], ("invalid_json_line", 6)),
        (batch_lines(("a", "b", "a")), ("duplicate_custom_id", 3)),
        (batch_lines(url="/v1/responses"), ("url_mismatch", 1)),
        (batch_lines() + batch_lines(("x",), body=request("x", "n")), ("model_mismatch", 7)),
        (batch_lines(range(9)), ("too_many_tasks", None)),
    ],
)
def test_an_input_that_fails_validation(tmp_path, content, fault):
    with StubServer(batch=BatchScript(max_requests=8)) as server:
        batch, *results = run_batch(client_of(server), tmp_path, content)
        assert server.requests == []
    assert (batch.status, results) == ("failed", [[], []])
    assert (batch.errors.data[0].code, batch.errors.data[0].line) == fault
    assert batch.request_counts.total == 0


def test_a_validation_that_fails_by_script(tmp_path):
    refusal = {"code": "token_limit_exceeded", "message": "Enqueued token limit", "line": None}
    script = BatchScript(("validating", "failed"), errors=(refusal,))
    with StubServer(batch=script) as server:
        batch, *_results = run_batch(client_of(server), tmp_path)
    assert (batch.status, batch.errors.data[0].code) == ("failed", "token_limit_exceeded")


def test_faults_on_the_way_to_the_batch_api(tmp_path):
    """The first try of every call fails in one way or another; nothing is lost by it."""

    def intercept(asked):
        faults = {
            ("POST", "/v1/files"): error(503, "no"),
            ("POST", "/v1/batches"): error(429, "no"),
        }
        reply = faults.get((asked.method, asked.path))
        if asked.path.endswith("/content"):
            reply = CutMidBody({"a": 1}, 3)
        return reply if asked.number == 0 else None

    with StubServer(intercept=intercept) as server, client_of(server) as client:
        options = {"endpoint": ENDPOINT, "completion_window": "24h"}
        with pytest.raises(openai.InternalServerError):
            client.files.create(file=("a.jsonl", batch_lines()), purpose="batch")
        file = client.files.create(file=("a.jsonl", batch_lines()), purpose="batch")
        with pytest.raises(openai.RateLimitError):
            client.batches.create(input_file_id=file.id, **options)
        ids = [client.batches.create(input_file_id=file.id, **options).id for _ in range(3)]
        assert [batch.id for batch in client.batches.list(limit=2)] == ids[::-1]
        with pytest.raises(openai.APIConnectionError):
            client.files.content(file.id)
        assert client.files.content(file.id).content == batch_lines()
        assert client.files.delete(file.id).deleted
        for missing in (client.files.retrieve, client.batches.retrieve):
            with pytest.raises(openai.NotFoundError):
                missing(file.id)
        assert server.calls["POST", "/v1/batches"] == 4


def test_a_script_answers_only_with_what_it_was_given(tmp_path):
    with StubServer(lambda asked: Answer(body={"for": asked.custom_id})) as server:
        _batch, output, _errors = run_batch(client_of(server), tmp_path)
    bodies = [json.loads(line)["response"]["body"] for line in output]
    assert bodies == [{"for": custom_id} for custom_id in IDS]
