"""Servers as the engine, against a stub that fails as it is told; nothing here needs vLLM."""

import asyncio
import signal
import subprocess
import sys
import threading
import time
from itertools import count
from pathlib import Path

import completions_server
import httpx
import pytest
from completions_server import CompletionsStub, Fault, answer_tokens
from stub_server import error

from generation.engines import server_engine
from generation.engines.completions_server import CompletionsServer
from generation.engines.engine import Completion, EngineDied, Failure, Request, Sampling
from generation.engines.server_engine import ServerEngine
from rubrics import InputError

STOPS = (2, 3)
BAD = 77  # a token that faults are told to look for


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(server_engine, "FIRST_WAIT_SECONDS", 0.0)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def request(number: int, *tokens: int, temperature: float = 0.7, **sampling) -> Request:
    sampling = {"seed": number, "max_tokens": 16, "stop_token_ids": STOPS} | sampling
    prompt = (10, 11 + number % 50, *tokens)
    return Request(f"row {number}", prompt, Sampling(temperature, **sampling))


def engine_over(*servers: CompletionsStub, **options) -> ServerEngine:
    options = {"model": "m", "context_length": 4096, "in_flight": 8} | options
    return ServerEngine([server.url for server in servers], **options)


def complete(engine: ServerEngine, requests) -> dict[str, Completion | Failure]:
    rows = list(engine.generate(requests))
    assert len({row_id for row_id, _ in rows}) == len(rows), "a row came back twice"
    return dict(rows)


def test_every_row_comes_back_once_with_the_servers_tokens():
    requests = [request(number) for number in range(100)]
    with CompletionsStub() as server:
        done = complete(engine_over(server), requests)
        bodies = [asked.body for asked in server.requests[1:]]
    assert done.keys() == {asked.row_id for asked in requests}
    said = {(*body["prompt"], body["seed"]): answer_tokens(body) for body in bodies}
    for asked in requests:
        completion = done[asked.row_id]
        assert list(completion.token_ids) == said[(*asked.prompt, asked.sampling.seed)]
        ended = completion.token_ids[-1] in STOPS
        assert completion.finish_reason == ("stop" if ended else "length")
        assert completion.stop == (completion.token_ids[-1] if ended else None)
    assert {completion.finish_reason for completion in done.values()} == {"stop", "length"}


def test_every_sampling_parameter_is_sent():
    asked = request(1, temperature=0.3, top_p=0.9, top_k=5, stop_strings=("</user>",))
    with CompletionsStub() as server:
        complete(engine_over(server), [asked])
        body = server.requests[-1].body
    assert body == {
        **{"model": "m", "prompt": list(asked.prompt), "temperature": 0.3, "top_p": 0.9},
        **{"top_k": 5, "min_p": 0.0, "repetition_penalty": 1.0, "presence_penalty": 0.0},
        **{"frequency_penalty": 0.0, "seed": 1, "max_tokens": 16, "stop_token_ids": [2, 3]},
        **{"stop": ["</user>"], "n": 1, "stream": False, "ignore_eos": False},
        **{"add_special_tokens": False, "skip_special_tokens": False},
        **{"spaces_between_special_tokens": False, "return_token_ids": True},
    }


def test_requests_are_read_only_as_far_ahead_as_may_be_in_flight():
    taken = count()
    endless = (request(next(taken)) for _ in count())
    with CompletionsStub() as server:
        rows = engine_over(server, in_flight=5).generate(endless)
        for _ in range(40):
            next(rows)
        rows.close()
        assert server.counts["most_in_flight"] <= 5
    assert next(taken) <= 40 + 5


def test_rows_are_shared_among_the_servers():
    with CompletionsStub(latency=0.01) as first, CompletionsStub(latency=0.01) as second:
        complete(engine_over(first, second), (request(number) for number in range(60)))
        counts = [server.counts["requests"] - 1 for server in (first, second)]
        most = [server.counts["most_in_flight"] for server in (first, second)]
    assert sum(counts) == 60
    assert min(counts) >= 20
    assert max(most) <= 5, "the eight in flight were not spread"


@pytest.mark.parametrize("kind", ["429", "500", "503", "garbage", "half", "hang-up"])
def test_what_passes_is_tried_again(kind):
    with CompletionsStub(Fault(kind, first=1, last=12)) as server:
        done = complete(engine_over(server), (request(number) for number in range(30)))
        assert server.counts["requests"] == 1 + 30 + 12
    assert all(isinstance(outcome, Completion) for outcome in done.values())


@pytest.mark.parametrize(
    ("kind", "says"), [("500", "told to say 500"), ("garbage", "JSON"), ("hang-up", "disconnected")]
)
def test_a_row_that_fails_for_ever_is_an_error_of_its_own(kind, says):
    with CompletionsStub(Fault(kind, token=BAD)) as server:
        done = complete(engine_over(server), [request(0), request(1, BAD), request(2)])
        assert server.counts["requests"] == 1 + 2 + server_engine.ATTEMPTS
    failure = done.pop("row 1")
    assert failure.kind == "server"
    assert says in failure.message
    assert "\n" not in failure.message
    assert all(isinstance(outcome, Completion) for outcome in done.values())


