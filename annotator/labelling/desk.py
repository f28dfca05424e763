"""The acts that the labelling page may ask for: JSON in, JSON out, one at a time."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any

from sqlite_utils import Database

from annotator.labelling.form import Form, form_from
from annotator.labelling.screen import Reply
from annotator.labelling.session import LabellingSession
from annotator.labelling.view import reply_view
from rubrics import InputError, Rubric


class Desk:
    """One labels.db behind one lock; `annotator` fixes who labels, else the page says who.

    Gradio calls acts from many threads. One connection behind a lock had fewer slow saves than a
    connection per thread waiting for SQLite's own lock.
    """

    def __init__(
        self, database: Database, rubric: Rubric, path: Path, *, annotator: str | None
    ) -> None:
        self._database = database
        self._session = LabellingSession(database, rubric)
        self._path = path
        self._file = _identity(path)
        self._annotator = annotator
        self._lock = Lock()

    def close(self) -> None:
        with self._lock:
            self._database.close()

    def open_screen(self, data: Any) -> dict[str, Any]:
        """Where the annotator left off."""
        return self._answer(data, lambda form: self._session.open(self._name(form)))

    def save_label(self, data: Any) -> dict[str, Any]:
        """Store the label of the displayed item and show the next."""
        return self._answer(
            data, lambda form: self._session.save(form.nonce, form.item_id, form.choice)
        )

    def skip_item(self, data: Any) -> dict[str, Any]:
        """Store that the displayed item was skipped and show the next."""
        return self._answer(
            data,
            lambda form: self._session.skip(form.nonce, form.item_id, form.reason, form.choice),
        )

    def keep_draft(self, data: Any) -> dict[str, Any]:
        """Keep what is filled in but not saved."""
        return self._answer(
            data, lambda form: self._session.draft(form.nonce, form.item_id, form.choice)
        )

    def go_back(self, data: Any) -> dict[str, Any]:
        """Keep what is filled in and show the item before."""
        return self._answer(data, lambda form: self._leave(form, -1))

    def go_forward(self, data: Any) -> dict[str, Any]:
        """Keep what is filled in and show the next item, if this one is done."""
        return self._answer(data, lambda form: self._leave(form, 1))

    def review_items(self, data: Any) -> dict[str, Any]:
        """From the finished page back to the skipped items, or to the last one."""
        return self._answer(data, lambda form: self._session.review(self._name(form)))

    def rendered_view(self, data: Any) -> dict[str, Any]:
        """The displayed item as Markdown and LaTeX would have it."""
        return self._answer(data, lambda form: self._session.displayed(form.nonce))

    def _leave(self, form: Form, by: int) -> Reply:
        return self._session.step(form.nonce, form.item_id, form.choice, by=by)

    def _name(self, form: Form) -> str:
        return self._annotator or form.annotator

    def _answer(self, data: Any, act: Callable[[Form], Reply]) -> dict[str, Any]:
        """Refusals and a store that cannot be written become replies; a defect of ours does not."""
        try:
            form = form_from(data)
            if _identity(self._path) != self._file:
                raise InputError(
                    f"NOT SAVED: {self._path.name} was moved or replaced while this page was "
                    "served. Stop here and have annotate started again."
                )
            with self._lock:
                reply = act(form)
        except InputError as error:
            reply = Reply(str(error), refused=True)
        except sqlite3.OperationalError as error:
            reply = Reply(
                f"NOT SAVED: the label store refuses ({error}). Nothing is being saved; "
                "stop here and tell the study's owner.",
                refused=True,
            )
        return reply_view(reply)


def _identity(path: Path) -> tuple[int, int] | None:
    """What tells a file from another one at the same path; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
