"""The app of `annotate serve` in a thread of this process: a study is served in half a second.

What holds for a process of its own (signals, open files, being killed) is tested with `served`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import uvicorn

from annotator.accounts.register import Register
from annotator.app import pages_of
from annotator.labels import open_labels, record_rubric
from annotator.web.server import gated, listening
from annotator.web.web_site import Site
from rubrics import Rubric, load_rubric


@contextmanager
def served_here(
    folder: Path, *, rubric: Rubric | None = None, annotator: str | None = None, port: int = 7800
) -> Iterator[str]:
    """Serve the study of a folder, with accounts where it has some; gives the address."""
    labels, site, rubric = folder / "labels.db", Site(), rubric or load_rubric("v3")
    with open_labels(labels) as database:
        record_rubric(database, rubric)
    register = Register(labels)
    accounts = register.in_use()
    pages = pages_of(labels, rubric, register.refusals, accounts=accounts, annotator=annotator)
    listener = listening(site, port, "annotate")
    config = uvicorn.Config(
        gated(pages, site, register), log_level="warning", ws="none", timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    thread = Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        for page in pages:
            page.close()
        register.close()
