"""What a report knows of a model besides its name: its family, its size, which checkpoint it is."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from generation.toml_file import read_toml
from rubrics import InputError

BASE, SFT, RL = "base", "SFT", "RL"
STAGES = (BASE, SFT, RL)  # of post-training, in order
_SIZE = re.compile(r"(?P<number>[0-9]{1,6}(?:\.[0-9]+)?)(?P<unit>[bm])", re.IGNORECASE)
_ACTIVE = re.compile(r"a[0-9]+(?:\.[0-9]+)?b", re.IGNORECASE)  # of a mixture, such as A17B
_UNITS = {"b": 1e9, "m": 1e6}
_KEYS = {"name", "family", "parameters", "checkpoint_of", "stage"}
_EXAMPLE = '[[models]] with name = "…" and family, parameters, checkpoint_of or stage'


@dataclass(frozen=True)
class ModelFacts:
    """`parameters` in all (of a mixture not the active ones); None where no name says it.

    `checkpoint_of` names what base, SFT and RL checkpoints have in common, `stage` which it is.
    """

    name: str
    family: str
    parameters: float | None = None
    checkpoint_of: str | None = None
    stage: str | None = None


def facts_from_name(name: str) -> ModelFacts:
    """Family and size as far as a name tells them; of "8x7B" it does not tell the sum.

    >>> facts_from_name("Qwen/Qwen3.5-397B-A17B")
    ModelFacts(name='Qwen/Qwen3.5-397B-A17B', family='Qwen3.5', parameters=397000000000.0, \
checkpoint_of=None, stage=None)
    >>> [facts_from_name(n).family for n in ("gpt-oss-20b", "GLM-4.7", "Llama-3-8B-Instruct")]
    ['gpt-oss', 'GLM-4.7', 'Llama-3-Instruct']
    """
    family, parameters = [], None
    for part in name.rstrip("/").rpartition("/")[2].split("-"):
        size = _SIZE.fullmatch(part)
        if size and float(size["number"]) and parameters is None:
            parameters = float(size["number"]) * _UNITS[size["unit"].lower()]
        elif parameters is None or not _ACTIVE.fullmatch(part):
            family.append(part)
    return ModelFacts(name, "-".join(family) or name, parameters)


def models_file(path: Path) -> dict[str, ModelFacts]:
    """Facts by name of model, as a file tells them; the name says what the file does not.

    Raises InputError for a file that is none, a key or a stage that is unknown, a name given twice.
    """
    told = read_toml(path, _EXAMPLE)
    rows = told.get("models")
    if not isinstance(rows, list) or not rows:
        raise InputError(f"{path}: no [[models]]; expected {_EXAMPLE}")
    if unknown := sorted(told.keys() - {"models"}):
        raise InputError(f"{path}: unknown key {unknown[0]!r}; expected {_EXAMPLE}")
    facts: dict[str, ModelFacts] = {}
    for row in rows:
        made = _facts(row, path)
        if made.name in facts:
            raise InputError(f"{path}: model {made.name!r} is named twice; once is enough")
        facts[made.name] = made
    return facts


def facts_of(names: Iterable[str], told: Mapping[str, ModelFacts]) -> dict[str, ModelFacts]:
    """The facts of these models, in order of family, size and name."""
    found = [told.get(name) or facts_from_name(name) for name in set(names)]
    found.sort(key=lambda of: (of.family.lower(), of.parameters or 0.0, of.name))
    return {of.name: of for of in found}


def _facts(row: Any, path: Path) -> ModelFacts:
    if not isinstance(row, dict) or not isinstance(row.get("name"), str) or not row["name"]:
        raise InputError(f"{path}: a model without a name; expected {_EXAMPLE}")
    name = row["name"]
    unknown = sorted(row.keys() - _KEYS)
    if unknown:
        raise InputError(f"{path}: model {name!r}: unknown key {unknown[0]!r}; expected {_EXAMPLE}")
    by_name = facts_from_name(name)
    family, parameters = row.get("family", by_name.family), row.get("parameters")
    parameters = by_name.parameters if parameters is None else parameters
    of, stage = row.get("checkpoint_of"), row.get("stage")
    if stage is not None and stage not in STAGES:
        raise InputError(
            f"{path}: model {name!r}: stage {stage!r}; expected one of {', '.join(STAGES)}"
        )
    if (of is None) != (stage is None):
        raise InputError(f"{path}: model {name!r}: checkpoint_of and stage go together")
    words = [value for value in (family, of) if value is not None]
    if not all(isinstance(word, str) and word for word in words):
        raise InputError(f"{path}: model {name!r}: family and checkpoint_of are names, as text")
    if parameters is not None and (
        isinstance(parameters, bool)
        or not isinstance(parameters, int | float)
        or not 0 < parameters < 1e18
    ):
        raise InputError(
            f"{path}: model {name!r}: parameters = {parameters!r}; expected their number, as 8e9"
        )
    return ModelFacts(name, family, None if parameters is None else float(parameters), of, stage)
