"""judges.toml: several judges, run one after the other over the same items."""

import tomllib
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from generation.database import readable_refusals
from judge.config import JudgeConfig, checked
from rubrics import InputError


def read_judges(path: Path) -> tuple[JudgeConfig, ...]:
    """The judges of a judges.toml, one per [[judge]] table, in their order.

    Raises InputError that names the file, the judge and the entry that is wrong.
    """
    with readable_refusals(path):
        content = path.read_bytes()
    try:
        document = tomllib.loads(content.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is no TOML: {error}") from error
    tables = document.get("judge")
    others = [name for name in document if name != "judge"]
    if others or not isinstance(tables, list) or not tables:
        found = ", ".join(others) or "no [[judge]]"
        raise InputError(f'{path}: found {found}; expected [[judge]] tables with model = "NAME"')
    return tuple(_config(table, f"{path}, judge {n}") for n, table in enumerate(tables, 1))


def _config(table: Any, where: str) -> JudgeConfig:
    known = [field.name for field in fields(JudgeConfig)]
    if not isinstance(table, dict):
        raise InputError(f"{where}: found {table!r}; expected a table")
    unknown = [name for name in table if name not in known]
    if unknown:
        hint = "; a key stays out of files, name its variable: api_key_env" * any(
            "key" in name for name in unknown
        )
        raise InputError(
            f"{where}: unknown {', '.join(unknown)}; expected {', '.join(known)}{hint}"
        )
    return checked(replace(JudgeConfig(), **table), where)