def test_a_refused_row_is_an_error_in_the_servers_words_and_not_tried_again():
    with CompletionsStub(Fault("400", token=BAD)) as server:
        done = complete(engine_over(server), [request(0), request(1, BAD)])
        assert server.counts["requests"] == 1 + 2
    assert done["row 1"] == Failure("refused", "the server: 400: told to say 400")
    assert isinstance(done["row 0"], Completion)


def test_a_prompt_longer_than_the_servers_context_is_refused_before_it_is_sent():
    with CompletionsStub(max_model_len=64) as server:
        engine = engine_over(server)
        assert engine.context_length == 64
        done = complete(engine, [request(0, *range(100, 150))])
        assert server.counts["requests"] == 1
    assert done["row 0"].kind == "refused"
    assert "52 tokens and up to 16 more do not fit the context of 64" in done["row 0"].message


def test_a_row_that_the_engine_ended_is_no_completion():
    with CompletionsStub(Fault("abort", token=BAD)) as server:
        done = complete(engine_over(server), [request(0, BAD)])
    assert done["row 0"].kind == "unfinished"


def test_a_server_that_asks_for_time_gets_it_and_the_other_goes_on(monkeypatch):
    monkeypatch.setitem(completions_server.HEADERS, 429, {"Retry-After": "3600"})
    with CompletionsStub(Fault("429", first=1)) as tired, CompletionsStub() as other:
        done = complete(engine_over(tired, other), (request(number) for number in range(40)))
        assert tired.counts["requests"] <= 1 + 8, "it was asked again"
    assert sum(isinstance(outcome, Completion) for outcome in done.values()) == 40


def test_a_server_that_dies_is_left_out_and_nothing_is_lost(caplog):
    with CompletionsStub(Fault("die", first=10)) as first, CompletionsStub() as second:
        done = complete(engine_over(first, second), (request(number) for number in range(80)))
    assert sum(isinstance(outcome, Completion) for outcome in done.values()) == 80
    assert f"{first.url} is not reached any more" in caplog.text


def test_a_server_that_is_away_for_a_while_is_waited_for_longer_each_time(monkeypatch, caplog):
    post, waits = httpx.AsyncClient.post, []

    async def away(client, *arguments, **content):
        listens = len(waits) == server_engine.ATTEMPTS - 1
        await asyncio.sleep(0.01)  # so that all in flight find out at once
        if not listens:
            raise httpx.ConnectError("refused")
        return await post(client, *arguments, **content)

    monkeypatch.setattr(server_engine, "FIRST_WAIT_SECONDS", 1.0)
    monkeypatch.setattr(CompletionsServer, "rest", lambda _, seconds: waits.append(seconds))
    monkeypatch.setattr(httpx.AsyncClient, "post", away)
    with CompletionsStub() as server:
        done = complete(engine_over(server), (request(number) for number in range(30)))
    assert waits == [1, 2, 4, 8, 16, 32, 60]
    assert sum(isinstance(outcome, Completion) for outcome in done.values()) == 30
    assert caplog.text.count("is not reached and tried again") == 1


def test_a_server_that_was_reached_again_has_all_its_tries_again(monkeypatch):
    post, sent = httpx.AsyncClient.post, count()

    async def away_now_and_then(client, *arguments, **content):
        if next(sent) % server_engine.ATTEMPTS:  # all but one of the tries
            raise httpx.ConnectError("refused")
        return await post(client, *arguments, **content)

    monkeypatch.setattr(httpx.AsyncClient, "post", away_now_and_then)
    with CompletionsStub() as server:
        engine = engine_over(server, in_flight=1)
        done = complete(engine, (request(number) for number in range(5)))
    assert sum(isinstance(outcome, Completion) for outcome in done.values()) == 5


def test_while_one_server_is_waited_for_the_others_do_the_work(monkeypatch, caplog):
    monkeypatch.setattr(server_engine, "FIRST_WAIT_SECONDS", 30.0)
    began = time.monotonic()
    with CompletionsStub() as first, CompletionsStub() as second:
        engine = engine_over(first, second)
        monkeypatch.setattr(engine._servers[0], "base_url", "http://127.0.0.1:9/v1")
        done = complete(engine, (request(number) for number in range(40)))
    assert time.monotonic() - began < 20
    assert sum(isinstance(outcome, Completion) for outcome in done.values()) == 40
    assert "is not reached and tried again" in caplog.text
    assert "any more" not in caplog.text


def test_what_was_done_is_kept_when_the_last_server_dies():
    rows = []
    with CompletionsStub(Fault("die", first=30)) as server:
        generating = engine_over(server).generate(request(number) for number in range(80))
        with pytest.raises(EngineDied, match=r"no server is reached any more .* same command"):
            rows.extend(iter(lambda: next(generating), None))
    answered = server.counts["requests"] - 1 - 8  # the probe; some that were under way
    assert answered <= len(rows) < 80
    assert all(isinstance(outcome, Completion) for _, outcome in rows)


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("401", "check the key in OPENAI_API_KEY"),
        ("403", "may use this model"),
        ("404", "ends in /v1"),
        ("changed", "the one of 2 it was sent; expected token ids to pass unchanged"),
        ("no-ids", "no token_ids and prompt_token_ids"),
    ],
)
def test_what_no_row_can_survive_ends_the_run_in_one_line(kind, says):
    with CompletionsStub(Fault(kind, first=5)) as server:
        generating = engine_over(server).generate(request(number) for number in range(80))
        with pytest.raises(EngineDied) as died:
            list(generating)
    assert says in str(died.value)
    assert "\n" not in str(died.value)


