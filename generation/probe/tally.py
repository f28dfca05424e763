"""What became of the rows of a stage, and of a whole run."""

from dataclasses import asdict, dataclass, field


@dataclass
class Tally:
    """Rows of one act: `planned` = new + known + failed + failed_before + waiting + unusable.

    `failed_before` failed in an earlier call and were left; they are tried again on request.
    Turns are `waiting` where their answer is not there, `unusable` where none can follow it.
    """

    planned: int = 0
    new: int = 0
    known: int = 0
    failed: int = 0
    failed_before: int = 0
    waiting: int = 0
    unusable: int = 0
    output_tokens: int = 0
    seconds: float = 0.0

    def add(self, other: "Tally") -> None:
        for name, value in asdict(other).items():
            setattr(self, name, getattr(self, name) + value)


@dataclass
class ModelTally:
    """A model's run: its answers and its turns.

    `unusable` counts by reason the turns whose answer none can follow; `ended` the conversations
    that did not come to their last user turn, for one before it is missing or says nothing.
    """

    model: str
    run_id: str
    answers: Tally = field(default_factory=Tally)
    turns: Tally = field(default_factory=Tally)
    unusable: dict[str, int] = field(default_factory=dict)
    ended: int = 0
