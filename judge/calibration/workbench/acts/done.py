"""What an act answers with."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from judge.calibration.workbench.place import Place


@dataclass(frozen=True)
class Done:
    """`goto` is where to go now, None for staying; the view is shown anew unless `quiet`.

    `fields` are those of the form that the act has changed.
    """

    message: str
    goto: Place | None = None
    quiet: bool = False
    fields: Mapping[str, str] = field(default_factory=dict)
