"""Rendering a template that somebody wrote: it reads what it is given and nothing else."""

import contextlib
import traceback
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from rubrics import InputError

_FILES = ("<template>", "<unknown>")  # what jinja2 calls the source of a template in a traceback
_MEND = "mend the template's text and give it again with --file FILE.md"


def render_template(
    text: str,
    label: str,
    values: Mapping[str, Any],
    finalize: Callable[[str], str],
    filters: Mapping[str, Callable[..., str]],
) -> str:
    """The Jinja template `text` with `values`; each text that it prints goes through `finalize`.

    Raises InputError naming the template, the line where it is known and what to do, when jinja2
    cannot read it, it names something not in `values`, or it fails or reaches for Python's insides.
    """
    from jinja2.exceptions import TemplateAssertionError

    environment = _environment(finalize)
    environment.filters.update(filters)
    with _refusals(label):
        for name, line in _names(environment, text).items():
            if name not in values:
                problem = f"{name} is unknown, expected one of {', '.join(values)}"
                raise TemplateAssertionError(problem, line)
        return environment.from_string(text).render(values)


def names_used(text: str, label: str) -> set[str]:
    """The values that a template asks for; raises InputError when jinja2 cannot read it."""
    with _refusals(label):
        return set(_names(_environment(str), text))


@contextlib.contextmanager
def _refusals(label: str) -> Iterator[None]:
    """Turn what a template does wrong into an InputError with its line."""
    from jinja2.exceptions import TemplateError

    try:
        yield
    except Exception as error:  # an expression of a template can raise whatever Python can
        told = isinstance(error, TemplateError | InputError)
        problem = str(error) if told else f"{type(error).__name__}: {error}"
        problem = problem.partition("\n")[0].rstrip(".")  # jinja2 goes on with the source
        raise InputError(f"template {label}{_where(error)}: {problem}; {_MEND}") from error


def _environment(finalize: Callable[[str], str]) -> Any:
    from jinja2 import StrictUndefined
    from jinja2.exceptions import TemplateRuntimeError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    def printable(value: Any) -> Any:
        if isinstance(value, str):
            return finalize(value)
        if isinstance(value, int | float | StrictUndefined):
            return value  # an undefined one raises when it is printed
        # The text of an object may hold its address, so that the prompt would vary.
        raise TemplateRuntimeError(
            f"it prints a {type(value).__name__}, expected a text or a number"
        )

    environment = ImmutableSandboxedEnvironment(
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
        finalize=printable,
    )
    # What these give is drawn at random, and the static part must be the same for every item.
    del environment.globals["lipsum"], environment.filters["random"]
    return environment


def _names(environment: Any, text: str) -> dict[str, int]:
    """Undeclared names with the line of their first use."""
    from jinja2 import meta, nodes

    tree = environment.parse(text)
    undeclared = meta.find_undeclared_variables(tree) - environment.globals.keys()
    lines: dict[str, int] = {}
    for name in tree.find_all(nodes.Name):
        if name.name in undeclared:
            lines.setdefault(name.name, name.lineno)
    return dict(sorted(lines.items(), key=lambda entry: (entry[1], entry[0])))


def _where(error: Exception) -> str:
    """`, line 3` where the error or its traceback knows a line of the template."""
    line = getattr(error, "lineno", None)
    if line is None or isinstance(error, SyntaxError):  # a SyntaxError counts compiled lines
        frames = traceback.extract_tb(error.__traceback__)
        known = [frame.lineno for frame in frames if frame.filename in _FILES]
        line = known[-1] if known else None
    return "" if line is None else f", line {line}"
