"""Where a template's new text comes from: a file, or the editor of whoever sits at a terminal."""

import contextlib
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

from generation.database import readable_refusals
from judge.prompts.prompt_template import PromptTemplate
from rubrics import InputError


@contextlib.contextmanager
def new_text(file: Path | None, start: PromptTemplate) -> Iterator[str | None]:
    """The text of `file`, or what the editor makes of `start`; None where the text is to stay.

    Work in the editor outlives its refusal: an InputError of the block then says where the text
    is kept. Raises InputError for a file that cannot be read.
    """
    if file:
        yield read_text_file(file).replace("\r\n", "\n")
        return
    # None, too, when the editor is left without saving.
    edited = click.edit(start.text, extension=".md") if sys.stdin.isatty() else None
    try:
        yield edited
    except InputError as error:
        if edited is None:
            raise
        raise InputError(f"{error} (your text is kept in {_kept(edited)})") from error


def read_text_file(path: Path) -> str:
    """A template's or a rubric's text; raises InputError if it cannot be read or is not UTF-8."""
    with readable_refusals(path):
        content = path.read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8 and try again"
        ) from None


def _kept(text: str) -> str:
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", prefix="judge-prompt-", suffix=".md", delete=False
    ) as file:
        file.write(text)
    return file.name
