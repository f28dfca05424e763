"""What a view shows: a template with its values, and the command that does the same."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class View:
    """`commands` are ready to copy. `poll` is in how many seconds to look again, 0 for not."""

    template: str
    title: str
    values: dict[str, Any]
    commands: tuple[str, ...] = ()
    poll: float = 0
