"""A study with a few turns, and a real HTTP server on loopback that speaks chat completions."""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from generation.item import Item, Message
from generation.store import TurnStore
from generation.study import Study
from generation.turn import Answer, Conversation, Run, Turn
from judge.store import open_pipeline
from rubrics import load_rubric

Answerer = Callable[[dict[str, Any]], tuple[int, Any]]

TURNS = (
    "Why 48?",
    "Are you sure?",
    "Thanks!",
    "How many clips in May?",
    "Natalia sold 48 clips.",
    "",
    "Write a poem about rain.",
    "Now for June, please.",
)


@pytest.fixture(scope="session")
def rubric():
    return load_rubric("v3")


@pytest.fixture(scope="session")
def item():
    """Makes an item from q, a and u."""

    def make(q: str, a: str, u: str) -> Item:
        return Item((Message("user", q),), a, u)

    return make


@pytest.fixture
def study(tmp_path) -> Study:
    """A study of eight distinct items, one of which two turns share."""
    study = Study(tmp_path / "study")
    conversation = Conversation("test", "1", (Message("user", "How many clips in April?"),))
    answer = Answer(conversation, "She sold 48 clips.", token_ids=())
    turns = [Turn(answer, text, "held-out", token_ids=()) for text in TURNS]
    turns.append(Turn(answer, TURNS[0], "held-out", sample_index=1, token_ids=()))
    database = open_pipeline(study.pipeline, create=True)
    TurnStore(database).add_turns(Run("import", {"file": "test"}), turns)
    assert database["turns"].count == len(turns)
    database.close()
    return study


@pytest.fixture
def run_cli(capsys, monkeypatch, tmp_path):
    """Runs `judge` in this process, in an empty folder; returns exit code, stdout, stderr."""
    from judge.cli import judge

    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stopped:
            judge.main([str(argument) for argument in arguments])
        streams = capsys.readouterr()
        return stopped.value.code, streams.out, streams.err

    return run


class ChatServer:
    """Answers POST /v1/chat/completions by `answer(body) -> (status, reply)`; keeps requests."""

    def __init__(self) -> None:
        self.answer: Answerer = lambda body: (200, completion(verdict()))
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                outer._reply(self, json.loads(self.rfile.read(length)))

            def log_message(self, *_arguments: object) -> None:
                """Keep the test's output quiet."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        # By default it looks every half second whether it is closed, and close() waits for that.
        serving = {"target": self._http.serve_forever, "kwargs": {"poll_interval": 0.01}}
        threading.Thread(**serving, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def _reply(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        with self._lock:
            self.requests.append(body)
            self.keys.append(handler.headers["Authorization"])
        status, reply = self.answer(body)
        # Bytes are JSON of a kind that no library writes.
        text = reply if isinstance(reply, str | bytes) else json.dumps(reply)
        content = text if isinstance(text, bytes) else text.encode()
        kind = "text/html" if isinstance(reply, str) else "application/json"
        try:
            handler.send_response(status if handler.path.endswith("/chat/completions") else 404)
            handler.send_header("Content-Type", kind)
            handler.send_header("Content-Length", str(len(content)))
            handler.end_headers()
            handler.wfile.write(content)
        except OSError:
            pass  # the client gave up: an interrupt is being tested

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()


def verdict(label: str = "generic_reply", sigma: int = 0, rationale: str = "Fits any a.") -> str:
    return json.dumps({"rationale": rationale, "label": label, "sigma": sigma})


def completion(content: str | None, *, finish: str = "stop", refusal: str | None = None) -> dict:
    message = {"role": "assistant", "content": content, "refusal": refusal}
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [{"index": 0, "finish_reason": finish, "message": message}],
    }


@pytest.fixture
def one_attempt(quick, monkeypatch):
    """For what comes after the last try."""
    monkeypatch.setattr("judge.server.patience.ATTEMPTS", 1)
    monkeypatch.setattr("judge.server.patience.FIRST_ATTEMPTS", 1)


@pytest.fixture
def server(one_attempt):
    chat_server = ChatServer()
    chat_server.verdict, chat_server.completion = verdict, completion
    yield chat_server
    chat_server.close()


@pytest.fixture
def quick(monkeypatch):
    """For the stub server: no key and no proxy, and waits before another try that take no time."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("judge.server.patience.FIRST_WAIT_SECONDS", 0.001)
    monkeypatch.setattr("judge.server.patience.LONGEST_WAIT_SECONDS", 0.01)


@pytest.fixture
def judge_by(run_cli, study):
    """Runs `judge` over the study against a stub server; returns exit code, stdout, stderr."""

    def run(server, *options: object, of=study) -> tuple[int, str, str]:
        return run_cli("--study", of.folder, "--model", "m", "--base-url", server.url, *options)

    return run


@pytest.fixture
def files_of():
    """All bytes under a folder, for looking what was stored."""

    def read(folder: Path) -> bytes:
        return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())

    return read
