"""What a view shows: a template with its values, and the command that does the same."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class View:
    """`commands` are ready to copy."""

    template: str
    title: str
    values: dict[str, Any]
    commands: tuple[str, ...] = ()
