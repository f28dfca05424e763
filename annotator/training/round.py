"""Rounds of training: the whole set once, each in an order of its own."""

import json
from dataclasses import dataclass

from sqlite_utils import Database

from annotator.assignment.worklist import work_list
from annotator.labels import study_seed
from annotator.training.screen import RoundResult
from annotator.training.training_set import TrainingSet
from generation.clock import now
from rubrics import fingerprint, short


@dataclass(frozen=True)
class TrainingAnswer:
    """What somebody answered to an item in a round, and whether that was right then."""

    answer_id: int
    nonce: str
    annotator: str
    rubric_version: str
    round: int
    training_id: str
    category: str
    correct: bool
    answered_at: str


@dataclass(frozen=True)
class Round:
    """A round that was begun: its items in their order, and the answers given so far."""

    annotator: str
    rubric_version: str
    number: int
    training_ids: tuple[str, ...]
    needed: int
    answers: tuple[TrainingAnswer, ...]

    @property
    def complete(self) -> bool:
        return len(self.answers) == len(self.training_ids)

    @property
    def result(self) -> RoundResult | None:
        """The score; None as long as an item is without an answer."""
        if not self.complete:
            return None
        correct = sum(answer.correct for answer in self.answers)
        return RoundResult(self.number, correct, len(self.training_ids), self.needed)

    @property
    def passed(self) -> bool:
        return self.result is not None and self.result.passed

    @property
    def next_id(self) -> str:
        """The item to answer now, of a round that is not complete."""
        return self.training_ids[len(self.answers)]

    def nonce(self, seed: int, training_id: str) -> str:
        """The same whenever the item is shown in this round: two tabs cannot answer it twice."""
        shown = [seed, self.annotator, self.rubric_version, self.number, training_id]
        return short(fingerprint({"training display": shown}), 24)

    def fits(self, current: TrainingSet) -> bool:
        """Whether it was begun with the set and the pass mark that hold now."""
        return set(self.training_ids) == set(current.items) and self.needed == current.needed


def rounds_of(database: Database, annotator: str, rubric_version: str) -> list[Round]:
    """Every round that somebody began under a rubric version, oldest first."""
    return _rounds(database, "rubric_version = ? AND annotator = ?", [rubric_version, annotator])


def all_rounds(database: Database, rubric_version: str) -> list[Round]:
    """Everybody's rounds under a rubric version, by annotator, each one's oldest first."""
    return _rounds(database, "rubric_version = ?", [rubric_version])


def append_round(database: Database, annotator: str, current: TrainingSet, number: int) -> Round:
    """Begin a round in an order that is fixed by the study seed, the person and the round."""
    order = work_list(
        current.items, seed=study_seed(database), annotator=f"{annotator}\x1f{number}"
    )
    database["training_rounds"].insert(
        {
            "annotator": annotator,
            "rubric_version": current.rubric_version,
            "round": number,
            "training_ids": json.dumps(order),
            "needed": current.needed,
            "opened_at": now(),
        }
    )
    return Round(annotator, current.rubric_version, number, order, current.needed, ())


def append_answer(
    database: Database, begun: Round, nonce: str, category: str, *, correct: bool
) -> TrainingAnswer:
    """Store the answer to the item whose turn it is in this round."""
    row = {
        "nonce": nonce,
        "annotator": begun.annotator,
        "rubric_version": begun.rubric_version,
        "round": begun.number,
        "training_id": begun.next_id,
        "category": category,
        "correct": correct,
        "answered_at": now(),
    }
    answer_id = int(database["training_answers"].insert(row).last_pk)
    return TrainingAnswer(answer_id=answer_id, **row)


def stored_answer(database: Database, annotator: str, nonce: str) -> TrainingAnswer | None:
    """What this person answered to the display with this nonce."""
    where = "nonce = ? AND annotator = ?"
    return next(iter(_answers(database, where, [nonce, annotator])), None)


def _rounds(database: Database, where: str, parameters: list[str]) -> list[Round]:
    answers: dict[tuple[str, int], list[TrainingAnswer]] = {}
    for answer in _answers(database, where, parameters):
        answers.setdefault((answer.annotator, answer.round), []).append(answer)
    rows = database["training_rounds"].rows_where(where, parameters, order_by="annotator, round")
    return [
        Round(
            row["annotator"],
            row["rubric_version"],
            row["round"],
            tuple(json.loads(row["training_ids"])),
            row["needed"],
            tuple(answers.get((row["annotator"], row["round"]), ())),
        )
        for row in rows
    ]


def _answers(database: Database, where: str, parameters: list[str]) -> list[TrainingAnswer]:
    rows = database["training_answers"].rows_where(where, parameters, order_by="answer_id")
    return [TrainingAnswer(**{**row, "correct": bool(row["correct"])}) for row in rows]
