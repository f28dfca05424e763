"""Input errors as Inspect's command line tells them: one line and no traceback."""

from collections.abc import Iterator
from contextlib import contextmanager

import click

from generation.command import one_line
from rubrics import InputError


class Refusal(InputError, click.ClickException):
    """An input error that click, which Inspect's commands are made with, prints as one line."""


@contextmanager
def told_in_a_line() -> Iterator[None]:
    try:
        yield
    except InputError as error:
        raise Refusal(one_line(str(error))) from error
