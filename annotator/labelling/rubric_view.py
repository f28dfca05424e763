"""The rubric as the labelling page shows it: the categories to choose from, and the guidelines."""

import json
from functools import cache

from jinja2 import Environment, FunctionLoader

from annotator.labelling.choice import CONFIDENCES, NOTE_LIMIT, SKIP_REASONS
from annotator.web.page_file import page_file
from rubrics import Rubric

PACKAGE = "annotator.labelling"
LANGUAGES = {"de": "Deutsch"}  # of the page, beside English; texts of the study stay as they are


def page_html(rubric: Rubric, *, annotator: str | None, accounts: bool) -> str:
    """The page before any item is on it; every rubric text is escaped.

    The guidelines come with the first item, since they depend on who reads them.
    """
    template = _environment().get_template("page.html")
    return template.render(
        rubric=rubric,
        languages=LANGUAGES,
        words={code: words_in(code) for code in LANGUAGES},
        asks_name=not (annotator or accounts),
        accounts=accounts,
        confidences=CONFIDENCES,
        skip_reasons=SKIP_REASONS,
        note_limit=NOTE_LIMIT,
    )


def words_in(language: str) -> dict[str, str]:
    """The page's texts in another language, by their English.

    Not Gradio's own i18n: that knows the texts of its components, and this page is one of ours.
    """
    return json.loads(page_file(PACKAGE, f"words.{language}.json"))


def rubric_html(rubric: Rubric, *, withheld: bool = False) -> dict[str, str]:
    """The parts of a page that a rubric fills.

    `withheld` leaves its examples out: to somebody in training they may be what is asked.
    """
    parts = ("categories", "guidelines", "changed")
    return {"version": rubric.version} | {
        part: _environment().get_template(f"{part}.html").render(rubric=rubric, withheld=withheld)
        for part in parts
    }


@cache
def _environment() -> Environment:
    return Environment(
        autoescape=True,
        loader=FunctionLoader(lambda name: page_file(PACKAGE, name)),
        trim_blocks=True,
        lstrip_blocks=True,
    )
