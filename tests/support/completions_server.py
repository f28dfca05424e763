"""A server on loopback that speaks vLLM's /v1/completions in token ids and fails as it is told.

What it answers follows from the prompt, the sampling and the seed alone, so that two runs agree. In
a test: `with CompletionsStub(Fault("500", last=2)) as server:` and `server.url`. As a process:
`python tests/support/completions_server.py --port 0 --fault die:40`; it prints its URL and serves
until killed.
"""

import argparse
import asyncio
import json
import re
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from stub_http import Answer, CutMidBody, Drop, Reply, Stall, StubRequest
from stub_server import StubServer, error

COMPLETIONS = "/v1/completions"
HEADERS = {429: {"Retry-After": "0"}}


@dataclass(frozen=True)
class Fault:
    """What goes wrong with completions number `first` to `last`, or with prompts holding `token`.

    `kind` is an HTTP status, or: garbage (a web page), half (of a JSON), hang-up, stall (no reply,
    ever), die (the server ends), no-ids (as by a proxy that drops them), changed (another prompt
    is echoed), abort (ended by the engine).
    """

    kind: str
    first: int = 0
    last: int | None = None  # None: for ever
    token: int | None = None

    def hits(self, number: int, prompt: list[int]) -> bool:
        if self.token is not None and self.token not in prompt:
            return False
        return self.first <= number and (self.last is None or number <= self.last)


def fault_from(text: str) -> Fault:
    """As on the command line: KIND, KIND:FIRST, KIND:FIRST-LAST, each with @TOKEN if need be.

    >>> fault_from("500:3-5")
    Fault(kind='500', first=3, last=5, token=None)
    """
    match = re.fullmatch(r"([a-z0-9-]+?)(?::(\d+)(?:-(\d+))?)?(?:@(\d+))?", text)
    if not match:
        raise ValueError(f"{text!r}: expected KIND[:FIRST[-LAST]][@TOKEN]")
    first, last, token = (int(part) if part else None for part in match.groups()[1:])
    return Fault(match[1], first or 0, last, token)


def answer_tokens(body: dict[str, Any]) -> list[int]:
    """A completion made of the prompt's tokens, of at most `max_tokens`, the last one a stop."""
    names = ("prompt", "seed", "temperature", "top_p", "top_k")
    key = json.dumps({name: body.get(name) for name in names}, sort_keys=True)
    digest = blake2b(key.encode(), digest_size=32).digest()
    stops = body["stop_token_ids"]
    words = [token for token in body["prompt"] if token not in stops] or body["prompt"]
    tokens = [words[byte % len(words)] for byte in digest[: 1 + digest[0] % 31]]
    return [*tokens, *stops[:1]][: body["max_tokens"]]


class CompletionsStub(StubServer):
    """`counts` are of completions; `requests` holds them as they came."""

    def __init__(
        self, *faults: Fault, model: str = "m", max_model_len: int = 4096, latency: float = 0.0
    ) -> None:
        super().__init__(latency=latency)
        self.faults, self.model, self.max_model_len = faults, model, max_model_len

    def reply_to(self, request: StubRequest) -> tuple[Reply, float]:
        if request.path == "/counts":
            return Answer(body=self.counts), 0.0
        if request.path == "/version":
            return Answer(body={"version": "0.0.0-stub"}), 0.0
        if request.path == "/v1/models":
            model = {"id": self.model, "object": "model", "max_model_len": self.max_model_len}
            return Answer(body={"object": "list", "data": [model]}), 0.0
        if request.path != COMPLETIONS:
            return error(404, "Not Found"), 0.0
        self._count(request)
        self._fly(+1)
        return self._completion(request), self.latency

    def over(self, request: StubRequest) -> None:
        if request.path == COMPLETIONS:
            self._fly(-1)

    def _completion(self, request: StubRequest) -> Reply:
        body = request.body
        if body["model"] != self.model:
            return error(404, f"The model `{body['model']}` does not exist.")
        if len(body["prompt"]) + body["max_tokens"] > self.max_model_len:
            return error(
                400, f"This model's maximum context length is {self.max_model_len} tokens."
            )
        token_ids = answer_tokens(body)
        stopped = token_ids[-1] in body["stop_token_ids"]
        choice = {
            "index": 0,
            "text": "",
            "token_ids": token_ids,
            "prompt_token_ids": body["prompt"],
            "finish_reason": "stop" if stopped else "length",
            "stop_reason": token_ids[-1] if stopped else None,
        }
        number = self.counts["requests"] - 1
        faults = (fault for fault in self.faults if fault.hits(number, body["prompt"]))
        return self._spoilt(next(faults, None), choice)

    def _spoilt(self, fault: Fault | None, choice: dict[str, Any]) -> Reply:
        whole = {"object": "text_completion", "model": self.model, "choices": [choice]}
        match fault and fault.kind:
            case None:
                return Answer(body=whole)
            case "garbage":
                return Answer(body="<html>a proxy's page</html>")
            case "half":
                return CutMidBody(whole, 20)
            case "hang-up":
                return Drop()
            case "stall":
                return Stall()
            case "die":
                self._stop.set()
                return Stall()
            case "no-ids":
                del choice["token_ids"], choice["prompt_token_ids"]
                return Answer(body=whole)
            case "changed":
                choice["prompt_token_ids"] = [0, *choice["prompt_token_ids"]]
                return Answer(body=whole)
            case "abort":
                choice["finish_reason"] = "abort"
                return Answer(body=whole)
            case status:
                return error(int(status), f"told to say {status}", headers=HEADERS.get(int(status)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds, of a completion")
    parser.add_argument("--model", default="m", help="the name that it serves")
    parser.add_argument("--max-model-len", type=int, default=4096)
    parser.add_argument("--fault", type=fault_from, action="append", default=[])
    options = parser.parse_args()
    server = CompletionsStub(
        *options.fault,
        model=options.model,
        max_model_len=options.max_model_len,
        latency=options.latency,
    )
    server.requests = None  # kept for tests in the same process alone
    with suppress(KeyboardInterrupt):
        asyncio.run(server.serve(lambda: print(server.url, flush=True), options.port))


if __name__ == "__main__":
    main()
