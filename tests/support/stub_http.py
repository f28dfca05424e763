"""HTTP for the stub server: requests as they came, replies and the faults that a network has."""

import asyncio
import json
import socket
import struct
from collections import Counter
from collections.abc import Generator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from http import HTTPStatus
from typing import Any, Protocol
from urllib.parse import parse_qsl

CHAT = "/v1/chat/completions"
RESET = struct.pack("ii", 1, 0)  # SO_LINGER of no time: closing sends RST
_PHRASES = {status.value: status.phrase for status in HTTPStatus}


@dataclass(frozen=True)
class StubRequest:
    """A request over HTTP; or a line of a batch, which has a custom_id and no headers."""

    method: str
    path: str  # without the query
    number: int  # how many of the same method and path came before
    raw: bytes
    headers: dict[str, str] = field(default_factory=dict)  # names in lower case
    query: dict[str, str] = field(default_factory=dict)
    custom_id: str | None = None

    @cached_property
    def body(self) -> Any:
        """The parsed JSON; None when it is none."""
        try:
            return json.loads(self.raw)
        except ValueError:
            return None

    @property
    def is_chat(self) -> bool:
        return self.path == CHAT and self.method == "POST"


@dataclass(frozen=True)
class Reply:
    delay: float = field(default=0.0, kw_only=True)  # seconds, beyond the server's latency


@dataclass(frozen=True)
class Answer(Reply):
    """A whole reply. Text is served as a web page, bytes as they are, all else as JSON."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str | None = None


@dataclass(frozen=True)
class CutMidBody(Reply):
    """The head of a whole reply, some of its bytes, then the connection is closed or reset."""

    body: Any
    after_bytes: int
    reset: bool = field(default=False, kw_only=True)


@dataclass(frozen=True)
class Drop(Reply):
    """The connection is closed or reset without a byte."""

    reset: bool = field(default=False, kw_only=True)


@dataclass(frozen=True)
class Stall(Reply):
    """No reply, ever; the connection stays open until the client or the server gives up."""


@dataclass(frozen=True)
class Drip(Reply):
    """A whole reply in so many pieces, with pauses."""

    body: Any
    pieces: int = 4
    pause: float = 0.01


@dataclass(frozen=True)
class Held(Reply):
    """The reply that a test will give: `future.set_result(Answer(...))`."""

    future: "Future[Reply]" = field(default_factory=Future)


class Server(Protocol):
    """What a connection needs of its server."""

    loop: asyncio.AbstractEventLoop
    connections: "set[Connection]"
    calls: Counter[tuple[str, str]]

    def reply_to(self, request: StubRequest) -> tuple[Reply, float]:
        """The reply, and after how many seconds it is sent; called once per request."""

    def over(self, request: StubRequest) -> None:
        """The request has been replied to, or one side has given up."""


class Connection(asyncio.Protocol):
    """HTTP/1.1 with keep-alive, one request after another."""

    transport: asyncio.Transport

    def __init__(self, server: Server) -> None:
        self._server = server
        self._buffer = bytearray()
        self._asked: StubRequest | None = None  # the request that waits for its reply
        self._parser = self._parse()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self._server.connections.add(self)

    def connection_lost(self, _error: Exception | None) -> None:
        self._server.connections.discard(self)
        self._over()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        next(self._parser)

    def _parse(self) -> Generator[None, None, None]:
        """Goes on whenever something came in or a reply went out."""
        while True:
            head = (yield from self._until(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            method, target, _version = head[0].split(" ")
            fields = (line.partition(":") for line in head[1:])
            headers = {name.lower(): value.strip() for name, _, value in fields}
            if headers.get("transfer-encoding", "").lower() == "chunked":
                raw = yield from self._chunks()
            else:
                raw = yield from self._exactly(int(headers.get("content-length", 0)))
            path, _, query = target.partition("?")
            number = self._server.calls[method, path]
            self._server.calls[method, path] += 1
            request = StubRequest(method, path, number, raw, headers, dict(parse_qsl(query)))
            self._asked = request
            reply, delay = self._server.reply_to(request)
            self._server.loop.call_later(delay, self._send, request, reply)
            while self._asked:
                yield

    def _until(self, mark: bytes) -> Generator[None, None, bytes]:
        while (end := self._buffer.find(mark)) < 0:
            yield
        found = bytes(self._buffer[:end])
        del self._buffer[: end + len(mark)]
        return found

    def _exactly(self, count: int) -> Generator[None, None, bytes]:
        while len(self._buffer) < count:
            yield
        found = bytes(self._buffer[:count])
        del self._buffer[:count]
        return found

    def _chunks(self) -> Generator[None, None, bytes]:
        raw = bytearray()
        while size := int((yield from self._until(b"\r\n")).partition(b";")[0], 16):
            raw += yield from self._exactly(size)
            yield from self._until(b"\r\n")
        while (yield from self._until(b"\r\n")):
            pass  # trailers
        return bytes(raw)

    def _send(self, request: StubRequest, reply: Reply) -> None:
        if self._asked is not request:
            return  # the client has left
        match reply:
            case Answer():
                self.transport.write(_whole(reply))
                self._next()
            case CutMidBody():
                whole = _whole(Answer(body=reply.body))
                head = whole.index(b"\r\n\r\n") + 4
                self.transport.write(whole[: head + reply.after_bytes])
                self._hang_up(reply.reset)
            case Drop():
                self._hang_up(reply.reset)
            case Drip():
                whole = _whole(Answer(body=reply.body))
                self._drip(request, whole, -(-len(whole) // reply.pieces), reply.pause)
            case Held():
                reply.future.add_done_callback(lambda done: self._release(request, done.result()))

    def _drip(self, request: StubRequest, rest: bytes, size: int, pause: float) -> None:
        if self._asked is not request:
            return
        self.transport.write(rest[:size])
        if len(rest) > size:
            self._server.loop.call_later(pause, self._drip, request, rest[size:], size, pause)
        else:
            self._next()

    def _release(self, request: StubRequest, reply: Reply) -> None:
        with suppress(RuntimeError):  # the server has been closed
            self._server.loop.call_soon_threadsafe(self._send, request, reply)

    def _hang_up(self, reset: bool) -> None:
        if reset:
            connection = self.transport.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            self.transport.abort()
        else:
            self.transport.close()

    def _next(self) -> None:
        self._over()
        next(self._parser)

    def _over(self) -> None:
        if self._asked:
            self._server.over(self._asked)
            self._asked = None


def _whole(answer: Answer) -> bytes:
    body, kind = answer.body, "application/json"
    if isinstance(body, str):
        content, kind = body.encode(), "text/html"
    elif answer.status == HTTPStatus.NO_CONTENT:
        content = b""
    else:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {
        "Content-Type": answer.content_type or kind,
        "Content-Length": str(len(content)),
        **answer.headers,
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    status = f"HTTP/1.1 {answer.status} {_PHRASES.get(answer.status, 'Odd')}\r\n"
    return f"{status}{lines}\r\n".encode("latin-1") + content
