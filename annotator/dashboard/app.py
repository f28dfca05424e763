"""The owner's dashboard as a page to be served; it opens labels.db alone, so no judge is in it."""

from pathlib import Path

from annotator.accounts.person import Role
from annotator.accounts.refusal import RefusalLog
from annotator.dashboard.desk import DashboardDesk
from annotator.dashboard.rendered_view import PACKAGE
from annotator.web.page import Page
from annotator.web.page_file import base_style, page_file
from rubrics import Rubric

TITLE = "Dashboard · followupeval"


def page(labels: Path, rubric: Rubric, refusals: RefusalLog) -> Page:
    """The page; `rubric` is that of the study unless another one is published in labels.db."""
    desk = DashboardDesk(labels, rubric, refusals)
    return Page(
        path="/dashboard",
        title=TITLE,
        html=page_file(PACKAGE, "page.html"),
        style=base_style() + page_file(PACKAGE, "page.css"),
        script=page_file(PACKAGE, "page.js"),
        acts=(desk.show_dashboard,),
        role=Role.OWNER,
        close=desk.close,
    )
