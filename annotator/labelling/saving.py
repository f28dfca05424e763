"""Saving: a label, a skip or a draft of the item that is on screen, and of no other."""

import sqlite3
from collections.abc import Sequence
from dataclasses import replace

from annotator.annotation import Annotation, append_event, event_of, saved_as
from annotator.labelling.activity import Moment, active_ms, keep_activity
from annotator.labelling.choice import SKIP_REASONS, Choice, choice_of, fault
from annotator.labelling.display import Display, drop_draft, find_display, keep_draft
from annotator.labelling.screen import OUT_OF_DATE, Reply, Screen
from annotator.labelling.showing import Showing
from annotator.labels import recorded_rubric


class Saving(Showing):
    """What people send of an item that they were shown, and what they are shown next."""

    def save(
        self, nonce: str, item_id: str, choice: Choice, activity: Sequence[Moment] = ()
    ) -> Reply:
        """Store a label for the displayed item, then show the next one."""
        if choice.category is None:
            return Reply("Choose a category first.", refused=True)
        return self._store(nonce, item_id, choice, None, activity)

    def skip(
        self,
        nonce: str,
        item_id: str,
        reason: str,
        choice: Choice,
        activity: Sequence[Moment] = (),
    ) -> Reply:
        """Store that the displayed item was skipped and why, then show the next one."""
        if reason not in SKIP_REASONS:
            return Reply("Choose a reason for skipping first.", refused=True)
        return self._store(nonce, item_id, replace(choice, category=None), reason, activity)

    def draft(self, nonce: str, item_id: str, choice: Choice) -> Reply:
        """Keep what is filled in, so that a reload or a crash brings it back."""
        display = find_display(self._db, nonce)
        if display is None:
            return OUT_OF_DATE
        if refusal := self._refusal(display, item_id, choice):
            return refusal
        if event_of(self._db, nonce):
            return Reply("")  # the draft arrived after its own save
        saved = self._current(display)
        if saved and saved.event_id != display.last_event_id:
            return Reply("Not kept: you saved this item in another tab. Reload the page.", True)
        if choice == choice_of(saved):
            drop_draft(self._db, display)
        else:
            keep_draft(self._db, display, choice)
        return Reply("Draft kept.")

    def renew(self, nonce: str) -> Reply:
        """The page is still open: its item stays with this person, if nobody else has it now."""
        display = find_display(self._db, nonce)
        if display is None:
            return OUT_OF_DATE
        if display.rubric_version != self.rubric.version:
            return Reply("")  # finished under the rubric that it was shown under, whoever has it
        with self._writing():
            if self._may_hold(display):
                self._claims().hold(display.annotator, display.item_id)
                return Reply("")
        return Reply(
            "This item went to somebody else while the page was left alone. You can still save "
            "your label: it is kept and marked as late.",
            refused=True,
        )

    def _store(
        self,
        nonce: str,
        item_id: str,
        choice: Choice,
        skip_reason: str | None,
        activity: Sequence[Moment],
    ) -> Reply:
        display = find_display(self._db, nonce)
        if display is None:
            return OUT_OF_DATE
        if refusal := self._refusal(display, item_id, choice):
            return refusal
        late = False
        with self._writing():
            saved = self._current(display)
            if stored := event_of(self._db, nonce):
                repeated = choice_of(stored) == choice and stored.skip_reason == skip_reason
                event_id = stored.event_id if repeated else None
            elif saved and saved.event_id != display.last_event_id:
                return self._overtaken(display, choice, saved)
            else:
                late = not self._may_hold(display)
                event_id = self._append(display, choice, skip_reason, activity, late=late)
            # The next item comes up in the same commit, and a failure to find one takes nothing
            # back of what was saved.
            screen, trouble = self._next_or_trouble(display.annotator)
        if event_id is None:
            return Reply(
                "Not saved: this item was saved a moment ago with another choice. "
                "Go back to change it.",
                refused=True,
                suspect=True,
            )
        receipt = {"receipt": event_id}
        if trouble:
            return Reply(
                "Saved (receipt {receipt}), but the next item cannot be shown ({trouble}).",
                refused=True,
                values=receipt | {"trouble": trouble},
            )
        if late:
            return Reply(
                "Saved (receipt {receipt}), marked as late: the item had gone to somebody else.",
                screen=screen,
                values=receipt,
            )
        return Reply("Saved (receipt {receipt}).", screen=screen, values=receipt)

    def _append(
        self,
        display: Display,
        choice: Choice,
        skip_reason: str | None,
        activity: Sequence[Moment] = (),
        *,
        late: bool = False,
    ) -> int:
        event_id = append_event(
            self._db,
            nonce=display.nonce,
            annotator=display.annotator,
            item_id=display.item_id,
            rubric_version=display.rubric_version,
            category=choice.category,
            skip_reason=skip_reason,
            confidence=choice.confidence,
            note=choice.note,
            flagged=choice.flagged,
            saved_at=self._now(),
            late=late,
            active_ms=active_ms(activity),
        )
        keep_activity(self._db, display.nonce, activity)
        drop_draft(self._db, display)
        self._claims().let_go(display.annotator, display.item_id)
        return event_id

    def _next_or_trouble(self, annotator: str) -> tuple[Screen | None, str]:
        self._db.conn.execute("SAVEPOINT next_item")
        try:
            screen = self._show(annotator, None)
        except sqlite3.OperationalError as error:
            self._db.conn.execute("ROLLBACK TO next_item")
            return None, str(error)
        finally:
            self._db.conn.execute("RELEASE next_item")
        return screen, ""

    def _refusal(self, display: Display, item_id: str, choice: Choice) -> Reply | None:
        if display.item_id != item_id:
            return Reply(
                "Not saved: that item is not the one on this screen. Reload the page.",
                refused=True,
                suspect=True,
            )
        rubric = recorded_rubric(self._db, display.rubric_version) or self._rubric
        problem = fault(choice, rubric)
        if problem is None:
            return None
        return Reply(
            "Not saved: {problem}.", refused=True, suspect=True, values={"problem": problem}
        )

    def _overtaken(self, display: Display, choice: Choice, saved: Annotation) -> Reply:
        """Saved meanwhile in another tab: show the item anew and let the person decide."""
        shown_under = recorded_rubric(self._db, display.rubric_version) or self._rubric
        if choice.category not in self.rubric.category_ids:  # another rubric has been published
            choice = replace(choice, category=None)
        return Reply(
            "Not saved yet: you saved this item in another tab as “{label}”. "
            "Submit again to replace that.",
            refused=True,
            screen=replace(self._show(display.annotator, display.item_id), choice=choice),
            values={"label": saved_as(saved, shown_under)},
        )
