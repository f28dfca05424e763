"""Training as a state machine, free of any page: all of its state is in labels.db.

A round keeps the set and the pass mark that it was begun with. Where its owner has changed one of
them, a round that is not complete is left as it is and a new one begins.
"""

from sqlite_utils import Database

from annotator.labels import study_seed
from annotator.training.round import (
    Round,
    TrainingAnswer,
    append_answer,
    append_round,
    rounds_of,
    stored_answer,
)
from annotator.training.screen import Feedback, TrainingReply, TrainingScreen
from annotator.training.training_set import is_training_on, training_item, training_set
from generation.database import immediate
from rubrics import Rubric

OUT_OF_TURN = "Not taken: that item is not the one to answer now."


def required(database: Database, rubric: Rubric, annotator: str) -> bool:
    """Whether this person has to train before they label under this rubric version.

    Nobody has to where training is off or the version has no training set, and nobody twice.
    """
    if not is_training_on(database, rubric.version):
        return False
    return not any(begun.passed for begun in rounds_of(database, annotator, rubric.version))


class TrainingSession:
    """Everybody's training under one rubric; the caller serialises the calls.

    `annotator` is the name as it is stored, of somebody who is in table annotators.
    """

    def __init__(self, database: Database, rubric: Rubric) -> None:
        self._db = database
        self._rubric = rubric

    def open(self, annotator: str) -> TrainingScreen | None:
        """The item where this person left off; None when there is nothing to train."""
        with immediate(self._db):
            return self._screen(annotator)

    def answer(
        self, annotator: str, nonce: str, training_id: str, category: str | None
    ) -> TrainingReply:
        """Store what was answered to the item on screen; says what is right, and what comes next.

        An answer that is sent again is answered as it was, and counts once.
        """
        with immediate(self._db):
            stored = stored_answer(self._db, annotator, nonce)
            if stored is None:
                begun = self._round(annotator)
                if refusal := self._refusal(begun, nonce, training_id, category):
                    return self._refused(refusal, annotator)
                expected = training_item(self._db, training_id).category
                stored = append_answer(
                    self._db, begun, nonce, category, correct=category == expected
                )
            elif stored.training_id != training_id:
                return self._refused(OUT_OF_TURN, annotator)
            return self._reply(stored, category)

    def _refusal(
        self, begun: Round | None, nonce: str, training_id: str, category: str | None
    ) -> str | None:
        if begun is None:
            return "There is nothing to train on any more."
        if training_id != begun.next_id or nonce != self._nonce(begun):
            return OUT_OF_TURN
        if category is None:
            return "Choose a category first."
        if category not in self._rubric.category_ids:
            return f"Not taken: rubric {self._rubric.version} has no category {category!r:.80}."
        return None

    def _refused(self, message: str, annotator: str) -> TrainingReply:
        return TrainingReply(message, refused=True, screen=self._screen(annotator))

    def _reply(self, stored: TrainingAnswer, category: str | None) -> TrainingReply:
        known = training_item(self._db, stored.training_id)
        rounds = rounds_of(self._db, stored.annotator, stored.rubric_version)
        (its_round,) = (begun for begun in rounds if begun.number == stored.round)
        ended = its_round.complete and its_round.answers[-1] == stored
        return TrainingReply(
            "" if category == stored.category else "You had answered this; that answer counts.",
            feedback=Feedback(
                stored.training_id, stored.category, stored.correct, known.category, known.why
            ),
            result=its_round.result if ended else None,
            screen=self._screen(stored.annotator),
        )

    def _screen(self, annotator: str) -> TrainingScreen | None:
        begun = self._round(annotator)
        if begun is None:
            return None
        return TrainingScreen(
            annotator=annotator,
            rubric_version=begun.rubric_version,
            round=begun.number,
            position=len(begun.answers) + 1,
            total=len(begun.training_ids),
            needed=begun.needed,
            training_id=begun.next_id,
            item=training_item(self._db, begun.next_id).item,
            nonce=self._nonce(begun),
        )

    def _nonce(self, begun: Round) -> str:
        return begun.nonce(study_seed(self._db), begun.next_id)

    def _round(self, annotator: str) -> Round | None:
        """The round that this person is in, begun now if there is none; None if nothing is asked.

        Within a transaction: two tabs would else begin one each.
        """
        current = training_set(self._db, self._rubric.version)
        rounds = rounds_of(self._db, annotator, self._rubric.version)
        if current is None or any(begun.passed for begun in rounds):
            return None
        if rounds and not rounds[-1].complete and rounds[-1].fits(current):
            return rounds[-1]
        return append_round(self._db, annotator, current, len(rounds) + 1)
