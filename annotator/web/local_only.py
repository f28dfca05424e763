"""Only pages of this machine may talk to the labelling page, whatever a browser is led to send."""

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

LOCAL_NAMES = {"127.0.0.1", "localhost", "[::1]"}


class LocalOnly:
    """ASGI middleware: refuses requests whose Host or Origin is another than this machine.

    Without accounts a browser is the only thing between the page and the web. Any site that the
    annotator has open could send it forms, or have its own name resolve to this machine.
    """

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self._app = app

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http" or is_local(dict(scope["headers"])):
            await self._app(scope, receive, send)
            return
        headers = [(b"content-type", b"text/plain")]
        await send({"type": "http.response.start", "status": 403, "headers": headers})
        await send({"type": "http.response.body", "body": b"only for pages of this machine"})


def is_local(headers: dict[bytes, bytes]) -> bool:
    """Whether the Host, and the Origin where there is one, are names of this machine.

    >>> is_local({b"host": b"127.0.0.1:7860"}), is_local({b"host": b"evil.example:7860"})
    (True, False)
    >>> is_local({b"host": b"localhost", b"origin": b"http://evil.example"})
    False
    """
    host = headers.get(b"host", b"").decode("latin-1")
    origin = headers.get(b"origin")
    named = [host] if origin is None else [host, urlsplit(origin.decode("latin-1")).netloc]
    return all(_without_port(name) in LOCAL_NAMES for name in named)


def _without_port(netloc: str) -> str:
    name, colon, port = netloc.rpartition(":")
    return name if colon and port.isdigit() else netloc
