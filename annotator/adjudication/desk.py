"""The acts that the adjudicator's page may ask for: JSON in, JSON out, one at a time."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from annotator.accounts.person import Role, current_person
from annotator.accounts.refusal import RefusalLog
from annotator.adjudication.form import Form, form_from
from annotator.adjudication.session import AdjudicationSession
from annotator.adjudication.view import DisputeReply, reply_view
from annotator.blindness.sent import SentFields
from annotator.labels import record_rubric
from annotator.served_labels import MOVED, STORE_REFUSES, Moved, ServedLabels
from generation.clock import now
from rubrics import InputError, Rubric

NOT_AN_ADJUDICATOR = "This page is for adjudicators alone; log in as one."


class AdjudicationDesk:
    """One labels.db, for whoever is logged in as an adjudicator; the page has no say in who it is.

    Whatever goes wrong becomes a reply, so that what was written stays on the page.
    """

    def __init__(self, path: Path, rubric: Rubric, refusals: RefusalLog) -> None:
        self._refusals = refusals
        self._labels = ServedLabels(path)
        with self._labels.use() as database:
            record_rubric(database, rubric)
            self._session = AdjudicationSession(database, rubric)
            self._sent = SentFields(database)

    def close(self) -> None:
        self._labels.close()

    def show_dispute(self, data: Any) -> dict[str, Any]:
        """The item that is asked for, or the first of the list."""
        return self._answer(
            "show_dispute",
            data,
            lambda who, form: self._session.open(who, form.item_id, decided=form.decided),
        )

    def next_dispute(self, data: Any) -> dict[str, Any]:
        """The item after this one."""
        return self._answer("next_dispute", data, lambda who, form: self._step(who, form, 1))

    def previous_dispute(self, data: Any) -> dict[str, Any]:
        """The item before this one."""
        return self._answer("previous_dispute", data, lambda who, form: self._step(who, form, -1))

    def decide(self, data: Any) -> dict[str, Any]:
        """Store a decision, unless another one was made since the item was shown."""
        return self._answer(
            "decide",
            data,
            lambda who, form: self._session.decide(
                who,
                form.item_id,
                form.category,
                form.reason,
                rubric_version=form.rubric_version,
                after=form.after,
                decided=form.decided,
            ),
        )

    def add_note(self, data: Any) -> dict[str, Any]:
        """Store a note to the other adjudicators."""
        return self._answer(
            "add_note",
            data,
            lambda who, form: self._session.discuss(
                who,
                form.item_id,
                form.note,
                rubric_version=form.rubric_version,
                decided=form.decided,
            ),
        )

    def rendered_view(self, data: Any) -> dict[str, Any]:
        """The item as Markdown and LaTeX would have it."""
        return self._answer(
            "rendered_view", data, lambda _, form: self._session.rendered(form.item_id)
        )

    def rubric_view(self, data: Any) -> dict[str, Any]:
        """The categories and guidelines of the rubric that is decided under now."""
        return self._answer(
            "rubric_view", data, lambda *_: DisputeReply("", rubric=self._session.rubric)
        )

    def _step(self, who: str, form: Form, by: int) -> DisputeReply:
        return self._session.step(who, form.item_id, decided=form.decided, by=by)

    def _answer(
        self, name: str, data: Any, act: Callable[[str, Form], DisputeReply]
    ) -> dict[str, Any]:
        try:
            with self._labels.use():
                reply = self._reply(data, act)
                view = reply_view(reply)
                self._sent.note(f"adjudicate: {name}", view)
        except Moved as error:
            return reply_view(DisputeReply(MOVED.format(file=error), refused=True))
        except sqlite3.OperationalError as error:
            return reply_view(DisputeReply(STORE_REFUSES.format(error=error), refused=True))
        if reply.suspect:
            person = current_person.get()
            who = person.name if person else None
            self._refusals.record(who, f"adjudicate: {name}", reply.message, at=now())
        return view

    def _reply(self, data: Any, act: Callable[[str, Form], DisputeReply]) -> DisputeReply:
        person = current_person.get()
        if person is None or person.role is not Role.ADJUDICATOR:
            return DisputeReply(NOT_AN_ADJUDICATOR, refused=True, suspect=True)
        try:
            return act(person.name, form_from(data))
        except InputError as error:
            return DisputeReply(f"Not stored: {error}.", refused=True, suspect=True)
