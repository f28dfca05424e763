"""Plans as TOML: read strictly, written so that they read back equal."""

import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, asdict, fields
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

from generation.plan.plan import AnswerPlan, DatasetPlan, ModelPlan, Plan, Sweep
from generation.toml_file import parse_toml, read_toml, shown
from rubrics import InputError, canonical_json

EXPECTED = "a plan: models, data sets and sweeps (generate plan … > plan.toml writes one)"
PACKAGED = "generation.plan"  # its folder has the plans that come with the tool
Record = TypeVar("Record", ModelPlan, DatasetPlan, AnswerPlan, Sweep)


def read_plan(path: Path) -> Plan:
    """The plan of a file, or the packaged one of that name such as paper.toml.

    Raises InputError naming what is unknown, missing or of another kind than expected.
    """
    packaged = resources.files(PACKAGED) / path.name
    if not path.exists() and path.parent == Path() and packaged.is_file():
        return plan_from(parse_toml(packaged.read_bytes(), path.name, EXPECTED), path.name)
    return plan_from(read_toml(path, EXPECTED), str(path))


def plan_from(tables: Mapping[str, Any], where: str) -> Plan:
    """The plan that these TOML tables write; `where` names them in a refusal."""
    lists = {"models": ModelPlan, "datasets": DatasetPlan, "sweeps": Sweep}
    plain = {key: value for key, value in tables.items() if key not in (*lists, "answers")}
    values = _values(Plan, plain, where, left_out=(*lists, "answers"))
    for key, kind in lists.items():
        rows = tables.get(key, [])
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise InputError(f"{where}: {key} is {shown(rows)}; expected tables: [[{key}]]")
        values[key] = tuple(
            _record(kind, row, f"{where}, {key} {number}") for number, row in enumerate(rows, 1)
        )
    answers = tables.get("answers", {})
    if not isinstance(answers, dict):
        raise InputError(f"{where}: answers is {shown(answers)}; expected a table: [answers]")
    values["answers"] = _record(AnswerPlan, answers, f"{where}, answers")
    return Plan(**values)


def plan_text(plan: Plan) -> str:
    """The plan as TOML; `plan_from` gives an equal one back."""
    import tomli_w

    return tomli_w.dumps(_without_none(asdict(plan)))


def _without_none(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_none(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list | tuple):
        return [_without_none(inner) for inner in value]
    return value


def _record(kind: type[Record], row: Mapping[str, Any], where: str) -> Record:
    if (
        kind in (ModelPlan, DatasetPlan)
        and "name" not in row
        and isinstance(row.get("source"), str)
    ):
        row = {**row, "name": Path(row["source"]).name}
    return kind(**_values(kind, row, where))


def _values(
    kind: type, row: Mapping[str, Any], where: str, left_out: tuple[str, ...] = ()
) -> dict[str, Any]:
    known = {field.name: field for field in fields(kind) if field.name not in left_out}
    for key in row:
        if key not in known:
            raise InputError(f"{where}: {key[:60]!r} is unknown; expected {', '.join(known)}")
    for name, field in known.items():
        if name not in row and field.default is MISSING and field.default_factory is MISSING:
            raise InputError(f"{where}: no {name!r}; expected {', '.join(known)}")
    return {key: _typed(value, known[key].type, f"{where}, {key}") for key, value in row.items()}


def _typed(value: Any, annotation: Any, where: str) -> Any:
    text = annotation if isinstance(annotation, str) else _annotation(annotation)
    if text.startswith("tuple["):
        if not isinstance(value, list):
            raise InputError(f"{where} is {shown(value)}; expected a list: [{shown(value)}]")
        return tuple(_plain(inner, text[6:].split(",")[0], where) for inner in value)
    return _plain(value, text.split(" | ")[0], where)


def _annotation(annotation: Any) -> str:
    return (
        annotation.__name__
        if isinstance(annotation, type) and not hasattr(annotation, "__args__")
        else str(annotation).replace("typing.", "").replace("collections.abc.", "")
    )


def _plain(value: Any, kind: str, where: str) -> Any:
    expected, is_kind = _KINDS[kind.partition("[")[0]]
    if not is_kind(value):
        raise InputError(f"{where} is {shown(value)}; expected {expected}")
    return value


def _json(value: Any) -> bool:
    try:
        canonical_json(value)
    except (TypeError, ValueError):  # a date, an infinity
        return False
    return True


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


_KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "str": ("text", lambda value: isinstance(value, str) and value != ""),
    "int": ("a whole number", lambda value: isinstance(value, int) and not isinstance(value, bool)),
    "float": ("a number", _is_number),
    "Mapping": (
        "a table of JSON values",
        lambda value: isinstance(value, dict) and _json(value),
    ),
}
