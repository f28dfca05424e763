"""An export: a calibrated judge prompt as a folder, read back only if nothing in it changed."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from generation.database import readable_refusals
from generation.toml_file import parse_toml, shown
from judge.anchors import Anchor, read_anchors
from judge.config import MAX_RUNS, checked_model, is_name, wrong_parameter
from judge.judge import LEXICAL, Judge
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
MAX_FILE_BYTES, MAX_MANIFEST_BYTES = 100_000_000, 1_000_000
_AGAIN = "export again: calibrate export"


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
    is missing, extra, too large, changed or holds what no export does, naming the file.
    """
    if not (folder / MANIFEST).is_file():
        raise InputError(
            f"{folder} is no exported judge prompt (no {MANIFEST}); make one: calibrate export"
        )
    manifest = _manifest(_content(folder / MANIFEST, MAX_MANIFEST_BYTES), folder)
    expected = CONTENT[manifest["format"]]
    _check_names(folder, expected, manifest["files"])  # before any of them is read
    files = {}
    for name in sorted(expected):
        files[name] = _content(folder / name, MAX_FILE_BYTES)
        if bytes_fingerprint(files[name]) != manifest["files"][name]:
            raise _unusable(folder / name, "was changed")
    try:
        return _export(folder, files, manifest)
    except _Foreign as foreign:
        raise InputError(f"{folder / MANIFEST}: {foreign}; {_AGAIN}") from foreign


def file_json(value: dict[str, Any]) -> bytes:
    """JSON as an export's files hold it: sorted keys, two blanks, a newline at the end."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, indent=2, allow_nan=False)
    return f"{text}\n".encode()


def export_hash(manifest: dict[str, Any]) -> str:
    """Fingerprint of a manifest's content, itself left out; covers every file through its hash."""
    return fingerprint({key: value for key, value in manifest.items() if key != "export_hash"})


class _Foreign(Exception):
    """A manifest that holds what no export of ours does; the message says what."""


def _unusable(path: Path, fault: str) -> InputError:
    return InputError(
        f"{path} {fault}; an export is used unchanged or not at all: restore the file, or {_AGAIN}"
    )


