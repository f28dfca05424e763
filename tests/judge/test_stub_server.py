"""The stub server does what it says, seen through the real openai client without its retries."""

import asyncio
import json
import subprocess
import sys
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import openai
import pytest
import stub_server
from stub_http import Answer, CutMidBody, Drip, Drop, Held, Stall
from stub_server import StubServer, completion, error, turn_of, verdict

from judge.verdict import parse_verdict

BODY = completion(verdict())


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def client_of(server, **options) -> openai.OpenAI:
    return openai.OpenAI(base_url=server.url, api_key="none", max_retries=0, **options)


def request(turn: str = "Why 48?") -> dict:
    messages = [{"role": "system", "content": "s" * 8000}]
    messages.append({"role": "user", "content": f"<turn>\n{turn}\n</turn>"})
    return {"model": "m", "messages": messages}


def ask(server, **options):
    with client_of(server, **options) as client:
        return client.chat.completions.create(**request())


def counts(**expected):
    return lambda found: expected.items() <= found.items()


def test_by_default_each_turn_has_a_valid_verdict_of_its_own(rubric):
    assert tuple(stub_server.LABELS) == rubric.category_ids
    with StubServer() as server, client_of(server) as client:
        given = [client.chat.completions.create(**request(f"turn {n % 50}")) for n in range(100)]
        contents = [reply.choices[0].message.content for reply in given]
        judgments = [parse_verdict(content, rubric) for content in contents]
        assert all(judgment.valid for judgment in judgments)
        assert {judgment.label for judgment in judgments} == set(rubric.category_ids)
        assert judgments[:50] == judgments[50:]
        assert given[0].usage.prompt_tokens > given[0].usage.prompt_tokens_details.cached_tokens > 0
        assert [model.id for model in client.models.list()] == ["m"]
        (connection,) = server.connections
        assert connection  # kept alive for all of them
        server.wait_until(counts(requests=100, by_body=50, duplicates=50, in_flight=0))
        assert turn_of(server.requests[1].body) == "turn 1"
        assert server.requests[1].headers["authorization"] == "Bearer none"
        assert [asked.number for asked in server.requests] == list(range(100))


def test_many_at_once_through_the_async_client():
    async def ask_all(url: str) -> list:
        async with openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:
            turns = [client.chat.completions.create(**request(str(n))) for n in range(100)]
            return await asyncio.gather(*turns)

    with StubServer(latency=0.05) as server:
        given = asyncio.run(ask_all(server.url))
        assert len(given) == server.counts["requests"] == server.counts["by_body"] == 100
        assert server.counts["most_in_flight"] > 1


def test_what_a_script_makes_arrives():
    logprobs = {"content": [{"token": "a", "logprob": -0.5, "bytes": [97], "top_logprobs": []}]}
    body = completion(None, "length", "No.", (100, 64, 7), logprobs)
    with StubServer(lambda request: Answer(body=body, headers={"X-Odd": "1"})) as server:
        with client_of(server) as client:
            raw = client.chat.completions.with_raw_response.create(**request())
        reply = raw.parse()
        (choice,) = reply.choices
        assert raw.headers["x-odd"] == "1"
        assert (choice.finish_reason, choice.message.refusal) == ("length", "No.")
        assert choice.logprobs.content[0].logprob == -0.5
        assert (reply.usage.total_tokens, reply.usage.prompt_tokens_details.cached_tokens) == (
            107,
            64,
        )


