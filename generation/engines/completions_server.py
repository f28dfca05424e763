"""A vLLM server over HTTP: the only file that imports httpx."""

import itertools
import os
import ssl
import time
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from generation.engines.completions_api import (
    OddReply,
    ServedModel,
    completion_body,
    read_completion,
    read_models,
    seconds_to_wait,
    words_of,
)
from generation.engines.engine import Completion, Failure, Request
from generation.engines.outcome import one_line
from rubrics import InputError

if TYPE_CHECKING:
    import httpx

KEY_VARIABLE = "OPENAI_API_KEY"  # as for the judge's server
CONNECT_SECONDS = 10.0
LONGEST_SECONDS = 3600.0  # of one completion, most of which it may spend in the server's queue
POOL = 32  # requests in flight through one client: httpx looks at all its connections each time


class Unreachable(Exception):
    """Nothing listens there: the server has ended, or the address is wrong."""


class Broken(Exception):
    """The connection broke off with a request on its way."""


class Refused(Exception):
    """An HTTP status that says no. `wait` is how many seconds the server asks to be left alone."""

    def __init__(self, status: int, words: str, wait: float = 0.0) -> None:
        super().__init__(f"{status}: {words}")
        self.status, self.words, self.wait = status, words, wait


class CompletionsServer:
    """One base URL. Use it as `async with`, but for what is asked at the start.

    `in_flight` counts the requests under way; no request should be sent before `free_at`, in
    seconds of time.monotonic; `misses` is how often in a row nothing was found to listen there.
    """

    def __init__(self, base_url: str, model: str, key: str | None, connections: int) -> None:
        try:
            import httpx  # noqa: F401
        except ImportError as error:
            raise InputError(
                f"httpx cannot be imported ({error}); install it: pip install httpx"
            ) from error
        self.base_url = base_url.rstrip("/")
        self.url = _shown(self.base_url)
        self.in_flight, self.free_at, self.misses = 0, 0.0, 0
        self._model, self._key, self._connections = model, key, connections

    async def __aenter__(self) -> "CompletionsServer":
        import httpx

        context = ssl.create_default_context()  # takes as long as a request, so all share one
        count = -(-self._connections // POOL)
        self._stack = AsyncExitStack()
        clients = [
            await self._stack.enter_async_context(
                httpx.AsyncClient(
                    headers=self._headers(),
                    timeout=httpx.Timeout(LONGEST_SECONDS, connect=CONNECT_SECONDS, pool=None),
                    limits=httpx.Limits(max_connections=None, max_keepalive_connections=None),
                    verify=context,
                )
            )
            for _ in range(count)
        ]
        self._clients = itertools.cycle(clients)
        self.in_flight, self.free_at, self.misses = 0, 0.0, 0
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._stack.aclose()

    async def complete(self, request: Request) -> Completion | Failure:
        """One attempt. Raises Unreachable, Broken, Refused, OddReply and PromptChanged."""
        import httpx

        body = completion_body(self._model, request)
        self.in_flight += 1
        try:
            reply = await next(self._clients).post(f"{self.base_url}/completions", json=body)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise _failure(error) from error
        finally:
            self.in_flight -= 1
        self.misses = 0
        return read_completion(request, self._read(reply))

    def complete_now(self, request: Request) -> Completion | Failure:
        """As `complete`, without an event loop."""
        body = completion_body(self._model, request)
        return read_completion(request, self._ask("POST", "/completions", json=body))

    def models(self) -> list[ServedModel]:
        """What the server says that it serves. Raises as `complete` does."""
        return read_models(self._ask("GET", "/models"))

    def version(self) -> str | None:
        """vLLM's version there; None where the server does not tell."""
        try:
            root = self.base_url.removesuffix("/v1")
            return str(self._ask("GET", "/version", root)["version"])
        except (Unreachable, Broken, Refused, OddReply, KeyError, TypeError):
            return None

    def rest(self, seconds: float) -> None:
        """Send nothing for so long."""
        self.free_at = max(self.free_at, time.monotonic() + seconds)

    def _ask(self, method: str, path: str, root: str | None = None, **content: Any) -> Any:
        import httpx

        try:
            with httpx.Client(
                headers=self._headers(), timeout=httpx.Timeout(60.0, connect=CONNECT_SECONDS)
            ) as client:
                reply = client.request(method, f"{root or self.base_url}{path}", **content)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise _failure(error) from error
        return self._read(reply)

    def _read(self, reply: "httpx.Response") -> Any:
        try:
            content = reply.json()
        except (ValueError, RecursionError):
            content = None
        if reply.is_success:
            if content is None:
                raise OddReply("something else than JSON")
            return content
        words = words_of(content, reply.reason_phrase)
        raise Refused(
            reply.status_code,
            words.replace(self._key, "…") if self._key else words,
            seconds_to_wait(reply.headers.get("retry-after")),
        )

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._key}"} if self._key else {}


def server_key() -> str | None:
    """The servers' key from the environment; raises InputError where it cannot be one."""
    key = os.environ.get(KEY_VARIABLE, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise InputError(f"{KEY_VARIABLE} holds a character that no key has; set it again")
    return key or None


def _failure(error: Exception) -> Exception:
    import httpx

    words = f"{type(error).__name__} {one_line(error)}".strip()
    listens_not = httpx.ConnectError | httpx.ConnectTimeout | httpx.InvalidURL
    return (
        Unreachable(words)
        if isinstance(error, listens_not | httpx.UnsupportedProtocol)
        else Broken(words)
    )


def _shown(url: str) -> str:
    """The URL without a user name, a password or a query, any of which may be a secret."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
