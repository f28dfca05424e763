"""What an export is: its format, how many turns it holds, and those that are never written."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from generation.canary import has_canary
from generation.turn import Turn


class Format(StrEnum):
    """What an export can be; each can be imported again."""

    JSONL = "jsonl"
    PARQUET = "parquet"
    HF = "hf"
    OPENAI = "openai"
    TRL = "trl"

    @property
    def keeps_all(self) -> bool:
        """Whether all that is known of a turn is in it, and not messages alone."""
        return self not in (Format.OPENAI, Format.TRL)


@dataclass
class Exported:
    """What was written: turns by data set, setting and model; flags; and what was left out.

    `left_out_canary` counts, by data set, the turns that must not be published.
    """

    path: Path
    format: Format
    origins: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    flagged: Counter[str] = field(default_factory=Counter)
    left_out_canary: Counter[str] = field(default_factory=Counter)

    @property
    def written(self) -> int:
        return self.origins.total()

    def counted(self, turns: Iterable[Turn]) -> Iterator[Turn]:
        """Those of the turns that may be written, each counted."""
        for turn in turns:
            conversation = turn.answer.conversation
            if has_canary(conversation):
                self.left_out_canary[conversation.dataset] += 1
                continue
            self.origins[conversation.dataset, turn.setting, turn.model or "not named"] += 1
            self.flagged.update(turn.flags)
            yield turn

    def as_dict(self) -> dict[str, Any]:
        return {
            "path": str(self.path),
            "format": str(self.format),
            "written": self.written,
            "flagged": dict(sorted(self.flagged.items())),
            "left_out_canary": dict(sorted(self.left_out_canary.items())),
        }
