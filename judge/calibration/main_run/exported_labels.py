"""The calibration that an export carries: for a run whose own study has no labels."""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotator.measures.confusion import INVALID, Confusion
from annotator.measures.double_sample import Labelled
from annotator.reference import unnamed
from judge.calibration.main_run.judge_quality import JudgeQuality, KappaFound
from judge.exported import CALIBRATION, Export
from rubrics import InputError


@dataclass(frozen=True)
class ExportedLabels:
    """What an export tells of its judge. `labelled` are its items, each standing for one."""

    quality: JudgeQuality
    labelled: Labelled
    rule: str


def exported_labels(export: Export, *, first_conversation: int) -> ExportedLabels:
    """Of a verified export; its conversations are numbered from `first_conversation` on.

    Raises InputError where the calibration in it is not as `calibrate export` writes it.
    """
    path = export.folder / CALIBRATION
    try:
        return _read(export, json.loads(path.read_bytes()), first_conversation)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise InputError(
            f"{path} is no calibration as we write it ({error!r}); export again: calibrate export"
        ) from error


def _read(export: Export, told: dict[str, Any], first: int) -> ExportedLabels:
    names = {name: k for k, name in enumerate((*export.rubric.category_ids, INVALID))}
    pairs = told["pairs"]
    if not pairs:
        raise ValueError("no pairs")
    judged = np.zeros((len(pairs), len(names)))
    for row, pair in enumerate(pairs):
        said = [of["judge"] for of in pair["runs"]] if "runs" in pair else [pair["judge"]]
        for outcome in said:
            judged[row, names[outcome]] += 1 / len(said)
    _, conversations = np.unique([pair["conversation"] for pair in pairs], return_inverse=True)
    labels = told["confusion"]["labels"]
    source = f"export {export.folder.name}"
    return ExportedLabels(
        JudgeQuality(
            _kappa(told["kappa"]["labels"]),
            _kappa(told["kappa"]["sigma"]),
            source,
            Confusion(
                tuple(labels["rows"]),
                tuple(labels["columns"][len(labels["rows"]) :]),
                tuple(map(tuple, labels["counts"])),
            ),
        ),
        Labelled(
            np.array([names[pair["reference"]] for pair in pairs], dtype=np.int64),
            judged,
            np.ones(len(pairs)),
            conversations.reshape(-1).astype(np.int64) + first,
        ),
        f"{unnamed(told['reference']['rule'])} of {source}",
    )


def _kappa(told: dict[str, Any]) -> KappaFound:
    interval = told["interval"]
    return KappaFound(
        told["kappa"], interval["low"], interval["high"], told["n"], told.get("undefined")
    )
