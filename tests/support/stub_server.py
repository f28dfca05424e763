"""A server on loopback that speaks OpenAI's API and does what a test scripts: no paid API needed.

In a test, `with StubServer(behave=...) as server:` and a client with `base_url=server.url`. As a
process, `python tests/support/stub_server.py --latency 0.5`: it prints its URL and serves until
killed, and GET /counts says what it was asked. The kinds of reply are in stub_http.py.
"""

import argparse
import asyncio
import json
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b
from typing import Any

from stub_batches import BatchApi, BatchScript, Refused
from stub_http import CHAT, Answer, Connection, Reply, StubRequest

GENUINE = "genuine_followup"  # the label with sigma 1
LABELS = (
    GENUINE,
    "previous_turn_restate",
    "assistant_turn_restate",
    "new_task_prompt",
    "assistant_continuation",
    "generic_reply",
    "malformed",
)
CACHED_FROM, CACHED_STEP = 1024, 128  # tokens, as OpenAI's prompt cache counts


def verdict(
    label: str = "generic_reply", sigma: int | None = None, rationale: str = "Fits any a."
) -> str:
    """What a judge model writes; sigma is the label's own unless given."""
    sigma = int(label == GENUINE) if sigma is None else sigma
    return json.dumps({"rationale": rationale, "label": label, "sigma": sigma})


