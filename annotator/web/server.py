"""Serving pages until somebody stops it: an address, the gate, and an end that loses nothing."""

import errno
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import ExitStack

import click

from annotator.accounts.register import Register
from annotator.web.page import Page
from annotator.web.web_site import Site
from generation.database import BUSY_TIMEOUT_MS
from rubrics import InputError

PORTS_TRIED = 20
# Seconds for what is being saved when told to stop: longer than a save may wait for the file.
PATIENCE = BUSY_TIMEOUT_MS // 1000 + 2


def listening(site: Site, wanted: int, command: str) -> socket.socket:
    """A socket on `wanted`, or on the next free port, which is then said on stderr.

    Behind a proxy it has to be `wanted`. Raises InputError if there is none; `command` is what it
    tells to type.
    """
    ports = range(wanted, min(wanted + (1 if site.public else PORTS_TRIED), 65_536))
    for port in ports:
        if found := _bound(site.host, port):
            if port != wanted:
                click.echo(f"port {wanted} is taken; using {port}", err=True)
            return found
    where = f"port {wanted} is taken" if site.public else f"no free port from {wanted} on"
    raise InputError(f"{where}; name another one: {command} --port PORT")


def serve_pages(
    pages: Sequence[Page],
    site: Site,
    listener: socket.socket,
    greeting: str,
    register: Register | None = None,
) -> None:
    """Serve until interrupted (KeyboardInterrupt) or told to stop, then close the pages.

    `greeting` is printed with the address once the pages are there. What is being saved is saved
    to its end first.
    """
    import uvicorn

    with ExitStack() as closing:
        for page in pages:
            closing.callback(page.close)
        if register:
            closing.callback(register.close)
        # Uvicorn stops cleanly for SIGINT and SIGTERM, and raises either again when it is done.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit())
        signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))
        config = uvicorn.Config(
            gated(pages, site, register),
            log_level="warning",
            lifespan="on",
            ws="none",
            proxy_headers=False,  # the site knows whom to believe
            server_header=False,
            timeout_graceful_shutdown=PATIENCE,
        )
        there = _address(site.host, listener.getsockname()[1])
        known = f" for {site.address}" if site.public else ""

        class Server(uvicorn.Server):
            async def startup(self, sockets: list[socket.socket] | None = None) -> None:
                await super().startup(sockets)
                click.echo(f"{greeting} at {there}{known} (Ctrl-C stops)")

        Server(config).run([listener])


def gated(pages: Sequence[Page], site: Site, register: Register | None = None):
    """The pages with the gate before them; with a register, the door beside them."""
    from annotator.web.door import Door
    from annotator.web.gate import Gate
    from annotator.web.gradio_app import gradio_app

    door = Door(site, register) if register else None
    routes = [door.health] if door else []
    if register and register.in_use():
        routes += door.routes
    return Gate(gradio_app(pages, routes), site, pages, register)


def _bound(host: str, port: int) -> socket.socket | None:
    """None where the port is taken; raises InputError where the host is no address of ours."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        # With the protocol named, asyncio turns Nagle's algorithm off; without, answers take 40 ms.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen()  # two of us can be bound to one port, and only one can listen
    except OSError as error:
        if error.errno in (errno.EADDRINUSE, errno.EACCES):
            return None
        raise InputError(
            f"--host {host}: {error.strerror}; give an address of this machine"
        ) from error
    return listener


def _address(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
