"""The labelling page: its texts and its acts."""

from annotator.accounts.person import Role
from annotator.labelling.desk import Desk
from annotator.labelling.rubric_view import PACKAGE, page_html
from annotator.web.page import Page
from annotator.web.page_file import base_style, page_file
from rubrics import Rubric

TITLE = "Label user turns · followupeval"
SCRIPTS = (
    "desk.js",
    "language.js",
    "acts.js",
    "activity.js",
    "screens.js",
    "drafts.js",
    "recent.js",
    "guidelines.js",
    "keys.js",
    "start.js",
)


def page(desk: Desk, rubric: Rubric, annotator: str | None, *, accounts: bool = False) -> Page:
    """The page of one desk; it asks for a name unless `annotator` or a login says who labels."""
    return Page(
        path="/",
        title=TITLE,
        html=page_html(rubric, annotator=annotator, accounts=accounts),
        style=base_style() + page_file(PACKAGE, "page.css"),
        script=script(),
        acts=(
            desk.open_screen,
            desk.answer_training,
            desk.save_label,
            desk.skip_item,
            desk.keep_draft,
            desk.renew_lease,
            desk.go_back,
            desk.go_forward,
            desk.review_items,
            desk.recent_labels,
            desk.revisit_item,
            desk.take_back,
            desk.rendered_view,
            desk.rubric_view,
        ),
        role=Role.ANNOTATOR,
        close=desk.close,  # leaves labels.db whole
    )


def script() -> str:
    """The page's script: its files one after the other."""
    own = (page_file(PACKAGE, name) for name in SCRIPTS)
    return "\n".join([page_file("annotator.web", "parts.js"), *own])
