"""The labelling page as a Gradio app, and serving it: the only file here that imports gradio."""

import os
import signal
import socket
import sys
from importlib import resources
from pathlib import Path
from threading import Event

import click
from jinja2 import Environment

from annotator.choice import CONFIDENCES, NOTE_LIMIT, SKIP_REASONS
from annotator.desk import Desk
from annotator.labels import open_labels, record_rubric
from annotator.local_only import LocalOnly
from annotator.name import checked_name
from generation.study import Study
from rubrics import InputError, Rubric

HOST = "127.0.0.1"  # without accounts the page is for this machine alone
PORTS_TRIED = 20
TITLE = "Label user turns · followupeval"
# Whatever the texts hold, the browser asks no other host for anything.
_POLICY = (
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'self' 'unsafe-inline' "
    "'unsafe-eval' data: blob:; form-action 'self'\">"
)


def serve(labels: Path, rubric: Rubric, *, annotator: str | None, port: int) -> None:
    """Serve the labelling page on this machine until interrupted.

    Raises InputError when labels.db cannot be opened, holds no items, knows another text of this
    rubric version, or no port is free.
    """
    annotator = checked_name(annotator) if annotator else None
    database = open_labels(labels)
    if not database["items"].count:
        option = Study(labels.parent).option
        raise InputError(f"{labels} holds no items; choose some first: calibrate sample{option}")
    record_rubric(database, rubric)
    free = free_port(port)
    if free != port:
        click.echo(f"port {port} is taken; using {free}", err=True)
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"  # read when gradio is imported
    for name in ("NO_PROXY", "no_proxy"):  # gradio asks its own page whether it is there
        os.environ[name] = ",".join(filter(None, [os.environ.get(name), HOST]))
    launch(Desk(database, rubric, labels, annotator=annotator), rubric, annotator, free)


def free_port(wanted: int) -> int:
    """`wanted`, or the next port that nobody listens on; raises InputError if there is none."""
    for port in range(wanted, min(wanted + PORTS_TRIED, 65_536)):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            return port
    raise InputError(f"no free port from {wanted} on; name another one: annotate --port PORT")


def launch(desk: Desk, rubric: Rubric, annotator: str | None, port: int) -> None:
    """Serve until interrupted or told to stop, then leave labels.db whole and closed."""
    import gradio as gr
    from starlette.middleware import Middleware

    with gr.Blocks(title=TITLE, analytics_enabled=False) as page:
        gr.HTML(
            value=page_html(rubric, annotator=annotator),
            js_on_load=_page_file("page.js"),
            apply_default_css=False,
            server_functions=[
                # Functions, since Gradio marks what it exposes and a bound method takes no mark.
                _function(act)
                for act in (
                    desk.open_screen,
                    desk.save_label,
                    desk.skip_item,
                    desk.keep_draft,
                    desk.go_back,
                    desk.go_forward,
                    desk.review_items,
                    desk.rendered_view,
                )
            ],
        )
    # Gradio's own wait would swallow the interrupt; these stop as cleanly as Ctrl-C does.
    for stop in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(stop, lambda *_: sys.exit())
    who = f" as {annotator}" if annotator else ""
    try:
        page.launch(
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
            css=_page_file("page.css"),
            head=_POLICY,
        )
        click.echo(
            f"label{who} under rubric {rubric.version} at http://{HOST}:{port} (Ctrl-C stops)"
        )
        Event().wait()
    finally:
        page.close(verbose=False)
        desk.close()


def page_html(rubric: Rubric, *, annotator: str | None) -> str:
    """The page before any item is on it; every rubric text is escaped."""
    template = Environment(autoescape=True).from_string(_page_file("page.html"))
    return template.render(
        rubric=rubric,
        annotator=annotator,
        confidences=CONFIDENCES,
        skip_reasons=SKIP_REASONS,
        note_limit=NOTE_LIMIT,
    )


def _function(method):
    def act(data):
        return method(data)

    act.__name__ = method.__name__
    return act


def _page_file(name: str) -> str:
    return (resources.files("annotator") / "page" / name).read_text(encoding="utf-8")
