"""Pages as Gradio serves them: the only file here that imports gradio."""

import os
from collections.abc import Callable, Sequence
from typing import Any

from fastapi import FastAPI
from starlette.routing import BaseRoute

from annotator.web.page import Page

# Whatever the texts hold, the browser asks no other host for anything.
_POLICY = (
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'self' 'unsafe-inline' "
    "'unsafe-eval' data: blob:; form-action 'self'\">"
)


def gradio_app(pages: Sequence[Page], routes: Sequence[BaseRoute] = ()) -> FastAPI:
    """An app with each page at its path, and `routes` before them."""
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"  # read when gradio is imported
    import gradio as gr

    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, routes=list(routes))
    for page in sorted(pages, key=lambda page: len(page.path), reverse=True):  # "/" takes the rest
        with gr.Blocks(title=page.title, analytics_enabled=False) as blocks:
            gr.HTML(
                value=page.html,
                js_on_load=page.script,
                apply_default_css=False,
                # Functions, since Gradio marks what it exposes and a bound method takes no mark.
                server_functions=[_function(act) for act in page.acts],
            )
        gr.mount_gradio_app(
            app,
            blocks,
            path=page.path,
            show_error=False,
            ssr_mode=False,
            # The run history would keep every text and label in the browser's storage.
            run_history=False,
            enable_monitoring=False,
            footer_links=[],
            theme=gr.themes.Default(font=["system-ui", "sans-serif"], font_mono=["monospace"]),
            css=page.style,
            head=_POLICY,
        )
    return app


def _function(method: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def act(data):
        return method(data)

    act.__name__ = method.__name__
    return act
