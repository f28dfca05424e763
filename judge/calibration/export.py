"""Export of a calibrated judge prompt: a folder that the main run can use and anyone can check."""

import json
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from generation.canary import canary_items
from generation.database import readable_refusals
from judge.anchors import Anchor, anchor_lines
from judge.calibration.anchor_choice import choose_anchors
from judge.calibration.calibration import Calibration
from judge.calibration.leak import refuse_canary
from judge.exported import (
    ANCHORS,
    CALIBRATION,
    FORMAT,
    MANIFEST,
    PROMPT,
    RUBRIC,
    export_hash,
    file_json,
)
from judge.judge import Judge
from judge.plural import counted
from judge.prompts.prompt import JudgePrompt
from judge.store import JudgmentStore
from rubrics import InputError, bytes_fingerprint, short

LEXICAL_NOTE = (
    "The calibration belongs to the lexical baseline, which reads no prompt. It says nothing "
    "about a model that is given prompt.md."
)


@dataclass(frozen=True)
class Exported:
    """The folder of an export; `new` is False where it held the same export already.

    `left_out_canary` is how many compared items could be no anchors: never to be published.
    """

    folder: Path
    new: bool
    left_out_canary: int

    @property
    def remark(self) -> str | None:
        """What is left out, in one line; None where nothing is."""
        if not self.left_out_canary:
            return None
        return (
            f"{counted(self.left_out_canary, 'compared item')} left out of the anchors, as their "
            "data sets ask never to be published (canary)"
        )


def export_calibration(pipeline_db: Database, calibration: Calibration, output: Path) -> Exported:
    """Write `output/<rubric>-<judge>-<hash>/` and record it.

    The same calibration gives the same bytes, so that exporting again changes nothing.

    Raises InputError when no item was compared, the judge is unknown, its prompt quotes what is
    never to be published, the folder exists with other content or cannot be written; nothing
    half-written stays behind.
    """
    if not calibration.n:
        raise InputError("no item is compared, so nothing is calibrated; label more: annotate")
    store = JudgmentStore(pipeline_db)
    judge = store.judge(calibration.judge_id)
    prompt = store.prompt(judge.prompt_hash)
    refuse_canary(pipeline_db, prompt)
    result, canary = calibration.as_dict(), canary_items(pipeline_db)
    pairs = [pair for pair in calibration.pairing.pairs if pair.item.hash not in canary]
    left_out = len(calibration.pairing.pairs) - len(pairs)
    files = _files(judge, prompt, calibration, result, choose_anchors(pairs), left_out)
    digest = json.loads(files[MANIFEST])["export_hash"]
    folder = output / f"{_safe(judge.rubric_version)}-{_safe(judge.model)}-{short(digest)}"
    with readable_refusals(output):
        output.mkdir(parents=True, exist_ok=True)
        new = not folder.exists()
        if new:
            _write(folder, files)
        else:
            _check_same(folder, files)
    store.add_export(digest, folder, calibration.judge_id, result)
    return Exported(folder, new, left_out)


def _files(
    judge: Judge,
    prompt: JudgePrompt,
    calibration: Calibration,
    result: dict[str, Any],
    anchors: tuple[Anchor, ...],
    left_out_canary: int,
) -> dict[str, bytes]:
    content = {
        ANCHORS: anchor_lines(anchors),
        PROMPT: prompt.text.encode(),
        RUBRIC: prompt.rubric_text.encode(),
        CALIBRATION: file_json(result),
    }
    manifest = {
        "format": FORMAT,
        "files": {name: bytes_fingerprint(data) for name, data in content.items()},
        "reads_prompt": judge.reads_prompt,
        "reading": {"name": str(calibration.reading), "runs": calibration.runs},
        "flip_rate": calibration.flips.pairwise,
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
    if not judge.reads_prompt:
        manifest["note"] = LEXICAL_NOTE
    if left_out_canary:
        manifest["left_out_canary"] = left_out_canary
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
