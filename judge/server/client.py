"""The only file that imports openai: one request to a server, with its failures as our own."""

import asyncio
import itertools
import json
import re
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO

from judge.reply import is_completion
from judge.server.endpoint import Endpoint
from judge.server.errors import OddAnswer, Refused, Unreachable
from judge.server.patience import retry_after_seconds
from rubrics import InputError

if TYPE_CHECKING:
    import openai

TIMEOUT_SECONDS = 300.0  # between two bytes
LONGEST_ANSWER_SECONDS = 900.0  # of one attempt
BATCHES_PER_PAGE = 100
MAX_SAID = 300  # characters of a server's own words that are shown
POOL = 24  # requests in flight through one HTTP client: it looks at all its connections each time
_ABOUT_REQUEST = re.compile("context|content|invalid|unsupported|policy|filter")  # of error codes


class Client:
    """Connections to an endpoint; use it as `async with`. It never retries by itself."""

    def __init__(self, endpoint: Endpoint, concurrency: int = 1) -> None:
        self._endpoint = endpoint
        self._pools = -(-concurrency // POOL)
        self._clients: list[openai.AsyncOpenAI] = []  # made at the first request

    async def __aenter__(self) -> "Client":
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for client in self._clients:
            await client.close()

    @property
    def _openai(self) -> "openai.AsyncOpenAI":
        """One of the HTTP clients, each in its turn."""
        if not self._clients:
            self._clients = [self._connected() for _ in range(self._pools)]
            self._turns = itertools.cycle(self._clients)
        return next(self._turns)

    def _connected(self) -> "openai.AsyncOpenAI":
        import openai  # takes a second, which a run with nothing left to ask need not wait

        try:
            return openai.AsyncOpenAI(
                base_url=self._endpoint.base_url,
                api_key=self._endpoint.key or "none",  # a server of one's own asks for no key
                max_retries=0,
                timeout=TIMEOUT_SECONDS,
            )
        except Exception as error:  # what it raises for an odd URL depends on its HTTP library
            raise InputError(
                f"no connection can be made to {self._endpoint.shown_url} ({error!s:.200}); check "
                "--base-url, expected one like http://localhost:8000/v1, and the proxy settings"
            ) from error

    async def complete(self, body: dict[str, Any]) -> dict[str, Any]:
        """A chat completion as the server's JSON, whatever it holds besides `choices`.

        The package's own objects are passed by in both directions: they are built without a check
        of their shape, and building them takes longer than all the rest of a request.

        Raises ServerError, and InputError where no connection can be made at all.
        """
        request = self._openai.post("/chat/completions", cast_to=bytes, body=body)
        try:
            async with asyncio.timeout(LONGEST_ANSWER_SECONDS):
                completion = _json(await self._sent(request))
        except TimeoutError:  # it may come drop by drop, each in time
            raise Unreachable("timeout", LONGEST_ANSWER_SECONDS) from None
        if not is_completion(completion):
            raise self._hidden_refusal(completion) or OddAnswer()
        fault = completion["choices"] and hidden_error(completion["choices"][0])
        if fault:
            raise self._hidden_refusal({"error": fault}) or OddAnswer()
        return completion

    async def upload(self, name: str, data: BinaryIO) -> str:
        """Upload a batch's file from where `data` stands; returns its id. Raises ServerError."""
        create = self._openai.files.with_raw_response.create
        answer = await self._sent(create(file=(name, data), purpose="batch"))
        file = _object(answer.http_response.content)
        if not isinstance(file.get("id"), str):
            raise OddAnswer
        return file["id"]

    async def start_batch(self, file_id: str, metadata: dict[str, str]) -> dict[str, Any]:
        """Start a batch of chat completions; returns the server's record of it."""
        create = self._openai.batches.with_raw_response.create
        started = create(
            input_file_id=file_id,
            endpoint="/v1/chat/completions",
            completion_window="24h",
            metadata=metadata,
        )
        return _object((await self._sent(started)).http_response.content)

    async def batch(self, batch_id: str) -> dict[str, Any]:
        """The server's record of a batch. Raises ServerError."""
        retrieve = self._openai.batches.with_raw_response.retrieve
        return _object((await self._sent(retrieve(batch_id))).http_response.content)

    async def batches(self, after: str | None = None) -> dict[str, Any]:
        """A page of the server's records, newest first: `data` and `has_more`."""
        query: dict[str, Any] = {"limit": BATCHES_PER_PAGE} | ({"after": after} if after else {})
        page = self._openai.batches.with_raw_response.list(**query)
        return _object((await self._sent(page)).http_response.content)

    async def download(self, file_id: str, into: BinaryIO) -> None:
        """Append a file's bytes to `into` as they come. Raises ServerError."""
        await self._sent(self._received(file_id, into))

    async def _received(self, file_id: str, into: BinaryIO) -> None:
        import openai

        content = self._openai.files.with_streaming_response.content
        async with content(file_id) as answer:
            try:
                async for part in answer.iter_bytes():
                    into.write(part)
            except (openai.APIError, OSError):  # OSError: of `into`, such as a full disk
                raise
            except Exception as error:  # broken off: an error of whichever HTTP library it is
                raise Unreachable(type(error).__name__) from None

    async def _sent(self, request: Awaitable[Any]) -> Any:
        import openai

        try:
            return await request
        except openai.APIStatusError as error:
            raise self._refused(error) from None
        except openai.APITimeoutError:
            raise Unreachable("timeout", TIMEOUT_SECONDS) from None
        except openai.APIConnectionError as error:
            reason = type(error.__cause__).__name__
            raise Unreachable(reason, sent=not reason.startswith("Connect")) from None
        except (openai.APIError, ValueError, RecursionError, AttributeError):
            raise OddAnswer from None

    def _refused(self, error: "openai.APIStatusError") -> Refused:
        return Refused(
            error.status_code,
            self._said(_words(error.body) or error.message),
            code=self._said(error.code) if isinstance(error.code, str) else None,
            parameter=self._said(error.param) if isinstance(error.param, str) else None,
            retry_after=retry_after_seconds(error.response.headers.get("retry-after")),
        )

    def _hidden_refusal(self, body: Any) -> Refused | None:
        """Routers answer 200 and put the refusal of the server behind them into the body."""
        fault = body.get("error") if isinstance(body, dict) else None
        if not fault or not isinstance(fault, dict | str):
            return None
        code = fault.get("code") if isinstance(fault, dict) else None
        if isinstance(code, str):
            status = 429 if "rate_limit" in code else 400 if _ABOUT_REQUEST.search(code) else 500
            return Refused(status, self._said(_words(fault)), code=self._said(code))
        status = code if type(code) is int and 400 <= code < 600 else 500
        return Refused(status, self._said(_words(fault)))

    def _said(self, words: str) -> str:
        return said(words, self._endpoint.without_key)


def said(words: str, without_key: Callable[[str], str]) -> str:
    """A server's own words on one line, without the key should it repeat it."""
    words = without_key(words[: 100 * MAX_SAID])
    printable = "".join(sign if sign.isprintable() else " " for sign in words)
    return " ".join(printable.split())[:MAX_SAID]


def hidden_error(choice: Any) -> Any:
    """The error that a router put into a choice in place of an answer."""
    return choice.get("error") if isinstance(choice, dict) else None


def _object(content: bytes) -> dict[str, Any]:
    found = _json(content)
    if not isinstance(found, dict):
        raise OddAnswer
    return found


def _words(body: Any) -> str:
    """What a refusal says, whatever its shape; nothing where it is a web page or empty."""
    if not body:
        return ""
    if isinstance(body, dict):
        body = body.get("message") or body.get("detail") or body
    try:
        words = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
    except RecursionError:
        return ""
    return "" if words.lstrip().startswith("<") else words


def _json(content: bytes) -> Any:
    try:
        # Some servers leave control characters as they are in what a model wrote.
        return json.loads(content, strict=False)
    except (ValueError, RecursionError):
        raise OddAnswer from None
