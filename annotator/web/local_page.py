"""A page of one's own, served by Gradio on this machine: the only file here that imports gradio."""

import os
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event
from typing import Any

import click

from annotator.web.local_only import LocalOnly
from rubrics import InputError

HOST = "127.0.0.1"  # without accounts a page is for this machine alone
PORTS_TRIED = 20
# Whatever the texts hold, the browser asks no other host for anything.
_POLICY = (
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'self' 'unsafe-inline' "
    "'unsafe-eval' data: blob:; form-action 'self'\">"
)


@dataclass(frozen=True)
class LocalPage:
    """A page and what it may ask of us.

    `script` runs once with Gradio's `element`, the page's root, and `server`, which has each of
    `acts` under its name; an act takes and gives what JSON can hold.
    """

    title: str
    html: str
    style: str
    script: str
    acts: tuple[Callable[[Any], Any], ...]


def prepared_port(wanted: int, command: str) -> int:
    """A free port, `wanted` if it is; says on stderr if it is another.

    To be called before gradio is first imported. Raises InputError if there is none; `command` is
    what it tells to type.
    """
    free = _free_port(wanted, command)
    if free != wanted:
        click.echo(f"port {wanted} is taken; using {free}", err=True)
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"  # read when gradio is imported
    for name in ("NO_PROXY", "no_proxy"):  # gradio asks its own page whether it is there
        os.environ[name] = ",".join(filter(None, [os.environ.get(name), HOST]))
    return free


def serve_page(page: LocalPage, port: int, greeting: str, close: Callable[[], None]) -> None:
    """Serve until interrupted or told to stop, then `close`.

    `greeting` is printed with the address once the page is there.
    """
    import gradio as gr
    from starlette.middleware import Middleware

    with gr.Blocks(title=page.title, analytics_enabled=False) as blocks:
        gr.HTML(
            value=page.html,
            js_on_load=page.script,
            apply_default_css=False,
            # Functions, since Gradio marks what it exposes and a bound method takes no mark.
            server_functions=[_function(act) for act in page.acts],
        )
    # Gradio's own wait would swallow the interrupt; these stop as cleanly as Ctrl-C does.
    for stop in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(stop, lambda *_: sys.exit())
    try:
        blocks.launch(
            server_name=HOST,
            server_port=port,
            prevent_thread_lock=True,
            quiet=True,
            share=False,
            show_error=False,
            ssr_mode=False,
            # The run history would keep every text and label in the browser's storage.
            run_history=False,
            enable_monitoring=False,
            footer_links=[],
            app_kwargs={"middleware": [Middleware(LocalOnly)]},
            theme=gr.themes.Default(font=["system-ui", "sans-serif"], font_mono=["monospace"]),
            css=page.style,
            head=_POLICY,
        )
        click.echo(f"{greeting} at http://{HOST}:{port} (Ctrl-C stops)")
        Event().wait()
    finally:
        blocks.close(verbose=False)
        close()


def _free_port(wanted: int, command: str) -> int:
    for port in range(wanted, min(wanted + PORTS_TRIED, 65_536)):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            return port
    raise InputError(f"no free port from {wanted} on; name another one: {command} --port PORT")


def _function(method: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def act(data):
        return method(data)

    act.__name__ = method.__name__
    return act
