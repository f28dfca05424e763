"""Files and folders that are there whole or not at all, and that never replace another."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from rubrics import InputError


@contextlib.contextmanager
def made_whole(path: Path) -> Iterator[Path]:
    """A place beside `path` to write a file or a folder at, which then becomes `path`.

    Whatever ends the writing early, an interrupt too, leaves nothing. Raises InputError where
    `path` is taken already or its folder does not exist.
    """
    _refuse_taken(path)
    if not path.parent.is_dir():
        raise InputError(f"the folder {path.parent} does not exist; make it, then try again")
    beside = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    try:
        written = beside / path.name
        yield written
        for file in (written, *written.rglob("*")):
            on_disk(file)
        _refuse_taken(path)  # by somebody else, meanwhile
        written.rename(path)
        on_disk(path.parent)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _refuse_taken(path: Path) -> None:
    if path.exists() or path.is_symlink():
        raise InputError(f"{path} exists already and is not overwritten; give another name")


def on_disk(path: Path) -> None:
    """Wait until the disk has it."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
