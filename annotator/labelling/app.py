"""The labelling page: its texts, its acts, and serving it."""

from pathlib import Path

from jinja2 import Environment

from annotator.labelling.choice import CONFIDENCES, NOTE_LIMIT, SKIP_REASONS
from annotator.labelling.desk import Desk
from annotator.labels import open_labels, record_rubric
from annotator.name import checked_name
from annotator.web.local_page import LocalPage, prepared_port, serve_page
from annotator.web.page_file import base_style, page_file
from generation.study import Study
from rubrics import InputError, Rubric

PACKAGE = "annotator.labelling"
TITLE = "Label user turns · followupeval"


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
    free = prepared_port(port, "annotate")
    desk = Desk(database, rubric, labels, annotator=annotator)
    page = LocalPage(
        title=TITLE,
        html=page_html(rubric, annotator=annotator),
        style=base_style() + page_file(PACKAGE, "page.css"),
        script=page_file(PACKAGE, "page.js"),
        acts=(
            desk.open_screen,
            desk.save_label,
            desk.skip_item,
            desk.keep_draft,
            desk.go_back,
            desk.go_forward,
            desk.review_items,
            desk.rendered_view,
        ),
    )
    who = f" as {annotator}" if annotator else ""
    # Leaves labels.db whole and closed.
    serve_page(page, free, f"label{who} under rubric {rubric.version}", desk.close)


def page_html(rubric: Rubric, *, annotator: str | None) -> str:
    """The page before any item is on it; every rubric text is escaped."""
    template = Environment(autoescape=True).from_string(page_file(PACKAGE, "page.html"))
    return template.render(
        rubric=rubric,
        annotator=annotator,
        confidences=CONFIDENCES,
        skip_reasons=SKIP_REASONS,
        note_limit=NOTE_LIMIT,
    )
