"""The acts that the labelling page may ask for: JSON in, JSON out, one at a time."""

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sqlite_utils import Database

from annotator.accounts.person import Role, current_person
from annotator.accounts.refusal import RefusalLog
from annotator.blindness.sent import SentFields
from annotator.labelling.form import Form, form_from
from annotator.labelling.screen import OUT_OF_DATE, Reply
from annotator.labelling.session import LabellingSession
from annotator.labelling.view import reply_view, training_view
from annotator.served_labels import MOVED, STORE_REFUSES, Moved, ServedLabels
from annotator.training.screen import TrainingReply
from annotator.training.session import TrainingSession, required
from generation.clock import now
from rubrics import InputError, Rubric

NOT_YOURS = Reply(
    "Not saved: this page belongs to somebody else's login. Reload it.", refused=True, suspect=True
)
Answer = Callable[[Database, Form], Reply | TrainingReply]


class Desk:
    """The acts over one served labels.db. Who labels is the person logged in, where `accounts` says
    that people log in; else `annotator`, or without one whoever the page says.

    Gradio calls acts from many threads. One connection behind a lock had fewer slow saves than a
    connection per thread waiting for SQLite's own lock.
    """

    def __init__(
        self,
        store: ServedLabels,
        rubric: Rubric,
        refusals: RefusalLog,
        *,
        annotator: str | None = None,
        accounts: bool = False,
    ) -> None:
        self._store = store
        self._annotator = annotator
        self._accounts = accounts
        with store.use() as database:
            self._session = LabellingSession(database, rubric)
            self._session.prepare()
            self._sent = SentFields(database)
        self._refusals = refusals

    def close(self) -> None:
        self._store.close()

    def open_screen(self, data: Any) -> dict[str, Any]:
        """Where the annotator left off, in training or in the study."""

        def opened(database: Database, form: Form) -> Reply | TrainingReply:
            name = self._session.admit(form.annotator)
            if required(database, self._session.rubric, name):
                return TrainingReply("", screen=self._training(database).open(name))
            return self._session.open(name)

        return self._answer("open_screen", data, opened)

    def answer_training(self, data: Any) -> dict[str, Any]:
        """Say what is right of a training item, and bring the next."""

        def answered(database: Database, form: Form) -> TrainingReply:
            name = self._session.admit(form.annotator)
            category = form.choice.category
            return self._training(database).answer(name, form.nonce, form.item_id, category)

        return self._answer("answer_training", data, answered)

    def save_label(self, data: Any) -> dict[str, Any]:
        """Store the label of the displayed item and show the next."""
        return self._answer(
            "save_label",
            data,
            lambda _, form: self._session.save(
                form.nonce, form.item_id, form.choice, form.activity
            ),
        )

    def skip_item(self, data: Any) -> dict[str, Any]:
        """Store that the displayed item was skipped and show the next."""
        return self._answer(
            "skip_item",
            data,
            lambda _, form: self._session.skip(
                form.nonce, form.item_id, form.reason, form.choice, form.activity
            ),
        )

    def keep_draft(self, data: Any) -> dict[str, Any]:
        """Keep what is filled in but not saved."""
        return self._answer(
            "keep_draft",
            data,
            lambda _, form: self._session.draft(form.nonce, form.item_id, form.choice),
        )

    def renew_lease(self, data: Any) -> dict[str, Any]:
        """The page is still open: keep its item for this person."""
        return self._answer("renew_lease", data, lambda _, form: self._session.renew(form.nonce))

    def go_back(self, data: Any) -> dict[str, Any]:
        """Keep what is filled in and show the item before."""
        return self._answer("go_back", data, lambda _, form: self._leave(form, -1))

    def go_forward(self, data: Any) -> dict[str, Any]:
        """Keep what is filled in and show the next item, if this one is done."""
        return self._answer("go_forward", data, lambda _, form: self._leave(form, 1))

    def review_items(self, data: Any) -> dict[str, Any]:
        """From the finished page back to the skipped items, or to the last one."""
        return self._answer(
            "review_items", data, lambda _, form: self._session.review(form.annotator)
        )

    def recent_labels(self, data: Any) -> dict[str, Any]:
        """What this person saved last."""
        return self._answer(
            "recent_labels", data, lambda _, form: self._session.recent(form.annotator)
        )

    def revisit_item(self, data: Any) -> dict[str, Any]:
        """An item of the recent labels again."""
        return self._answer(
            "revisit_item",
            data,
            lambda _, form: self._session.revisit(form.annotator, form.item_id),
        )

    def take_back(self, data: Any) -> dict[str, Any]:
        """Undo the label saved last."""
        return self._answer(
            "take_back", data, lambda _, form: self._session.take_back(form.annotator, form.receipt)
        )

    def rendered_view(self, data: Any) -> dict[str, Any]:
        """The displayed item as Markdown and LaTeX would have it."""

        def rendered(database: Database, form: Form) -> Reply:
            if self._session.owner_of(form.nonce) or not form.annotator:
                return self._session.displayed(form.nonce)
            screen = self._training(database).open(self._session.admit(form.annotator))
            return Reply("", rendered=screen.item) if screen else OUT_OF_DATE

        return self._answer("rendered_view", data, rendered)

    def rubric_view(self, data: Any) -> dict[str, Any]:
        """The categories and guidelines of the rubric that is labelled under now.

        Without its examples as long as this person is in training: they may be what is asked.
        """

        def shown(database: Database, form: Form) -> Reply:
            rubric, name = self._session.rubric, self._session.admit(form.annotator)
            return Reply("", rubric=rubric, withheld=required(database, rubric, name))

        return self._answer("rubric_view", data, shown)

    def _leave(self, form: Form, by: int) -> Reply:
        return self._session.step(form.nonce, form.item_id, form.choice, by=by)

    def _training(self, database: Database) -> TrainingSession:
        return TrainingSession(database, self._session.rubric)

    def _named(self, form: Form) -> Form | None:
        """The form in the name of who asks; None where it is not theirs to send."""
        if not self._accounts:
            return replace(form, annotator=self._annotator or form.annotator)
        person = current_person.get()
        if person is None or person.role is not Role.ANNOTATOR:
            return None
        shown_to = self._session.owner_of(form.nonce) if form.nonce else None
        if shown_to not in (None, person.name):
            return None
        return replace(form, annotator=person.name)

    def _answer(self, act: str, data: Any, answer: Answer) -> dict[str, Any]:
        """Refusals and a store that cannot be written become replies; a defect of ours does not."""
        try:
            with self._store.use() as database:
                view = self._view(database, data, answer)
                if view["suspect"]:
                    person = current_person.get()
                    who = person.name if person else None
                    self._refusals.record(who, f"label: {act}", view["message"], at=now())
                del view["suspect"]
                self._sent.note(f"label: {act}", view)
        except Moved as moved:
            return _stopped(MOVED, file=str(moved))
        except sqlite3.OperationalError as error:
            return _stopped(STORE_REFUSES, error=str(error))
        return view

    def _view(self, database: Database, data: Any, answer: Answer) -> dict[str, Any]:
        try:
            named = self._named(form_from(data))
            reply = answer(database, named) if named else NOT_YOURS
            if isinstance(reply, TrainingReply):
                view = training_view(reply, self._session.rubric)
                return view | {"suspect": reply.refused and reply.screen is not None}
            return reply_view(reply) | {"suspect": reply.suspect}
        except InputError as error:
            reply = Reply("{error}", refused=True, suspect=True, values={"error": str(error)})
            return reply_view(reply) | {"suspect": True}


def _stopped(says: str, **values: object) -> dict[str, Any]:
    """A refusal that holds for every label: the page takes none until the store is well again."""
    return reply_view(Reply(says, refused=True, values=values)) | {"stopped": True}
