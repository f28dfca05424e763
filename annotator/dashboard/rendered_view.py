"""Views as HTML: every value is escaped, and study text goes through `verbatim`."""

from functools import cache, partial

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from annotator.dashboard import wording
from annotator.dashboard.fresh_figures import Shown
from annotator.dashboard.place import Place
from annotator.dashboard.view import View
from annotator.verbatim import verbatim_html
from annotator.web.page_file import page_file

PACKAGE = "annotator.dashboard"


def render_view(view: View, shown: Shown, place: Place, option: str) -> str:
    """The HTML of a view; `option` names the study to a command."""
    found = shown.figures
    return (
        _environment()
        .get_template(view.template)
        .render(
            place=place,
            shown=shown,
            found=found,
            rubric=found.reading.rubric,
            commands=[
                f"{command} --rubric {found.reading.rubric.version}{option}"
                for command in view.commands
            ],
            **view.values,
        )
    )


def moment(time: str) -> str:
    """A stored time, to the minute.

    >>> moment("2026-04-02T10:11:12.345+00:00")
    '2026-04-02 10:11'
    """
    return time[:16].replace("T", " ")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(partial(page_file, PACKAGE)),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "ends": wording.ends,
        "interval": wording.interval,
        "moment": moment,
        "number": wording.number,
        "percent": wording.percent,
        "counted": wording.counted,
        "verbatim": lambda text: Markup(verbatim_html(text)),
    }
    environment.globals |= {
        "alpha_text": wording.alpha_text,
        "labels_text": wording.labels_text,
        "namepairs": lambda names: [(name, name) for name in names],
        "reliability": wording.reliability,
    }
    return environment
