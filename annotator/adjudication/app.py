"""The adjudicator's page: its texts and its acts."""

from pathlib import Path

from jinja2 import Environment

from annotator.accounts.person import Role
from annotator.accounts.refusal import RefusalLog
from annotator.adjudication.desk import AdjudicationDesk
from annotator.adjudication.discussion import NOTE_LIMIT
from annotator.labelling.rubric_view import rubric_html
from annotator.reason import REASON_LIMIT
from annotator.web.page import Page
from annotator.web.page_file import base_style, page_file
from rubrics import Rubric

PACKAGE = "annotator.adjudication"
TITLE = "Adjudicate · followupeval"


def page(labels: Path, rubric: Rubric, refusals: RefusalLog) -> Page:
    """The page; `rubric` is that of the study unless another one is published in labels.db.

    Raises InputError when labels.db cannot be opened or knows another text of the rubric.
    """
    desk = AdjudicationDesk(labels, rubric, refusals)
    return Page(
        path="/adjudicate",
        title=TITLE,
        html=page_html(rubric),
        # Categories and guidelines look as they do to the annotators.
        style=base_style()
        + page_file("annotator.labelling", "page.css")
        + page_file(PACKAGE, "page.css"),
        script=page_file("annotator.web", "parts.js") + page_file(PACKAGE, "page.js"),
        acts=(
            desk.show_dispute,
            desk.next_dispute,
            desk.previous_dispute,
            desk.decide,
            desk.add_note,
            desk.rendered_view,
            desk.rubric_view,
        ),
        role=Role.ADJUDICATOR,
        close=desk.close,
    )


def page_html(rubric: Rubric) -> str:
    """The page before any item is on it; every rubric text is escaped."""
    template = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(
        page_file(PACKAGE, "page.html")
    )
    return template.render(
        rubric=rubric_html(rubric), reason_limit=REASON_LIMIT, note_limit=NOTE_LIMIT
    )
