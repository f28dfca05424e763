"""The API key is sent and appears nowhere else, whatever a server does with it."""

import asyncio
import json
import subprocess
import sys
import traceback

import pytest
from judged_study import judgments
from stub_http import Answer, CutMidBody, Drop
from stub_server import StubServer, any_verdict, completion, error, verdict

from judge.chat_judge import ChatJudge
from judge.config import JudgeConfig
from judge.instrument import choose_instrument
from judge.server.client import Client
from judge.server.endpoint import find_endpoint
from judge.server.errors import ServerError

KEY = 'sk-made-up/9f8e7d6c+5b4a=\\3"2'
ODD_SPELLINGS = (KEY, json.dumps(KEY)[1:-1], KEY.replace("/", "\\/"), f"Bearer {KEY}")

pytestmark = pytest.mark.usefixtures("quick")


@pytest.fixture(params=["OPENAI_API_KEY", "api_key_env"])
def keyed(request, monkeypatch, tmp_path, run_cli, study):
    """Runs the judge with the key from either variable; returns exit code and all output."""
    by_file = request.param == "api_key_env"
    monkeypatch.setenv("MY_KEY" if by_file else "OPENAI_API_KEY", KEY)

    def run(server, *options: object, runs: int = 1) -> tuple[int, str]:
        if by_file:
            path = tmp_path / "judges.toml"
            path.write_text(
                f'[[judge]]\nmodel = "m"\nbase_url = "{server.url}"\napi_key_env = "MY_KEY"\n'
                f"runs = {runs}\n"
            )
            named = ("--judge-config", path)
        else:
            named = ("--model", "m", "--base-url", server.url, "--runs", runs)
        code, out, err = run_cli("--study", study.folder, *named, *options)
        assert {r.headers["authorization"] for r in server.requests or []} <= {f"Bearer {KEY}"}
        return code, out + err

    return run


def shows(text: str) -> bool:
    """Whether the key can be read in it, in any spelling that a reader would undo."""
    plain = text.replace("\\/", "/").replace('\\"', '"').replace("\\\\", "\\")
    return any(part in text or part in plain for part in (KEY, KEY[:12], KEY[8:]))


def test_the_check_finds_a_key():
    assert all(shows(f"said {spelling}.") for spelling in ODD_SPELLINGS)
    assert not shows("said ….")


REPLIES = {
    "message": error(401, f"Incorrect API key provided: {KEY}."),
    "code and param": error(400, "no", code=KEY, param=KEY),
    "headers": error(403, "no", headers={"X-Key": KEY, "Retry-After": KEY.replace("\\", "")}),
    "detail": Answer(422, {"detail": [{"loc": ["header"], "input": f"Bearer {KEY}"}]}),
    "plain error": Answer(400, {"error": f"bad key {KEY}"}),
    "other shape": Answer(404, {"errors": [{KEY: KEY}]}),
    "html": Answer(403, f"<html>{KEY}</html>"),
    "text": Answer(401, KEY.encode()),
    "odd JSON": Answer(200, {"key": KEY}),
    "router": Answer(200, {"error": {"code": 401, "message": f"bad key {KEY}"}}),
    "router, no message": Answer(200, {"error": {"code": 401, "metadata": {"raw": KEY}}}),
    "overloaded": error(503, f"busy for {KEY}"),
    "redirect": Answer(302, b"", {"Location": "http://127.0.0.1:1/v1"}),
    "cut": CutMidBody({"choices": [], "key": KEY}, 30),
    "dropped": Drop(),
    "parameter": error(400, f"temperature is not for {KEY}", param="seed"),
}


@pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES)
def test_no_error_line_shows_it(keyed, reply, files_of, tmp_path, monkeypatch):
    monkeypatch.setattr("judge.server.patience.ATTEMPTS", 2)
    with StubServer(lambda request: reply) as server:
        code, said = keyed(server)
        assert server.requests
    assert (code, said.count("error: ")) == (1, 1)
    assert not shows(said)
    assert not shows(files_of(tmp_path).decode("utf-8", "replace"))


def test_no_verdict_keeps_it(keyed, study, files_of, tmp_path):
    """Every text of a reply that is stored, in every spelling."""
    texts = [
        *(f"You sent {spelling}" for spelling in ODD_SPELLINGS),
        verdict(rationale=f"By {KEY}."),
        verdict(rationale="By KEY.").replace("KEY", "".join(f"\\u{ord(c):04x}" for c in KEY)),
        verdict(label=KEY),
        verdict().replace("sigma", json.dumps(KEY)[1:-1]),
    ]

    def behave(request):
        if request.number == 8:
            return error(400, f"context length of {KEY}", "context_length_exceeded")
        usage = {"usage": {"prompt_tokens": KEY, KEY: 1}}
        reply = completion(texts[request.number % len(texts)], refusal=None)
        return Answer(body={**reply, **usage, "id": KEY, "system_fingerprint": KEY})

    with StubServer(behave) as server:
        code, said = keyed(server, "--json", runs=2)
    assert code == 0
    assert len(judgments(study)) == 16
    assert not shows(said)
    assert not [row for row in judgments(study) if shows(json.dumps(row, ensure_ascii=False))]
    assert not shows(files_of(tmp_path).decode("utf-8", "replace"))


def test_no_label_distribution_keeps_it(keyed, study):
    tokens = [{"token": KEY, "logprob": 0.0, "top_logprobs": [{"token": KEY, "logprob": 0.0}]}]
    with StubServer(
        lambda r: Answer(body=completion(verdict(), logprobs={"content": tokens}))
    ) as server:
        assert keyed(server)[0] == 0
    assert {row["label_probabilities"] for row in judgments(study)} == {None}


def test_no_object_shows_it(monkeypatch, study):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    config = JudgeConfig(model="m", base_url="http://127.0.0.1:1/v1")
    instrument = choose_instrument(config, study)
    assert isinstance(instrument.labeller, ChatJudge)
    endpoint = find_endpoint("http://127.0.0.1:1/v1")
    assert endpoint.key == KEY
    for thing in (config, instrument, instrument.labeller, endpoint, Client(endpoint)):
        assert not shows(repr(thing) + str(thing))


@pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES)
def test_no_exception_shows_it(monkeypatch, reply):
    """Nor a traceback, which a defect would print, with all that it was caused by."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    async def ask(url: str) -> None:
        async with Client(find_endpoint(url)) as client:
            await client.complete({"model": "m", "messages": []})

    with StubServer(lambda request: reply) as server:
        with pytest.raises(ServerError) as raised:
            asyncio.run(ask(server.url))
        line = raised.value.line(find_endpoint(server.url), "m")
    text = "".join(traceback.format_exception(raised.value))
    assert not shows(line)
    assert not shows(repr(raised.value) + str(raised.value) + text)


def test_no_log_or_environment_variable_of_the_package_shows_it(study, tmp_path, monkeypatch):
    """The real command with the openai package's own logging at its loudest."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_LOG", "debug")
    with StubServer(lambda r: error(500, KEY) if r.number == 1 else any_verdict(r)) as server:
        command = [
            *(sys.executable, "-c", "from judge.cli import judge; judge()"),
            *("--study", study.folder, "--model", "m", "--base-url", server.url),
        ]
        done = subprocess.run(
            list(map(str, command)), capture_output=True, text=True, timeout=100, check=True
        )
    assert not shows(done.stdout + done.stderr)