@pytest.mark.parametrize(
    ("reply", "raised"),
    [
        (error(400, "no", "content_filter"), openai.BadRequestError),
        (error(401, "no"), openai.AuthenticationError),
        (error(403, "no"), openai.PermissionDeniedError),
        (error(404, "no"), openai.NotFoundError),
        (error(408, "no"), openai.APIStatusError),
        (error(409, "no"), openai.ConflictError),
        (error(429, "no", headers={"Retry-After": "1"}), openai.RateLimitError),
        (error(429, "no", "insufficient_quota"), openai.RateLimitError),
        (error(500, "no"), openai.InternalServerError),
        (error(529, "no"), openai.InternalServerError),
        (Drop(), openai.APIConnectionError),
        (Drop(reset=True), openai.APIConnectionError),
        (CutMidBody(BODY, 0), openai.APIConnectionError),
        (CutMidBody(BODY, 40), openai.APIConnectionError),
        (CutMidBody(BODY, 40, reset=True), openai.APIConnectionError),
        (Stall(), openai.APITimeoutError),
        (Answer(body=b'{"choices": '), json.JSONDecodeError),
    ],
    ids=lambda value: getattr(value, "__name__", repr(value)[:30]),
)
def test_each_fault_as_the_client_sees_it(reply, raised):
    with StubServer(lambda request: reply) as server:
        with pytest.raises(raised) as caught:
            ask(server, timeout=0.3 if reply == Stall() else 30)
        assert type(caught.value) is raised
        if isinstance(caught.value, openai.APIStatusError):
            assert caught.value.body == reply.body["error"]
            assert caught.value.response.headers.get("retry-after") == reply.headers.get(
                "Retry-After"
            )
        server.behave = stub_server.any_verdict
        assert ask(server).choices
        server.wait_until(counts(requests=2, in_flight=0))


def test_a_web_page_passes_the_client_as_text():
    with StubServer(lambda request: Answer(body="<html>Welcome</html>")) as server:
        assert ask(server) == "<html>Welcome</html>"


def test_a_reply_in_drips_is_whole():
    with StubServer(lambda request: Drip(BODY, pieces=9)) as server:
        assert ask(server).choices[0].message.content == verdict()


def test_held_replies_come_when_the_test_says_so():
    held = [Held(), Held()]
    with StubServer(lambda request: held[request.number]) as server:
        with ThreadPoolExecutor() as pool:
            asked = [pool.submit(ask, server) for _ in held]
            server.wait_until(counts(in_flight=2))
            assert not any(given.done() for given in asked)
            for one in held:
                one.future.set_result(Answer(body=BODY))
            assert all(given.result(30).choices for given in asked)
        server.wait_until(counts(in_flight=0, most_in_flight=2))


def test_closing_hangs_up_on_who_still_waits():
    with ThreadPoolExecutor() as pool:
        with StubServer(lambda request: Stall()) as server:
            asked = pool.submit(ask, server)
            server.wait_until(counts(in_flight=1))
        assert isinstance(asked.exception(30), openai.APIConnectionError)
        assert isinstance(pool.submit(ask, server).exception(30), openai.APIConnectionError)


@pytest.mark.parametrize("script", [lambda request: 1 / 0, lambda request: None])
def test_a_script_that_fails_is_no_silent_500(script):
    server = StubServer(script).start()
    with pytest.raises(openai.InternalServerError, match="the stub's script failed"):
        ask(server)
    with pytest.raises((ZeroDivisionError, TypeError)):
        server.close()


def test_a_chunked_request():
    content = json.dumps(request()).encode()
    with StubServer() as server:
        headers = {"Content-Type": "application/json"}
        pieces = iter([content[:10], content[10:]])  # of unknown length: sent in chunks
        sent = urllib.request.Request(f"{server.url}/chat/completions", pieces, headers)
        assert json.load(urllib.request.urlopen(sent))["choices"]
        assert server.requests[0].headers["transfer-encoding"] == "chunked"
        assert server.requests[0].raw == content


def test_the_process():
    command = [sys.executable, stub_server.__file__, "--latency", "0.01"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            server = StubServer()
            server.port = int(process.stdout.readline().split(":")[2].split("/")[0])
            assert ask(server) == ask(server)
            with urllib.request.urlopen(server.url.replace("/v1", "/counts")) as reply:
                found = json.load(reply)
        finally:
            process.kill()
    assert found["in_flight"] == 0
    assert counts(requests=2, by_body=1, duplicates=1, most_in_flight=1)(found)
