"""Views as HTML: every value is escaped, and study text goes through `verbatim`."""

from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from annotator.verbatim import verbatim_html
from annotator.web.page_file import page_file
from judge.calibration.report.wording import number
from judge.calibration.workbench.place import Place
from judge.calibration.workbench.view import View
from judge.plural import counted
from rubrics import short

PACKAGE = "judge.calibration.workbench"


def render_view(view: View, place: Place) -> str:
    template = _environment().get_template(view.template)
    return template.render(
        place=place,
        cell_link=partial(_cell_link, place),
        commands=view.commands,
        title=view.title,
        **view.values,
    )


def interval(found: dict[str, Any]) -> str:
    """An interval as `--json` has it.

    >>> interval({"low": 0.5, "high": 0.75}), interval({"low": None, "high": None})
    ('0.50–0.75', 'no CI')
    """
    if found["low"] is None:
        return "no CI"
    to = "–" if found["low"] >= 0 else " to "
    return f"{found['low']:.2f}{to}{found['high']:.2f}"


def signed(value: float | None) -> str:
    return "undefined" if value is None else f"{value:+.3f}"


def _cell_link(place: Place, judge: str) -> Callable[[str, str], str]:
    """Where the items of a judge's cell are."""
    return lambda reference, outcome: place.link(
        view="items", judge=judge, reference=reference, outcome=outcome, item="", other=""
    )


def _namepairs(names: Iterable[str]) -> list[tuple[str, str]]:
    """Options of a list, each under its own name."""
    return [(name, name) for name in names]


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
        "counted": counted,
        "interval": interval,
        "number": number,
        "short": short,
        "signed": signed,
        "verbatim": lambda text: Markup(verbatim_html(text)),
    }
    environment.globals |= {
        "namepairs": _namepairs,
        "idpairs": lambda categories: [(each.id, each.name) for each in categories],
        "labelpairs": lambda templates: _namepairs(each.template.label for each in templates),
    }
    return environment
