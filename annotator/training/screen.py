"""What the labelling page shows in training: an item, and of an answered one what was right."""

from dataclasses import dataclass

from generation.item import Item


@dataclass(frozen=True)
class TrainingScreen:
    """One item to train on; nothing here says what its right answer is.

    `position` counts from 1 in this round. `needed` right answers of `total` pass it.
    """

    annotator: str
    rubric_version: str
    round: int
    position: int
    total: int
    needed: int
    training_id: str
    item: Item
    nonce: str


@dataclass(frozen=True)
class Feedback:
    """What was answered, by category id, and what is right and why."""

    training_id: str
    given: str
    correct: bool
    expected: str
    why: str


@dataclass(frozen=True)
class RoundResult:
    """The score of a whole round."""

    round: int
    correct: int
    total: int
    needed: int

    @property
    def passed(self) -> bool:
        return self.correct >= self.needed


@dataclass(frozen=True)
class TrainingReply:
    """The answer to an answer. A refused one stored nothing; `message` says why and what to do.

    `result` comes with the last answer of a round. `screen` is the next item, of the same round or
    of a new one; None once training is passed, or no longer asked for.
    """

    message: str
    refused: bool = False
    feedback: Feedback | None = None
    result: RoundResult | None = None
    screen: TrainingScreen | None = None
