"""vLLM servers as the engine: one prompt in token ids per request, several base URLs at once."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import islice
from queue import SimpleQueue
from typing import Any

from generation.engines.completions_api import OddReply, PromptChanged, ServedModel, probe_request
from generation.engines.completions_server import (
    KEY_VARIABLE,
    Broken,
    CompletionsServer,
    Refused,
    Unreachable,
    server_key,
)
from generation.engines.engine import Completion, EngineDied, Failure, Request
from generation.engines.open_engine import EngineChoice
from generation.engines.outcome import REFUSED, SERVER, too_long
from rubrics import InputError

ATTEMPTS = 8  # of one request, or to reach one server, a second's wait up to a minute's apart
FIRST_WAIT_SECONDS = 1.0
LONGEST_WAIT_SECONDS = 60.0
LONGEST_REST_SECONDS = 600.0  # that a server is granted if it asks to be left alone
PROBE_PROMPT = (10, 11, 12)  # any ids: only whether they come back matters
NOT_TOLD = "not told"  # what a server keeps to itself
UNTOLD = (  # of what the engine in this process records
    "arguments", "environment", "platform", "devices", "dtype", "quantization", "model_runner",
    "attention", "batch_invariant", "prefix_caching", "max_num_seqs", "max_num_batched_tokens",
)  # fmt: skip
OF_THE_ROW = (400, 413, 422)
OF_THE_SETUP = {
    401: "check the key in {key}",
    403: "check that the key in {key} may use this model",
    404: "check that the URL ends in /v1 and that it serves a model named {model}",
}

logger = logging.getLogger(__name__)


class ServerEngine:
    """`base_urls` end in /v1; `in_flight` requests at most are under way on all of them together.

    Raises InputError for a server that cannot be reached, does not serve the model or does not
    take token ids.
    """

    def __init__(
        self,
        base_urls: Sequence[str],
        *,
        model: str,
        context_length: int,
        in_flight: int = EngineChoice.in_flight,
    ) -> None:
        if not base_urls:
            raise InputError("no server: expected a URL such as http://localhost:8000/v1")
        key = server_key()
        self._model, self._in_flight = model, in_flight
        self._servers = [CompletionsServer(url, model, key, in_flight) for url in base_urls]
        self._served = [self._probe(server) for server in self._servers]
        lengths = [served.context_length for served in self._served]
        self.context_length = min(filter(None, (context_length, *lengths)))
        self._versions = [server.version() for server in self._servers]

    def generate(self, requests: Iterable[Request]) -> Iterator[tuple[str, Completion | Failure]]:
        from anyio.from_thread import start_blocking_portal

        upcoming, done = iter(requests), SimpleQueue()
        under_way: dict[Future, str] = {}
        with start_blocking_portal() as portal, portal.wrap_async_context_manager(self._open()):
            try:
                while True:
                    for request in islice(upcoming, self._in_flight - len(under_way)):
                        future = portal.start_task_soon(self._complete, request)
                        under_way[future] = request.row_id
                        future.add_done_callback(done.put)
                    if not under_way:
                        return
                    future = done.get()
                    if future.exception():  # what was done before must not be lost
                        yield from _successes(done, under_way)
                    yield under_way.pop(future), future.result()
            finally:  # left early, by Ctrl-C too
                for future in under_way:
                    future.cancel()

    @asynccontextmanager
    async def _open(self) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for server in self._servers:
                await stack.enter_async_context(server)
            yield

    async def _complete(self, request: Request) -> Completion | Failure:
        """A request until it has an outcome. Raises EngineDied where none can come any more."""
        from tenacity import (
            AsyncRetrying,
            retry_if_exception_type,
            stop_after_attempt,
            wait_random_exponential,
        )

        if failure := too_long(request, self.context_length):
            return failure
        retrying = AsyncRetrying(
            retry=retry_if_exception_type((Broken, OddReply, Refused)),
            wait=wait_random_exponential(FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS),
            stop=stop_after_attempt(ATTEMPTS),
            reraise=True,
        )
        try:
            return await retrying(self._attempt, request)
        except (Broken, OddReply, Refused) as error:
            return Failure(SERVER, f"{ATTEMPTS} attempts failed, the last one with {error}")

    async def _attempt(self, request: Request) -> Completion | Failure:
        """One attempt, at whichever server is the first that listens."""
        while True:
            server = await self._least_loaded()
            misses = server.misses
            try:
                return await server.complete(request)
            except Unreachable as error:
                if server.misses == misses:  # else another request has told of this miss
                    _miss(server, error)
            except PromptChanged as error:
                raise EngineDied(f"{server.url}: {error}") from error
            except Refused as error:
                if error.status in OF_THE_ROW:
                    return Failure(REFUSED, f"the server: {error}")
                if error.status in OF_THE_SETUP:
                    raise EngineDied(self._setup_fault(server, error)) from error
                if error.wait:
                    server.rest(min(error.wait, LONGEST_REST_SECONDS))
                raise

    async def _least_loaded(self) -> CompletionsServer:
        """Of those not given up, the one that is free and has the fewest requests."""
        while True:
            alive = [server for server in self._servers if server.misses < ATTEMPTS]
            if not alive:
                urls = ", ".join(server.url for server in self._servers)
                raise EngineDied(
                    f"no server is reached any more ({urls}); start one, then run the same "
                    "command again"
                )
            now = time.monotonic()
            best = min(alive, key=lambda server: (max(server.free_at - now, 0), server.in_flight))
            if best.free_at <= now:
                return best
            await asyncio.sleep(best.free_at - now)

    def _probe(self, server: CompletionsServer) -> ServedModel:
        """The model as a server tells of it. Raises InputError where it cannot be used."""
        try:
            served = server.models()
            found = next((model for model in served if model.name == self._model), None)
            if not found:
                names = ", ".join(model.name for model in served) or "none"
                raise InputError(
                    f"{server.url} serves no model named {self._model}; it serves: {names}"
                )
            server.complete_now(probe_request(PROBE_PROMPT))
        except Unreachable as error:
            raise InputError(
                f"cannot reach {server.url} ({error}); check the URL, which ends in /v1, and that "
                "the server is running"
            ) from error
        except PromptChanged as error:
            raise InputError(f"{server.url} does not take token ids: {error}") from error
        except Refused as error:
            raise InputError(self._setup_fault(server, error)) from error
        except (Broken, OddReply) as error:
            raise InputError(
                f"{server.url} does not answer as a vLLM server ({error}); check that the URL "
                "ends in /v1, and the server's log"
            ) from error
        return found

    def _setup_fault(self, server: CompletionsServer, error: Refused) -> str:
        check = OF_THE_SETUP.get(error.status, "check the server's log")
        said = f"{server.url} answered {error}".rstrip(".")
        return f"{said}; {check.format(key=KEY_VARIABLE, model=self._model)}"

    def provenance(self) -> dict[str, Any]:
        """No URL: the same rows come from the same server at another address."""
        told = [served.told for served in self._served]
        return {
            "engine": "vllm server",
            "model": self._model,
            "servers": len(self._servers),
            "versions": {"vllm": sorted({version or NOT_TOLD for version in self._versions})}
            | dict.fromkeys(("torch", "transformers", "cuda"), NOT_TOLD),
            "served": [one for number, one in enumerate(told) if one not in told[:number]],
            "context_length": self.context_length,
            **dict.fromkeys(UNTOLD, NOT_TOLD),
        }

    def close(self) -> None:
        """Nothing stays open between two calls of `generate`."""


def served_name(base_url: str, names: Sequence[str]) -> str:
    """The first of these names that the server has a model under, else the first of them."""
    with_name = CompletionsServer(base_url, names[0], server_key(), 1)
    try:
        served = {model.name for model in with_name.models()}
    except (Unreachable, Refused, Broken, OddReply):
        return names[0]  # the engine says it better, when it asks
    return next((name for name in names if name in served), names[0])


def _miss(server: CompletionsServer, error: Unreachable) -> None:
    """Leave a server alone that was not reached, longer each time in a row."""
    server.misses += 1
    server.rest(min(FIRST_WAIT_SECONDS * 2 ** (server.misses - 1), LONGEST_WAIT_SECONDS))
    if server.misses == 1:
        logger.warning("%s is not reached and tried again: %s", server.url, error)
    elif server.misses == ATTEMPTS:
        logger.warning("%s is not reached any more: %s", server.url, error)


def _successes(
    done: SimpleQueue, under_way: Mapping[Future, str]
) -> Iterator[tuple[str, Completion | Failure]]:
    while not done.empty():
        future = done.get()
        if not future.exception():
            yield under_way[future], future.result()
