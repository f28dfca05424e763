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
    try:
        if path.exists():
            path.rename(old)
        written.rename(path)
    except BaseException:
        if old.exists():
            old.rename(path)
        raise
    on_disk(path.parent)


def _refuse_other(path: Path) -> None:
    """Raises InputError for what is no report, or holds files that no report of ours has."""
    if not path.is_symlink() and (not path.exists() or (path.is_dir() and not any(path.iterdir()))):
        return
    try:
        told = json.loads((path / MANIFEST).read_bytes())
        ours = {MANIFEST, *told["files"]} if told["kind"] == KIND else None
    except (OSError, ValueError, KeyError, TypeError):
        ours = None
    if ours is None or path.is_symlink():
        raise InputError(f"{path} is no report, so it is not overwritten; name another folder")
    others = sorted(set(_files(path)) - ours)
    if others:
        raise InputError(
            f"{path} holds {others[0]}, which is not of the report that is to be replaced; move it "
            "away, or name another folder"
        )


def _files(folder: Path) -> list[str]:
    """All that is in it, empty folders and links among it."""
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_symlink() or not path.is_dir() or not any(path.iterdir())
    )


def _manifest(folder: Path, provenance: Mapping[str, Any]) -> bytes:
    """Every file of the folder with its hash, and what they rest on."""
    files = {name: bytes_fingerprint((folder / name).read_bytes()) for name in _files(folder)}
    told = {"kind": KIND, "provenance": provenance, "files": files}
    text = json.dumps(told, ensure_ascii=False, indent=2, allow_nan=False)
    return f"{text}\n".encode()
