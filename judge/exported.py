"""An export: a calibrated judge prompt as a folder, read back only if nothing in it changed."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from generation.database import readable_refusals
from judge.judge import Judge
from judge.prompt import JudgePrompt, check_prompt
from rubrics import InputError, Rubric, bytes_fingerprint, fingerprint, parse_rubric

FORMAT = 1  # of the folder; a reader refuses a newer one
PROMPT, RUBRIC, CALIBRATION, MANIFEST = (
    "prompt.md", "rubric.toml", "calibration.json", "manifest.json"
)  # fmt: skip
CONTENT = (PROMPT, RUBRIC, CALIBRATION)


@dataclass(frozen=True)
class Export:
    """A verified export: the judge that was calibrated, its prompt and its rubric."""

    folder: Path
    judge: Judge
    prompt: JudgePrompt
    rubric: Rubric


def load_export(folder: Path) -> Export:
    """Read an export and verify every file of it.

    Raises InputError when the folder is no export, was written by a newer version, or when a file
    is missing, extra or changed, naming the file.
    """
    if not (folder / MANIFEST).is_file():
        raise InputError(
            f"{folder} is no exported judge prompt (no {MANIFEST}); make one: calibrate export"
        )
    with readable_refusals(folder):
        files = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
        names = {path.name for path in folder.iterdir()}
    manifest = _manifest(files[MANIFEST], folder)
    for name in sorted(names | set(CONTENT)):
        fault = _fault(name, files, manifest)
        if fault:
            raise InputError(
                f"{folder / name} {fault}; an export is used unchanged or not at all: restore the "
                "file, or export again: calibrate export"
            )
    return _export(folder, files, manifest)


def file_json(value: dict[str, Any]) -> bytes:
    """JSON as an export's files hold it: sorted keys, two blanks, a newline at the end."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, indent=2, allow_nan=False)
    return f"{text}\n".encode()


def export_hash(manifest: dict[str, Any]) -> str:
    """Fingerprint of a manifest's content, itself left out; covers every file through its hash."""
    return fingerprint({key: value for key, value in manifest.items() if key != "export_hash"})


def _manifest(content: bytes, folder: Path) -> dict[str, Any]:
    try:
        manifest = json.loads(content)
        newer = manifest["format"] > FORMAT
        intact = manifest["export_hash"] == export_hash(manifest)
        intact = intact and content == file_json(manifest)
    except (ValueError, KeyError, TypeError, RecursionError):
        intact, newer = False, False
    if newer:
        raise InputError(
            f"{folder} was written by a newer followupeval; upgrade: pip install -U followupeval"
        )
    if not intact:
        raise InputError(
            f"{folder / MANIFEST} was changed; an export is used unchanged or not at all: restore "
            "the file, or export again: calibrate export"
        )
    return manifest


def _fault(name: str, files: dict[str, bytes], manifest: dict[str, Any]) -> str | None:
    if name == MANIFEST:
        return None
    if name not in manifest["files"]:
        return "does not belong to the export"
    if name not in files:
        return "is missing"
    if bytes_fingerprint(files[name]) != manifest["files"][name]:
        return "was changed"
    return None


def _export(folder: Path, files: dict[str, bytes], manifest: dict[str, Any]) -> Export:
    recorded = manifest["judge"]
    rubric = parse_rubric(files[RUBRIC].decode(), source=str(folder / RUBRIC))
    prompt = JudgePrompt(
        recorded["template"], rubric.version, rubric.hash, rubric.text, files[PROMPT].decode()
    )
    check_prompt(prompt)
    judge = Judge(
        recorded["model"], recorded["parameters"], recorded["rubric_version"], prompt.prompt_hash
    )
    if judge.judge_id != recorded["judge_id"]:
        raise InputError(f"{folder}: its files are not those of judge {recorded['judge_id']}")
    return Export(folder, judge, prompt, rubric)
