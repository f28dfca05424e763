"""Serving the workbench: its page, its acts, and nothing of the annotators' process."""

import sys
from pathlib import Path
from threading import Thread

from annotator.web.page import Page
from annotator.web.page_file import base_style, page_file
from annotator.web.server import listening, serve_pages
from annotator.web.web_site import Site
from generation.study import Study
from judge.calibration.workbench.bench import Bench
from judge.calibration.workbench.desk import WorkbenchDesk
from judge.calibration.workbench.place import Place
from judge.calibration.workbench.rendered_view import PACKAGE
from judge.calibration.workbench.stores import opened

# Seconds: a view reads the stores in a hundred short steps, and after each it waits so long, by
# default 5 ms, for what is being computed beside it.
SWITCH = 0.0005
EXPORTS = "exports"  # beside where the page was started, as the command has it
TITLE = "Calibration workbench · followupeval"


def serve(study: Study, *, port: int) -> None:
    """Serve the workbench on this machine until interrupted.

    Raises InputError when a store is missing or cannot be used, or no port is free.
    """
    bench = Bench(study, Path(EXPORTS))
    with opened(study):  # what cannot be opened is told at once
        pass
    listener = listening(Site(), port, "calibrate serve")
    sys.setswitchinterval(SWITCH)
    desk = WorkbenchDesk(bench)
    Thread(target=_warm, args=(bench,), daemon=True).start()
    page = Page(
        path="/",
        title=TITLE,
        html=page_file(PACKAGE, "page.html"),
        style=base_style() + page_file(PACKAGE, "page.css"),
        script=page_file(PACKAGE, "page.js"),
        acts=(desk.show_view, desk.do_act),
        close=desk.close,
    )
    serve_pages([page], Site(), listener, f"workbench of {study.folder}")


def _warm(bench: Bench) -> None:
    """Have the results under way before the first view asks for them."""
    with opened(bench.study) as stores:
        bench.labels(stores)
        for contender in bench.roster(stores):
            bench.readout(stores, contender, Place())