@pytest.mark.parametrize(
    ("fault", "options", "says"),
    [
        (None, {"model": "other"}, "serves no model named other; it serves: m"),
        ("no-ids", {}, "does not take token ids"),
        ("changed", {}, "does not take token ids: it read a prompt of 4 tokens"),
        ("401", {}, "check the key in OPENAI_API_KEY"),
        ("garbage", {}, "does not answer as a vLLM server"),
        ("500", {}, "answered 500: told to say 500"),
    ],
)
def test_a_server_that_cannot_be_used_is_refused_at_the_start(fault, options, says):
    with (
        CompletionsStub(*([Fault(fault)] if fault else [])) as server,
        pytest.raises(InputError) as refused,
    ):
        engine_over(server, **options)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_every_server_is_tried_at_the_start():
    with CompletionsStub() as server:
        urls = [server.url, "http://127.0.0.1:9/v1"]
        with pytest.raises(InputError, match=r"cannot reach http://127\.0\.0\.1:9/v1"):
            ServerEngine(urls, model="m", context_length=64)
        with pytest.raises(InputError, match="ends in /v1"):
            ServerEngine([server.url.removesuffix("/v1")], model="m", context_length=64)


def test_no_server_is_an_input_error():
    with pytest.raises(InputError, match="no server"):
        ServerEngine([], model="m", context_length=64)


def test_the_key_is_sent_and_never_shown(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-1")
    with CompletionsStub(Fault("400", first=1)) as server:
        engine = engine_over(server)
        said = error(400, "bad request with key sk-secret-1")
        monkeypatch.setattr(completions_server, "error", lambda *_, **__: said)
        done = complete(engine, [request(0)])
        assert {asked.headers["authorization"] for asked in server.requests} == {
            "Bearer sk-secret-1"
        }
    assert "sk-secret-1" not in f"{done} {engine.provenance()}"


def test_leaving_in_the_middle_cancels_what_is_under_way():
    before = set(threading.enumerate())
    with CompletionsStub(Fault("stall", first=2)) as server:
        rows = engine_over(server).generate(request(number) for number in range(80))
        next(rows)
        server.wait_until(lambda counts: counts["in_flight"] == 7)
        rows.close()
        server.wait_until(lambda counts: counts["in_flight"] == 0)
    assert set(threading.enumerate()) <= before


def test_an_interrupt_ends_at_once_although_the_server_never_answers():
    code = """
import sys
from generation.engines.engine import Request, Sampling
from generation.engines.server_engine import ServerEngine
engine = ServerEngine([sys.argv[1]], model="m", context_length=4096)
rows = (Request(str(n), (10, n), Sampling(0.0, 8, None, (2,))) for n in range(4))
try:
    list(engine.generate(rows))
except KeyboardInterrupt:
    print("interrupted")
"""
    with CompletionsStub(Fault("stall", first=1)) as server:
        child = subprocess.Popen(
            [sys.executable, "-c", code, server.url], stdout=subprocess.PIPE, text=True
        )
        try:
            server.wait_until(lambda counts: counts["in_flight"] == 4)
            child.send_signal(signal.SIGINT)
            out, _ = child.communicate(timeout=30)
        finally:
            child.kill()
    assert (out, child.returncode) == ("interrupted\n", 0)


def test_the_engine_can_be_used_for_one_stage_after_another():
    with CompletionsStub() as server:
        engine = engine_over(server)
        first = complete(engine, [request(number) for number in range(10)])
        assert complete(engine, [request(number) for number in range(10)]) == first
        engine.close()


def test_provenance_says_what_served_and_is_the_same_at_another_address():
    found = []
    for _ in range(2):
        with CompletionsStub() as server:
            found.append(engine_over(server).provenance())
    assert found[0] == found[1]
    assert found[0]["versions"]["vllm"] == ["0.0.0-stub"]
    assert found[0]["served"] == [{"max_model_len": 4096}]
    for name in ("arguments", "devices", "dtype", "model_runner", "attention", "batch_invariant"):
        assert found[0][name] == "not told"
    assert found[0]["prefix_caching"] == found[0]["versions"]["torch"] == "not told"


def test_the_stub_serves_as_a_process():
    path = Path(completions_server.__file__)
    command = [sys.executable, str(path), "--port", "0", "--fault", "die:3", "--model", "own"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        engine = ServerEngine([child.stdout.readline().strip()], model="own", context_length=64)
        generating = engine.generate(request(number) for number in range(20))
        with pytest.raises(EngineDied):
            list(generating)
        assert child.wait(30) == 0
    finally:
        child.kill()
        child.stdout.close()
