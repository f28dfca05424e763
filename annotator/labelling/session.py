"""The labelling session as a state machine, free of any page: all of its state is in labels.db."""

import sqlite3
from collections import Counter
from dataclasses import replace

from sqlite_utils import Database

from annotator.annotation import (
    Annotation,
    append_event,
    current_annotation,
    done_kinds,
    event_of,
    saved_as,
)
from annotator.labelling.choice import SKIP_REASONS, Choice, choice_of, fault
from annotator.labelling.display import (
    Display,
    drop_draft,
    find_display,
    keep_draft,
    kept_draft,
    last_display,
    put_display,
)
from annotator.labelling.screen import OUT_OF_DATE, Reply, Screen
from annotator.labelling.worklist import work_list
from annotator.labels import blind_item, item_ids, recorded_rubric, study_seed
from annotator.name import checked_name
from generation.clock import now
from generation.database import immediate, keep
from rubrics import Rubric


class LabellingSession:
    """All annotators' sessions over one open labels.db; the caller serialises the calls."""

    def __init__(self, database: Database, rubric: Rubric) -> None:
        self._db = database
        self._rubric = rubric
        self._orders: dict[str, tuple[str, ...]] = {}

    def open(self, name: str) -> Reply:
        """Where this annotator left off: the same item with its draft, or the next one to do.

        Raises InputError for a name that cannot be used.
        """
        annotator = self._admit(name)
        order = self._order(annotator)
        last = last_display(self._db, annotator, self._rubric.version)
        start = order.index(last.item_id) if last and last.item_id in order else 0
        standing = (
            last is not None and order[start] == last.item_id and not event_of(self._db, last.nonce)
        )
        position = start if standing else self._next_open(annotator, start)
        return Reply("", screen=self._show(annotator, position))

    def save(self, nonce: str, item_id: str, choice: Choice) -> Reply:
        """Store a label for the displayed item, then show the next one."""
        if choice.category is None:
            return Reply("Choose a category first.", refused=True)
        return self._store(nonce, item_id, choice, skip_reason=None)

    def skip(self, nonce: str, item_id: str, reason: str, choice: Choice) -> Reply:
        """Store that the displayed item was skipped and why, then show the next one."""
        if reason not in SKIP_REASONS:
            return Reply("Choose a reason for skipping first.", refused=True)
        return self._store(nonce, item_id, replace(choice, category=None), skip_reason=reason)

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

    def step(self, nonce: str, item_id: str, choice: Choice, by: int) -> Reply:
        """Keep the draft, then go back (`by` = -1) or forward (+1).

        Forward stops at the first item not done yet.
        """
        kept = self.draft(nonce, item_id, choice)
        display = find_display(self._db, nonce)
        if kept.refused or display is None:
            return kept
        order = self._order(display.annotator)
        position = order.index(display.item_id) + by
        if position < 0:
            return Reply("This is your first item.", refused=True)
        if by > 0 and not self._annotation(display.annotator, display.item_id):
            return Reply("Label or skip this item before you go on.", refused=True)
        at_end = position >= len(order)
        screen = self._show(display.annotator, None if at_end else position)
        return Reply("", screen=screen)

    def review(self, name: str) -> Reply:
        """From the finished page: back to the first skipped item, else to the last item."""
        annotator = self._admit(name)
        order = self._order(annotator)
        if not order:
            return Reply("There is no item to look at.", refused=True)
        done = self._done(annotator)
        skipped = (i for i, item_id in enumerate(order) if done.get(item_id) == "skip")
        return Reply("", screen=self._show(annotator, next(skipped, len(order) - 1)))

    def displayed(self, nonce: str) -> Reply:
        """The item of a display again, to be shown rendered."""
        display = find_display(self._db, nonce)
        if display is None:
            return OUT_OF_DATE
        return Reply("", rendered=blind_item(self._db, display.item_id).item)

    def _store(self, nonce: str, item_id: str, choice: Choice, *, skip_reason: str | None) -> Reply:
        display = find_display(self._db, nonce)
        if display is None:
            return OUT_OF_DATE
        if refusal := self._refusal(display, item_id, choice):
            return refusal
        with immediate(self._db):
            saved = self._current(display)
            if stored := event_of(self._db, nonce):
                repeated = choice_of(stored) == choice and stored.skip_reason == skip_reason
                event_id = stored.event_id if repeated else None
            elif saved and saved.event_id != display.last_event_id:
                return self._overtaken(display, choice, saved)
            else:
                event_id = append_event(
                    self._db,
                    nonce=nonce,
                    annotator=display.annotator,
                    item_id=item_id,
                    rubric_version=display.rubric_version,
                    category=choice.category,
                    skip_reason=skip_reason,
                    confidence=choice.confidence,
                    note=choice.note,
                    flagged=choice.flagged,
                    saved_at=now(),
                )
                drop_draft(self._db, display)
        if event_id is None:
            return Reply(
                "Not saved: this item was saved a moment ago with another choice. "
                "Go back to change it.",
                refused=True,
            )
        # Only now, after the commit, does the next item come up.
        try:
            here = self._order(display.annotator).index(item_id)
            screen = self._show(display.annotator, self._next_open(display.annotator, here + 1))
        except sqlite3.OperationalError as error:
            return Reply(
                f"Saved (receipt {event_id}), but the next item cannot be shown ({error}).",
                refused=True,
            )
        return Reply(f"Saved (receipt {event_id}).", screen=screen)

    def _refusal(self, display: Display, item_id: str, choice: Choice) -> Reply | None:
        if display.item_id != item_id:
            return Reply(
                "Not saved: that item is not the one on this screen. Reload the page.", True
            )
        rubric = recorded_rubric(self._db, display.rubric_version) or self._rubric
        problem = fault(choice, rubric)
        return Reply(f"Not saved: {problem}.", True) if problem else None

    def _overtaken(self, display: Display, choice: Choice, saved: Annotation) -> Reply:
        """Saved meanwhile in another tab: show the item anew and let the person decide."""
        position = self._order(display.annotator).index(display.item_id)
        screen = self._show(display.annotator, position)
        what = saved_as(saved, self._rubric)
        return Reply(
            f"Not saved yet: you saved this item in another tab as “{what}”. "
            "Submit again to replace that.",
            refused=True,
            screen=replace(screen, choice=choice),
        )

    def _show(self, annotator: str, position: int | None) -> Screen:
        done = Counter(self._done(annotator).values())
        order = self._order(annotator)
        screen = Screen(
            annotator=annotator,
            rubric=self._rubric,
            total=len(order),
            labelled=done["label"],
            skipped=done["skip"],
        )
        if position is None:
            return screen
        item_id = order[position]
        saved = self._annotation(annotator, item_id)
        display = put_display(
            self._db,
            annotator=annotator,
            item_id=item_id,
            rubric_version=self._rubric.version,
            last_event_id=saved.event_id if saved else None,
        )
        return replace(
            screen,
            position=position + 1,
            shown=blind_item(self._db, item_id),
            nonce=display.nonce,
            choice=kept_draft(self._db, display) or choice_of(saved),
            saved=saved,
        )

    def _order(self, annotator: str) -> tuple[str, ...]:
        # Items can be added while people label: the list is kept only while it is whole.
        order = self._orders.get(annotator, ())
        if len(order) != self._db["items"].count:
            order = work_list(item_ids(self._db), seed=study_seed(self._db), annotator=annotator)
            self._orders[annotator] = order
        return order

    def _next_open(self, annotator: str, start: int) -> int | None:
        """The first item from `start` on, then from the beginning, without an annotation."""
        order = self._order(annotator)
        done = self._done(annotator)
        positions = (*range(start, len(order)), *range(start))
        return next((p for p in positions if order[p] not in done), None)

    def _annotation(self, annotator: str, item_id: str) -> Annotation | None:
        return current_annotation(self._db, annotator, item_id, self._rubric.version)

    def _current(self, display: Display) -> Annotation | None:
        """The annotation that stands for what was displayed, under the display's own rubric."""
        return current_annotation(
            self._db, display.annotator, display.item_id, display.rubric_version
        )

    def _admit(self, name: str) -> str:
        annotator = checked_name(name)
        keep(self._db, "annotators", {"annotator": annotator, "first_seen_at": now()})
        return annotator

    def _done(self, annotator: str) -> dict[str, str]:
        return done_kinds(self._db, annotator, self._rubric.version)
