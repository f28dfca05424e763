"""How training goes: who has passed, in which round, and which items people get wrong."""

from collections import Counter
from dataclasses import dataclass

from sqlite_utils import Database

from annotator.training.round import Round, all_rounds
from annotator.training.training_set import TrainingItem, TrainingSet, training_set


@dataclass(frozen=True)
class TraineeRecord:
    """One person's rounds, oldest first; none yet is a person who has not begun."""

    annotator: str
    rounds: tuple[Round, ...]

    @property
    def passed(self) -> Round | None:
        """The round that was passed, if one was."""
        return next((begun for begun in self.rounds if begun.passed), None)


@dataclass(frozen=True)
class ItemRecord:
    """An item in use, and how many of its answers, in all rounds, were wrong."""

    training_id: str
    known: TrainingItem
    answered: int
    wrong: int


@dataclass(frozen=True)
class TrainingRecord:
    """All of it under one rubric version; `current` is None where training is off."""

    rubric_version: str
    current: TrainingSet | None
    trainees: tuple[TraineeRecord, ...]
    items: tuple[ItemRecord, ...]


def training_record(database: Database, rubric_version: str) -> TrainingRecord:
    """The record: people by name, the items in use with the most errors first."""
    current = training_set(database, rubric_version)
    rounds: dict[str, list[Round]] = {name: [] for name in _annotators(database)}
    for begun in all_rounds(database, rubric_version):
        rounds.setdefault(begun.annotator, []).append(begun)
    answers = [answer for theirs in rounds.values() for begun in theirs for answer in begun.answers]
    answered = Counter(answer.training_id for answer in answers)
    wrong = Counter(answer.training_id for answer in answers if not answer.correct)
    items = [
        ItemRecord(training_id, known, answered[training_id], wrong[training_id])
        for training_id, known in (current.items if current else {}).items()
    ]
    return TrainingRecord(
        rubric_version,
        current,
        tuple(TraineeRecord(name, tuple(theirs)) for name, theirs in sorted(rounds.items())),
        tuple(sorted(items, key=lambda item: (-item.wrong, item.answered, item.training_id))),
    )


def _annotators(database: Database) -> list[str]:
    """Everybody who labels: with an account of that role that is in use, or without any."""
    rows = database.conn.execute(
        """SELECT annotator FROM annotators LEFT JOIN accounts ON accounts.name = annotator
           WHERE coalesce(role, 'annotator') = 'annotator' AND disabled_at IS NULL"""
    )
    return [row[0] for row in rows]
