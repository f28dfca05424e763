"""A reverse proxy as people put before `annotate serve`: TLS, a path prefix, X-Forwarded-For."""

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import httpx
import trustme
import uvicorn

# Of one connection only; both sides have their own.
HOP = {b"connection", b"keep-alive", b"transfer-encoding", b"date", b"server"}


@contextmanager
def tls_proxy(
    folder: Path, listener: socket.socket, upstream: str, *, prefix: str, strips: bool
) -> Iterator[None]:
    """Serve https on `listener` and pass what lies under `prefix` on to `upstream`.

    The certificate is made in `folder`, and no browser knows who signed it.
    """
    certificate = folder / "certificate.pem"
    made = trustme.CA().issue_cert("127.0.0.1")
    made.private_key_and_cert_chain_pem.write_to_path(certificate)
    ready = Event()

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            ready.set()

    config = uvicorn.Config(
        _Proxy(upstream, prefix, strips),
        ssl_certfile=certificate,
        ssl_version=ssl.PROTOCOL_TLS_SERVER,
        log_level="warning",
        lifespan="off",
        server_header=False,
        date_header=False,
    )
    server = Server(config)
    thread = Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    assert ready.wait(30)
    try:
        yield
    finally:
        server.should_exit = True
        thread.join()


class _Proxy:
    """Passes requests on, the Host as it came, as Caddy does."""

    def __init__(self, upstream: str, prefix: str, strips: bool) -> None:
        self._client = httpx.AsyncClient(base_url=upstream, timeout=60)
        self._prefix = prefix
        self._strips = strips

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        path = scope["raw_path"].decode()
        if not path.startswith(self._prefix + "/"):
            await send({"type": "http.response.start", "status": 404, "headers": []})
            await send({"type": "http.response.body", "body": b"not here"})
            return
        path = path.removeprefix(self._prefix) if self._strips else path
        headers = [(name, value) for name, value in scope["headers"] if name not in HOP]
        headers.append((b"x-forwarded-for", b"203.0.113.77"))
        query = scope["query_string"].decode()
        request = self._client.build_request(
            scope["method"], path + (f"?{query}" if query else ""), headers=headers, content=body
        )
        reply = await self._client.send(request, stream=True)
        content = b"".join([chunk async for chunk in reply.aiter_raw()])
        await reply.aclose()
        kept = [(name.lower(), value) for name, value in reply.headers.raw]
        kept = [(name, value) for name, value in kept if name not in HOP]
        await send({"type": "http.response.start", "status": reply.status_code, "headers": kept})
        await send({"type": "http.response.body", "body": content})
