"""What the four commands share: a default act, the study option, and one-line failures."""

import sqlite3
import sys
from collections.abc import Callable
from math import isfinite
from pathlib import Path
from typing import Any

import click
from click_default_group import DefaultGroup

from generation.study import DEFAULT_FOLDER, Study
from rubrics import InputError

INPUT_WRONG = 1
INTERRUPTED = 130


class FiniteRange(click.FloatRange):
    """A number in a range; nan, which no range leaves out, and inf are none."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number = super().convert(value, param, ctx)
        if not isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


class Verb(DefaultGroup):
    """A command group whose bare call is its main act.

    An InputError, or a store that the machine does not let us write, ends in one line on stderr
    and exit code 1, an interrupt in exit code 130.
    """

    def main(self, *args: Any, standalone_mode: bool = True, **kwargs: Any) -> Any:
        if not standalone_mode:
            return super().main(*args, standalone_mode=False, **kwargs)
        try:
            _refuse_undecodable(sys.argv[1:])
            result = super().main(*args, standalone_mode=False, **kwargs)
        except click.ClickException as error:
            error.show()
            sys.exit(error.exit_code)
        except InputError as error:
            click.echo(f"error: {one_line(str(error))}", err=True)
            sys.exit(INPUT_WRONG)
        except sqlite3.DatabaseError as error:
            from generation.database import storage_refusal  # sqlite_utils is slow to import

            refusal = storage_refusal(error)
            if refusal is None:
                raise
            click.echo(f"error: the study cannot be written: {refusal}", err=True)
            sys.exit(INPUT_WRONG)
        except OSError as error:  # such as a full disk behind a redirected result
            where = f"{error.filename}: " if error.filename else ""
            click.echo(f"error: {where}{error.strerror or error}", err=True)
            sys.exit(INPUT_WRONG)
        except (KeyboardInterrupt, click.Abort):
            click.echo("interrupted", err=True)
            sys.exit(INTERRUPTED)
        sys.exit(result if isinstance(result, int) else 0)


def one_line(message: str) -> str:
    r"""A message on one line that cannot act on a terminal, whatever names it quotes.

    >>> print(one_line("no column 'q\n\x1b[31m'"))
    no column 'q\n\x1b[31m'
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in message)


def _refuse_undecodable(arguments: list[str]) -> None:
    for argument in arguments:
        if not argument.isascii() and any(0xD800 <= ord(c) <= 0xDFFF for c in argument):
            raise InputError(f"the argument {argument!r} is not UTF-8; rename it and try again")


def study_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--study FOLDER` (default ./study) and hand the command a Study."""
    return click.option(
        "--study",
        type=click.Path(file_okay=False, path_type=Path),
        default=DEFAULT_FOLDER,
        envvar="FOLLOWUPEVAL_STUDY",
        show_default="./study",
        show_envvar=True,
        callback=lambda _context, _parameter, folder: Study(folder),
        help="The study's folder.",
    )(command)
