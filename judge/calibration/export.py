"""Export of a calibrated judge prompt: a folder that the main run can use and anyone can check."""

import json
import re
import tempfile
from pathlib import Path
from typing import Any, Protocol

import click
from sqlite_utils import Database

from generation.database import readable_refusals
from judge.exported import (
    CALIBRATION,
    FORMAT,
    MANIFEST,
    PROMPT,
    RUBRIC,
    content_hash,
    export_hash,
    file_json,
    load_export,
)
from judge.judgment import Judge
from judge.lexical import LEXICAL
from judge.store import JudgePrompt, JudgmentStore
from rubrics import InputError, short

__all__ = ["export_calibration", "load_export"]

LEXICAL_NOTE = (
    "The calibration belongs to the lexical baseline, which reads no prompt. It says nothing "
    "about a model that is given prompt.md."
)


class Calibrated(Protocol):
    """What an export needs of a calibration."""

    judge_id: str

    def as_dict(self) -> dict[str, Any]: ...


def export_calibration(
    pipeline_db: Database, calibration: Calibrated, prompt: JudgePrompt, output: Path
) -> Path:
    """Write `output/<rubric>-<judge>-<hash>/` and record it; returns the folder.

    The same calibration gives the same bytes, so that exporting again changes nothing.

    Raises InputError when the judge is unknown or has another prompt, when the folder exists with
    other content, or when it cannot be written; nothing half-written stays behind.
    """
    store = JudgmentStore(pipeline_db)
    judge = store.judge(calibration.judge_id)
    if judge.prompt_hash != prompt.prompt_hash:
        raise InputError(
            f"judge {short(calibration.judge_id)} was run with prompt {short(judge.prompt_hash)}, "
            f"not with {short(prompt.prompt_hash)}; export the prompt it was run with"
        )
    result = calibration.as_dict()
    files = _files(judge, prompt, result)
    digest = json.loads(files[MANIFEST])["export_hash"]
    folder = output / f"{_safe(judge.rubric_version)}-{_safe(judge.model)}-{short(digest)}"
    with readable_refusals(output):
        output.mkdir(parents=True, exist_ok=True)
        if folder.exists():
            _check_same(folder, files)
            click.echo(f"{folder} holds this export already; nothing written", err=True)
        else:
            _write(folder, files)
    store.add_export(digest, folder, calibration.judge_id, result)
    return folder


def _files(judge: Judge, prompt: JudgePrompt, result: dict[str, Any]) -> dict[str, bytes]:
    content = {
        PROMPT: prompt.text.encode(),
        RUBRIC: prompt.rubric_text.encode(),
        CALIBRATION: file_json(result),
    }
    manifest = {
        "format": FORMAT,
        "files": {name: content_hash(data) for name, data in content.items()},
        "reads_prompt": judge.model != LEXICAL,
        "judge": {
            "judge_id": judge.judge_id,
            "model": judge.model,
            "parameters": judge.parameters,
            "rubric_version": judge.rubric_version,
            "rubric_hash": prompt.rubric_hash,
            "prompt_hash": prompt.prompt_hash,
            "template": prompt.template,
        },
    }
    if judge.model == LEXICAL:
        manifest["note"] = LEXICAL_NOTE
    manifest["export_hash"] = export_hash(manifest)
    return content | {MANIFEST: file_json(manifest)}


def _safe(name: str) -> str:
    """A name that every file system takes; `org/model` becomes `org-model`."""
    return re.sub(r"[^A-Za-z0-9._]+", "-", name).strip("-.")[:60] or "judge"


def _write(folder: Path, files: dict[str, bytes]) -> None:
    """Write all files into a neighbouring folder, then rename it: all of it appears or nothing."""
    with tempfile.TemporaryDirectory(prefix=".export-", dir=folder.parent) as scratch:
        written = Path(scratch) / folder.name
        written.mkdir()
        for name, data in files.items():
            (written / name).write_bytes(data)
        written.rename(folder)


def _check_same(folder: Path, files: dict[str, bytes]) -> None:
    names = {path.name for path in folder.iterdir()}
    for name in sorted(names | files.keys()):
        same = name in names and name in files and (folder / name).read_bytes() == files[name]
        if not same:
            raise InputError(
                f"{folder / name} is not what this export would write; the folder was edited: "
                "move it away and export again: calibrate export"
            )
