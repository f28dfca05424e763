"""An export: a calibrated judge prompt as a folder, read back only if nothing in it changed."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from generation.database import readable_refusals
from judge.anchors import Anchor, read_anchors
from judge.judge import Judge
from judge.prompts.prompt import JudgePrompt, check_prompt
from judge.reading import Reading, parse_reading
from rubrics import InputError, Rubric, bytes_fingerprint, fingerprint, parse_rubric

PROMPT, RUBRIC, CALIBRATION, ANCHORS, MANIFEST = (
    "prompt.md", "rubric.toml", "calibration.json", "anchors.jsonl", "manifest.json"
)  # fmt: skip

# The files of each format of the folder. Format 1 had no anchors and knew of a single run only.
CONTENT = {
    1: (PROMPT, RUBRIC, CALIBRATION),
    2: (PROMPT, RUBRIC, CALIBRATION, ANCHORS),
}
FORMAT = max(CONTENT)  # what is written; a reader refuses a newer one


@dataclass(frozen=True)
class Export:
    """A verified export: the judge that was calibrated, its prompt and its rubric.

    `reading` and `runs` say how many runs were calibrated and what of them counted; `flip_rate` is
    how far two runs differed, None where there was one. A format 1 export has no `anchors`.
    """

    folder: Path
    judge: Judge
    prompt: JudgePrompt
    rubric: Rubric
    reading: Reading
    runs: int
    flip_rate: float | None
    anchors: tuple[Anchor, ...]
    export_hash: str


def load_export(folder: Path) -> Export:
    """Read an export and verify every file of it.

    Raises InputError when the folder is no export, was written by a newer version, or when a file
    is missing, extra, changed or holds no anchors, naming the file.
    """
    if not (folder / MANIFEST).is_file():
        raise InputError(
            f"{folder} is no exported judge prompt (no {MANIFEST}); make one: calibrate export"
        )
    with readable_refusals(folder):
        files = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
        names = {path.name for path in folder.iterdir()}
    manifest = _manifest(files[MANIFEST], folder)
    for name in sorted(names | set(CONTENT[manifest["format"]])):
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
        intact = newer or manifest["format"] in CONTENT
        intact = intact and manifest["export_hash"] == export_hash(manifest)
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
    if name not in files and name in {*CONTENT[manifest["format"]], *manifest["files"]}:
        return "is missing"
    if name not in manifest["files"]:
        return "does not belong to the export"
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
    reading, runs = _reading(manifest)
    return Export(
        folder=folder,
        judge=judge,
        prompt=prompt,
        rubric=rubric,
        reading=reading,
        runs=runs,
        flip_rate=manifest.get("flip_rate"),
        anchors=_anchors(folder, files, rubric, runs),
        export_hash=manifest["export_hash"],
    )


def _reading(manifest: dict[str, Any]) -> tuple[Reading, int]:
    if manifest["format"] == 1:
        return Reading.SINGLE, 1
    return parse_reading(manifest["reading"]["name"]), manifest["reading"]["runs"]


def _anchors(
    folder: Path, files: dict[str, bytes], rubric: Rubric, runs: int
) -> tuple[Anchor, ...]:
    """The anchors, each with one label of the rubric, or None, per run."""
    try:
        anchors = read_anchors(files.get(ANCHORS, b""))
        for anchor in anchors:
            unknown = set(anchor.labels) - {None, *rubric.category_ids}
            if unknown or len(anchor.labels) != runs:
                raise InputError(
                    f"an anchor has the labels {list(anchor.labels)}; expected {runs} of rubric "
                    f"{rubric.version} or null; export again: calibrate export"
                )
    except InputError as error:
        raise InputError(f"{folder / ANCHORS}: {error}") from error
    return anchors
