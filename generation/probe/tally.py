"""What became of the rows of a stage, and of a whole run."""

from dataclasses import asdict, dataclass, field


@dataclass
class Tally:
    """Rows of one act. `planned` are all; `waiting` are turns whose answer is missing or unusable.

    `failed_before` failed in an earlier call and were left; they are tried again on request.
    """

    planned: int = 0
    new: int = 0
    known: int = 0
    failed: int = 0
    failed_before: int = 0
    waiting: int = 0
    output_tokens: int = 0
    seconds: float = 0.0

    def add(self, other: "Tally") -> None:
        for name, value in asdict(other).items():
            setattr(self, name, getattr(self, name) + value)


@dataclass
class ModelTally:
    """A model's run: its answers, those of them that no turn can follow by reason, its turns."""

    model: str
    run_id: str
    answers: Tally = field(default_factory=Tally)
    turns: Tally = field(default_factory=Tally)
    unusable: dict[str, int] = field(default_factory=dict)
