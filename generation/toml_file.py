"""TOML that people write or send: read whole, or refused in one line."""

import tomllib
from pathlib import Path
from typing import Any

from rubrics import InputError

MAX_BYTES = 1_000_000
MAX_DEPTH = 16  # of tables and lists in each other
MAX_WHOLE = 2**63 - 1  # TOML's own limit; within it every number is a float, and can be shown
SHOWN = 80  # characters of a value, where a message names it


def read_toml(path: Path, expected: str) -> dict[str, Any]:
    """The tables of a file; `expected` says in a refusal what belongs there.

    Raises InputError where it cannot be read, is no TOML or is more than people write.
    """
    from generation.database import readable_refusals  # sqlite_utils is slow to import

    with readable_refusals(path), path.open("rb") as file:
        content = file.read(MAX_BYTES + 1)
    return parse_toml(content, str(path), expected)


def parse_toml(content: bytes, source: str, expected: str) -> dict[str, Any]:
    """The tables of a file's content; `source` names the file. Raises InputError as read_toml."""
    if len(content) > MAX_BYTES:
        raise InputError(f"{source} has more than {MAX_BYTES:,} bytes; expected {expected}")
    try:
        tables = tomllib.loads(content.decode())
        fault = _fault(tables)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(
            f"{source} is no TOML: {shortened(str(error))}; expected {expected}"
        ) from error
    except ValueError:  # Python reads no decimal number of more than 4,300 digits
        fault = "a number of too many digits"
    except RecursionError:
        fault = "lists or tables nested too deep"
    if fault:
        raise InputError(f"{source} holds {fault}; expected {expected}")
    return tables


def shown(value: object) -> str:
    """A value's repr, short enough for a message.

    >>> shown("x" * 100) == "'" + 79 * "x" + " …"
    True
    """
    try:
        return shortened(repr(value))
    except (ValueError, RecursionError):  # too many digits, or nested too deep
        return f"a {type(value).__name__} too large to show"


def shortened(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]} …"


def _fault(tables: dict[str, Any]) -> str | None:
    """What is too large in these tables, if anything."""
    level: list[Any] = [tables]
    for _depth in range(MAX_DEPTH):
        if any(type(value) is int and abs(value) > MAX_WHOLE for value in level):
            return "a number of too many digits"
        level = [inner for value in level for inner in _inside(value)]
    return "lists or tables nested too deep" if level else None


def _inside(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
