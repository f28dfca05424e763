"""The acts that the labelling page may ask for: JSON in, JSON out, never an exception."""

import sqlite3
from collections.abc import Callable
from threading import Lock
from typing import Any

from sqlite_utils import Database

from annotator.choice import choice_from
from annotator.session import LabellingSession, Reply
from annotator.view import reply_view
from rubrics import InputError, Rubric


class Desk:
    """One labels.db behind one lock; `annotator` fixes who labels, else the page says who.

    Gradio calls acts from many threads. One connection behind a lock had fewer slow saves than a
    connection per thread waiting for SQLite's own lock.
    """

    def __init__(self, database: Database, rubric: Rubric, *, annotator: str | None) -> None:
        self._session = LabellingSession(database, rubric)
        self._annotator = annotator
        self._lock = Lock()

    def open_screen(self, data: Any) -> dict[str, Any]:
        """Where the annotator left off."""
        return self._answer(lambda: Reply("", screen=self._session.open(self._name(data))))

    def save_label(self, data: Any) -> dict[str, Any]:
        """Store the label of the displayed item and show the next."""
        return self._answer(
            lambda: self._session.save(
                _text(data, "nonce"), _text(data, "item_id"), choice_from(data["choice"])
            )
        )

    def skip_item(self, data: Any) -> dict[str, Any]:
        """Store that the displayed item was skipped and show the next."""
        return self._answer(
            lambda: self._session.skip(
                _text(data, "nonce"),
                _text(data, "item_id"),
                _text(data, "reason"),
                choice_from(data["choice"]),
            )
        )

    def keep_draft(self, data: Any) -> dict[str, Any]:
        """Keep what is filled in but not saved."""
        return self._answer(
            lambda: self._session.draft(
                _text(data, "nonce"), _text(data, "item_id"), choice_from(data["choice"])
            )
        )

    def go_back(self, data: Any) -> dict[str, Any]:
        return self._answer(lambda: self._session.step(_text(data, "nonce"), by=-1))

    def go_forward(self, data: Any) -> dict[str, Any]:
        return self._answer(lambda: self._session.step(_text(data, "nonce"), by=1))

    def review_items(self, data: Any) -> dict[str, Any]:
        """From the finished page back to the skipped items, or to the last one."""
        return self._answer(lambda: self._session.review(self._name(data)))

    def rendered_view(self, data: Any) -> dict[str, Any]:
        """The displayed item as Markdown and LaTeX would have it."""
        return self._answer(lambda: self._session.displayed(_text(data, "nonce")))

    def _name(self, data: Any) -> str:
        return self._annotator or _text(data, "annotator")

    def _answer(self, act: Callable[[], Reply]) -> dict[str, Any]:
        try:
            with self._lock:
                reply = act()
            return reply_view(reply)
        except InputError as error:
            message = f"{error}"
        except (KeyError, TypeError, AttributeError):
            message = "Not saved: the page sent something else than a form. Reload it."
        except sqlite3.Error as error:
            message = (
                f"NOT SAVED: the label store refuses ({error}). Nothing is being saved; "
                "stop here and tell the study's owner."
            )
        return reply_view(Reply(message, refused=True))


def _text(data: Any, field: str) -> str:
    value = data[field]
    if not isinstance(value, str):
        raise TypeError(field)
    return value