def _content(path: Path, most: int) -> bytes:
    with readable_refusals(path), path.open("rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise _unusable(path, f"has more than {most:,} bytes")
    return content


def _manifest(content: bytes, folder: Path) -> dict[str, Any]:
    """The manifest of a format that we know, with the hashes of its files; all else unchecked."""
    try:
        manifest = json.loads(content)
        newer = manifest["format"] > FORMAT
        intact = newer or (type(manifest["format"]) is int and manifest["format"] in CONTENT)
        intact = intact and manifest["export_hash"] == export_hash(manifest)
        intact = intact and content == file_json(manifest)
    except (ValueError, KeyError, TypeError, RecursionError):
        intact, newer = False, False
    if newer:
        raise InputError(
            f"{folder} was written by a newer followupeval; upgrade: pip install -U followupeval"
        )
    if not intact:
        raise _unusable(folder / MANIFEST, "was changed")
    if not isinstance(manifest.get("files"), dict):
        raise InputError(f"{folder / MANIFEST}: files is no table of the export's files; {_AGAIN}")
    return manifest


def _check_names(folder: Path, expected: tuple[str, ...], listed: dict[str, Any]) -> None:
    with readable_refusals(folder):
        found = {path.name: path.is_file() for path in folder.iterdir()}
    for name in sorted(found.keys() | set(expected)):
        if name not in (*expected, MANIFEST):
            raise _unusable(folder / name, "does not belong to the export")
        if not found.get(name) or name not in (*listed, MANIFEST):
            raise _unusable(folder / name, "is missing")
    others = sorted(listed.keys() - set(expected))
    if others:
        raise _unusable(folder / MANIFEST, f"lists {shown(others[0])}, which is no export's file")


def _export(folder: Path, files: dict[str, bytes], manifest: dict[str, Any]) -> Export:
    recorded = _recorded(manifest)
    reading, runs = _reading(manifest)
    # Tried before parse_rubric, which expects what people write.
    parse_toml(files[RUBRIC], str(folder / RUBRIC), f"the rubric of an export; {_AGAIN}")
    rubric = parse_rubric(files[RUBRIC].decode(), source=str(folder / RUBRIC))
    try:
        text = files[PROMPT].decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{folder / PROMPT} is not UTF-8; {_AGAIN}") from error
    prompt = JudgePrompt(recorded["template"], rubric.version, rubric.hash, rubric.text, text)
    check_prompt(prompt)
    judge = Judge(recorded["model"], recorded["parameters"], rubric.version, prompt.prompt_hash)
    if judge.judge_id != recorded["judge_id"]:
        raise InputError(
            f"{folder}: its files are not those of judge {recorded['judge_id']}; {_AGAIN}"
        )
    return Export(
        folder=folder,
        judge=judge,
        prompt=prompt,
        rubric=rubric,
        reading=reading,
        runs=runs,
        flip_rate=_flip_rate(manifest),
        anchors=_anchors(folder, files, rubric, runs),
        export_hash=manifest["export_hash"],
    )


def _recorded(manifest: dict[str, Any]) -> dict[str, Any]:
    """What the manifest says of the judge; of a model only parameters that we could send."""
    recorded = manifest.get("judge")
    if not isinstance(recorded, dict):
        raise _Foreign("judge is no table")
    for name in ("template", "judge_id"):
        if not is_name(recorded.get(name)):
            raise _Foreign(f"judge: {name} = {shown(recorded.get(name))}; expected a name")
    try:
        model = checked_model(recorded.get("model"))
    except InputError as error:
        raise _Foreign(f"judge: {error}") from error
    parameters = recorded.get("parameters")
    if not isinstance(parameters, dict):
        raise _Foreign("judge: parameters is no table")
    wrong = wrong_parameter(parameters) if model != LEXICAL else None
    if wrong:
        raise _Foreign(f"judge, parameters: {wrong}")
    return recorded


def _reading(manifest: dict[str, Any]) -> tuple[Reading, int]:
    if manifest["format"] == 1:
        return Reading.SINGLE, 1
    found = manifest.get("reading")
    if not isinstance(found, dict):
        raise _Foreign(f"reading = {shown(found)}; expected a table of name and runs")
    name, runs = found.get("name"), found.get("runs")
    if not is_name(name):
        raise _Foreign(f"reading: name = {shown(name)}; expected one of {', '.join(Reading)}")
    if type(runs) is not int or not 1 <= runs <= MAX_RUNS:
        raise _Foreign(f"reading: runs = {shown(runs)}; expected 1 to {MAX_RUNS}")
    return parse_reading(name), runs


def _flip_rate(manifest: dict[str, Any]) -> float | None:
    rate = manifest.get("flip_rate")
    if rate is not None and not (type(rate) in (int, float) and 0 <= rate <= 1):
        raise _Foreign(f"flip_rate = {shown(rate)}; expected 0 to 1, or null")
    return rate


def _anchors(
    folder: Path, files: dict[str, bytes], rubric: Rubric, runs: int
) -> tuple[Anchor, ...]:
    """The anchors, each with one label of the rubric, or None, per run."""
    try:
        anchors = read_anchors(files.get(ANCHORS, b""))
        for anchor in anchors:
            unknown = set(anchor.labels) - {None, *rubric.category_ids}
            if unknown or len(anchor.labels) != runs:
                labels = shown(list(anchor.labels))
                raise InputError(
                    f"an anchor has the labels {labels}; expected {runs} of rubric "
                    f"{rubric.version} or null; export again: calibrate export"
                )
    except InputError as error:
        raise InputError(f"{folder / ANCHORS}: {error}") from error
    return anchors
