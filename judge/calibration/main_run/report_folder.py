"""The folder of a report: there whole or as it was before, whatever ends the writing early."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from generation.exchange.whole import on_disk
from rubrics import InputError, bytes_fingerprint

MANIFEST = "manifest.json"
KIND = "followupeval main run report"


@contextmanager
def report_folder(path: Path, provenance: Mapping[str, Any]) -> Iterator[Path]:
    """A new folder beside `path` to write a report in, which then takes the place of `path`.

    A report that is there stays until the new one is whole. Raises InputError as `check_place`,
    and where the disk refuses.
    """
    check_place(path)
    try:
        beside = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    except OSError as error:
        raise InputError(f"cannot write the report to {path}: {error.strerror}") from error
    try:
        written = beside / "new"
        written.mkdir()
        yield written
        (written / MANIFEST).write_bytes(_manifest(written, provenance))
        for file in (written, *written.rglob("*")):
            on_disk(file)
        _refuse_other(path)  # by somebody else, meanwhile
        _take_place(written, path, beside / "old")
    except OSError as error:
        raise InputError(f"cannot write the report to {path}: {error.strerror}") from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def check_place(path: Path) -> None:
    """Raises InputError where `path` is no report, or its folder is missing or cannot be written.

    Asked before anything is computed, so that nobody waits in vain.
    """
    _refuse_other(path)
    if not path.parent.is_dir():
        raise InputError(f"the folder {path.parent} does not exist; make it, then try again")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise InputError(f"the folder {path.parent} cannot be written; name another: --output")


def _take_place(written: Path, path: Path, old: Path) -> None:
    if path.exists():
        path.rename(old)
    try:
        written.rename(path)
    except BaseException:
        if old.exists():
            old.rename(path)
        raise
    on_disk(path.parent)


def _refuse_other(path: Path) -> None:
    if not path.exists() and not path.is_symlink():
        return
    try:
        kind = json.loads((path / MANIFEST).read_bytes())["kind"]
    except (OSError, ValueError, KeyError, TypeError):
        kind = None
    if kind != KIND or path.is_symlink():
        raise InputError(f"{path} is no report, so it is not overwritten; name another folder")


def _manifest(folder: Path, provenance: Mapping[str, Any]) -> bytes:
    """Every file of the folder with its hash, and what they rest on."""
    files = {
        str(file.relative_to(folder)): bytes_fingerprint(file.read_bytes())
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }
    told = {"kind": KIND, "provenance": provenance, "files": files}
    text = json.dumps(told, ensure_ascii=False, indent=2, allow_nan=False)
    return f"{text}\n".encode()
