"""judges.toml: several judges, run one after the other over the same items."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from generation.toml_file import read_toml, shortened
from judge.config import JudgeConfig, checked
from judge.judge import LEXICAL
from rubrics import InputError

_EXPECTED = '[[judge]] tables with model = "NAME"'


def read_judges(path: Path) -> tuple[JudgeConfig, ...]:
    """The judges of a judges.toml, one per [[judge]] table, in their order.

    The lexical baseline is the model "lexical". A judge with a base_url of its own and no
    api_key_env is sent no key.

    Raises InputError that names the file, the judge and the entry that is wrong.
    """
    document = read_toml(path, _EXPECTED)
    tables = document.get("judge")
    others = [name for name in document if name != "judge"]
    if others or not isinstance(tables, list) or not tables:
        found = ", ".join(others) or "no [[judge]]"
        raise InputError(f"{path}: found {shortened(found)}; expected {_EXPECTED}")
    return tuple(_config(table, f"{path}, judge {n}") for n, table in enumerate(tables, 1))


def _config(table: Any, where: str) -> JudgeConfig:
    known = [field.name for field in fields(JudgeConfig) if field.name != "source"]
    if not isinstance(table, dict):
        raise InputError(f"{where}: found {type(table).__name__}; expected a table")
    unknown = [name for name in table if name not in known]
    if unknown:
        hint = "; a key stays out of files, name its variable: api_key_env" * any(
            "key" in name for name in unknown
        )
        raise InputError(
            f"{where}: unknown {shortened(', '.join(unknown))}; expected {', '.join(known)}{hint}"
        )
    if not table:
        raise InputError(f'{where}: found an empty table; expected model = "NAME"')
    if table.get("model") == LEXICAL and table.keys() <= {"model", "rubric"}:
        return checked(JudgeConfig(rubric=table.get("rubric"), source=where), where)
    config = checked(replace(JudgeConfig(source=where), **table), where)
    if config.base_url and config.api_key_env is None:
        # The key in OPENAI_API_KEY is not for whichever other server a file may name.
        return replace(config, api_key_env="")
    return config