def completion(
    content: Any,
    finish: str = "stop",
    refusal: Any = None,
    usage: tuple[int, int, int] | None = None,
    logprobs: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """A chat completion. Usage: tokens of the prompt, those of them cached, of the completion."""
    message = {"role": "assistant", "content": content, "refusal": refusal}
    choice = {"index": 0, "finish_reason": finish, "message": message, "logprobs": logprobs}
    body = {"id": "chatcmpl-0", "object": "chat.completion", "created": 0, "model": "m"}
    if usage:
        prompt, cached, written = usage
        body["usage"] = {
            **{"prompt_tokens": prompt, "completion_tokens": written},
            "total_tokens": prompt + written,
            "prompt_tokens_details": {"cached_tokens": cached, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
        }
    return {**body, "choices": [choice]}


def error(
    status: int,
    message: str,
    code: str | None = None,
    param: str | None = None,
    headers: dict[str, str] | None = None,
) -> Answer:
    kind = "server_error" if status >= 500 else "invalid_request_error"
    if status == 429:
        kind = code if code == "insufficient_quota" else "tokens"
    said = {"message": message, "type": kind, "param": param, "code": code}
    return Answer(status, {"error": said}, headers or {})


def turn_of(body: dict[str, Any]) -> str:
    """The turn that a judge prompt asks about."""
    return body["messages"][-1]["content"].partition("<turn>\n")[2].partition("\n</turn>")[0]


def any_verdict(request: StubRequest) -> Reply:
    """A valid verdict of rubric v3, always the same for one turn, as if its prompt were cached."""
    body = request.body
    if not isinstance(body, dict) or not body.get("messages"):
        return error(400, "We could not parse the JSON body of your request.")
    digest = blake2b(turn_of(body).encode("utf-8", "replace"), digest_size=1).digest()
    content = verdict(LABELS[digest[0] % len(LABELS)], rationale="By the turn's hash.")
    lengths = [len(message["content"]) // 4 for message in body["messages"]]
    cached = lengths[0] // CACHED_STEP * CACHED_STEP if sum(lengths) >= CACHED_FROM else 0
    usage = (sum(lengths), cached, len(content) // 4)
    return Answer(body={**completion(content, usage=usage), "model": body.get("model")})


class StubServer:
    """Answers chat completions by `behave`, which runs in the server's thread: it must not wait.

    `intercept` sees every other request first and may reply to it, in place of the Files and
    Batch API. Both may be set anew while the server runs, as may `batches.script`. What `behave`
    was asked is in `requests`; it is None without `keep_requests`, which saves memory.
    """

    def __init__(
        self,
        behave: Callable[[StubRequest], Reply] = any_verdict,
        *,
        batch: BatchScript | Callable[[int], BatchScript] = BatchScript(),  # noqa: B008
        intercept: Callable[[StubRequest], Reply | None] = lambda request: None,
        latency: float = 0.0,
        keep_requests: bool = True,
    ) -> None:
        self.behave, self.intercept = behave, intercept
        self.latency = latency  # seconds, of every reply to a chat completion
        self.batches = BatchApi(batch, self._ask_line)
        self.requests: list[StubRequest] | None = [] if keep_requests else None
        self.calls: Counter[tuple[str, str]] = Counter()  # by method and path
        self.defects: list[Exception] = []  # of the scripts; the first surfaces in close()
        self.connections: set[Connection] = set()
        flight = ("in_flight", "most_in_flight")  # of chat completions over HTTP
        # Requests are chat completions, a batch's lines among them.
        self.counts = dict.fromkeys(("requests", "by_body", "duplicates", *flight), 0)
        self._seen: set[bytes] = set()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> "StubServer":
        return self.start()

    def __exit__(self, *_error: object) -> None:
        self.close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def start(self) -> "StubServer":
        """Serve in a thread of this process."""
        ready = threading.Event()
        run = lambda: asyncio.run(self.serve(ready.set))  # noqa: E731
        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()
        assert ready.wait(30), "the stub server did not start"
        return self

    async def serve(self, ready: Callable[[], object], port: int = 0) -> None:
        self.loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        server = await self.loop.create_server(
            lambda: Connection(self), "127.0.0.1", port, backlog=1024
        )
        self.port = server.sockets[0].getsockname()[1]
        ready()
        await self._stop.wait()
        server.close()
        for connection in list(self.connections):
            connection.transport.abort()

    def close(self) -> None:
        """Hang up and stop. Raises what a script raised, if one did."""
        if self._thread and self._thread.is_alive():
            self.loop.call_soon_threadsafe(self._stop.set)
            self._thread.join()
        if self.defects:
            raise self.defects.pop(0)

    def wait_until(self, condition: Callable[[dict[str, int]], bool], timeout: float = 30) -> None:
        """Wait until the counts meet the condition."""
        with self._changed:
            if not self._changed.wait_for(lambda: condition(self.counts), timeout):
                raise TimeoutError(f"not met: {self.counts}")

    def reply_to(self, request: StubRequest) -> tuple[Reply, float]:
        """For the connection. A script that fails is answered by 500 and surfaces in close()."""
        if request.is_chat:
            self._count(request)
            self._fly(+1)
        try:
            reply = self.behave(request) if request.is_chat else self._other(request)
            if not isinstance(reply, Reply):
                raise TypeError(f"{reply!r} is no Reply")
        except Refused as refused:
            reply = error(*refused.args)
        except Exception as defect:
            self.defects.append(defect)
            reply = error(500, f"the stub's script failed: {defect!r}")
        return reply, reply.delay + self.latency * request.is_chat

    def over(self, request: StubRequest) -> None:
        """For the connection: the request has its reply, or one side has given up."""
        if request.is_chat:
            self._fly(-1)

    def _other(self, request: StubRequest) -> Reply:
        if (request.method, request.path) == ("GET", "/counts"):
            return Answer(body=self.counts)
        if reply := self.intercept(request):
            return reply
        if (request.method, request.path) == ("GET", "/v1/models"):
            model = {"id": "m", "object": "model", "created": 0, "owned_by": "stub"}
            return Answer(body={"object": "list", "data": [model]})
        kind = request.headers.get("content-type", "")
        body = self.batches.answer(request.method, request.path, request.query, kind, request.raw)
        if body is None:
            return error(404, f"Invalid URL ({request.method} {request.path})")
        is_file = isinstance(body, bytes)
        return Answer(body=body, content_type="application/octet-stream" if is_file else None)

    def _ask_line(self, custom_id: str, body: dict[str, Any]) -> tuple[int, Any] | None:
        # As the openai client writes it, so that what was asked in both ways is a duplicate.
        raw = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        number = self.calls["POST", CHAT]
        self.calls["POST", CHAT] += 1
        request = StubRequest("POST", CHAT, number, raw, custom_id=custom_id)
        self._count(request)
        reply = self.behave(request)
        return (reply.status, reply.body) if isinstance(reply, Answer) else None

    def _count(self, request: StubRequest) -> None:
        digest = blake2b(request.raw, digest_size=16).digest()
        self.counts["requests"] += 1
        self.counts["duplicates"] += digest in self._seen
        self._seen.add(digest)
        self.counts["by_body"] = len(self._seen)
        if self.requests is not None:
            self.requests.append(request)

    def _fly(self, step: int) -> None:
        with self._changed:
            self.counts["in_flight"] += step
            most = max(self.counts["most_in_flight"], self.counts["in_flight"])
            self.counts["most_in_flight"] = most
            self._changed.notify_all()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds")
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    server = StubServer(latency=options.latency, keep_requests=False)
    with suppress(KeyboardInterrupt):
        asyncio.run(server.serve(lambda: print(server.url, flush=True), options.port))


if __name__ == "__main__":
    main()
