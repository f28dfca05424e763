"""The labelling session as a state machine, free of any page: all of its state is in labels.db."""

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import replace

from sqlite_utils import Database

from annotator.annotation import (
    TAKEN_BACK,
    Annotation,
    append_event,
    current_annotation,
    event_of,
    recent_annotations,
    saved_as,
)
from annotator.assignment.assigner import End
from annotator.assignment.claims import Claims
from annotator.labelling.activity import Moment, active_ms, keep_activity
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
from annotator.labelling.screen import OUT_OF_DATE, Recent, Reply, Screen
from annotator.labels import blind_item, recorded_rubric
from annotator.name import checked_name
from annotator.settings import PUBLISHED_RUBRIC, setting
from generation.clock import now
from generation.database import immediate, keep
from rubrics import Rubric

RECENT = 20  # labels that somebody can look at again


class LabellingSession:
    """All annotators' sessions over one open labels.db; the caller serialises the calls.

    People label under the rubric that is published in the store, and under `rubric` as long as
    none is. `clock` gives the present moment as `generation.clock.now` does.
    """

    def __init__(self, database: Database, rubric: Rubric, clock: Callable[[], str] = now) -> None:
        self._db = database
        self._rubric = rubric
        self._now = clock
        self._claimed: Claims | None = None

    @property
    def rubric(self) -> Rubric:
        """What people label under now."""
        published = setting(self._db, PUBLISHED_RUBRIC)
        if published and published != self._rubric.version:
            self._rubric = recorded_rubric(self._db, published) or self._rubric
        return self._rubric

    def prepare(self) -> None:
        """Read now what the first act would else have to wait for."""
        self._claims()

    def open(self, name: str) -> Reply:
        """Where this annotator left off: the same item with its draft, or the next one to do.

        Raises InputError for a name that cannot be used.
        """
        annotator = self.admit(name)
        with immediate(self._db):
            return Reply("", screen=self._show(annotator, self._standing_item(annotator)))

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
        with immediate(self._db):
            if self._may_hold(display):
                self._claims().hold(display.annotator, display.item_id)
                return Reply("")
        return Reply(
            "This item went to somebody else while the page was left alone. You can still save "
            "your label: it is kept and marked as late.",
            refused=True,
        )

    def step(self, nonce: str, item_id: str, choice: Choice, by: int) -> Reply:
        """Keep the draft, then go back (`by` = -1) or forward (+1) along what this person did.

        Forward stops at the first item not done yet.
        """
        kept = self.draft(nonce, item_id, choice)
        display = find_display(self._db, nonce)
        if kept.refused or display is None:
            return kept
        trail = self._claims().trail(display.annotator)
        position = (trail.index(item_id) if item_id in trail else len(trail)) + by
        if position < 0:
            return Reply("This is your first item.", refused=True)
        if position > len(trail):
            return Reply("Label or skip this item before you go on.", refused=True)
        with immediate(self._db):
            wanted = trail[position] if position < len(trail) else None
            return Reply("", screen=self._show(display.annotator, wanted))

    def review(self, name: str) -> Reply:
        """From the finished page: back to the first skipped item, else to the last item."""
        annotator = self.admit(name)
        kinds = self._claims().kinds(annotator)
        if not kinds:
            return Reply("There is no item to look at.", refused=True)
        skipped = (item_id for item_id, kind in kinds.items() if kind == "skip")
        with immediate(self._db):
            return Reply("", screen=self._show(annotator, next(skipped, list(kinds)[-1])))

    def recent(self, name: str) -> Reply:
        """What this person saved last, newest first."""
        annotator = self.admit(name)
        rubric = self.rubric
        found = recent_annotations(self._db, annotator, rubric.version, RECENT)
        return Reply(
            "",
            recent=tuple(
                Recent(said, saved_as(said, rubric), blind_item(self._db, said.item_id).item.turn)
                for said in found
            ),
        )

    def revisit(self, name: str, item_id: str) -> Reply:
        """An item that this person has done, to look at again."""
        annotator = self.admit(name)
        if item_id not in self._claims().kinds(annotator):
            return Reply("You have not done that item under this rubric.", refused=True)
        with immediate(self._db):
            return Reply("", screen=self._show(annotator, item_id))

    def take_back(self, name: str) -> Reply:
        """Undo: the label saved last is taken back, and its item shown with what was chosen.

        What was taken back stays in the history, as everything does.
        """
        annotator = self.admit(name)
        with immediate(self._db):
            found = recent_annotations(self._db, annotator, self.rubric.version, 1)
            if not found:
                return Reply("There is no label to take back.", refused=True)
            [last] = found
            display = put_display(
                self._db,
                annotator=annotator,
                item_id=last.item_id,
                rubric_version=last.rubric_version,
                last_event_id=last.event_id,
            )
            self._append(display, replace(choice_of(last), category=None), TAKEN_BACK)
            keep_draft(self._db, display, choice_of(last))
            screen = self._show(annotator, last.item_id)
        return Reply(
            "Taken back (receipt {receipt}): submit again, or choose another category.",
            screen=screen,
            values={"receipt": last.event_id},
        )

    def displayed(self, nonce: str) -> Reply:
        """The item of a display again, to be shown rendered."""
        display = find_display(self._db, nonce)
        if display is None:
            return OUT_OF_DATE
        return Reply("", rendered=blind_item(self._db, display.item_id).item)

    def owner_of(self, nonce: str) -> str | None:
        """Before whom the display with this nonce was put; None if there is none."""
        display = find_display(self._db, nonce)
        return display.annotator if display else None

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
        with immediate(self._db):
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
        return Reply(
            "Not saved yet: you saved this item in another tab as “{label}”. "
            "Submit again to replace that.",
            refused=True,
            screen=replace(self._show(display.annotator, display.item_id), choice=choice),
            values={"label": saved_as(saved, self._rubric)},
        )

    def _show(self, annotator: str, item_id: str | None) -> Screen:
        """The item, or where it is None the next one to do, under a new display; in a transaction.

        Without an item to do, the screen says why.
        """
        rubric, claims = self.rubric, self._claims()
        trail, kinds = claims.trail(annotator), list(claims.kinds(annotator).values())
        screen = Screen(
            annotator=annotator,
            rubric=rubric,
            progress=claims.progress(annotator),
            lease_seconds=claims.plan.lease_seconds if claims.plan.labels_per_item else None,
            labelled=kinds.count("label"),
            skipped=kinds.count("skip"),
        )
        if item_id is None:
            found = claims.next_item(annotator)
            if isinstance(found, End):
                return replace(screen, end=found)
            item_id = found
        claims.hold(annotator, item_id)
        saved = current_annotation(self._db, annotator, item_id, rubric.version)
        display = put_display(
            self._db,
            annotator=annotator,
            item_id=item_id,
            rubric_version=rubric.version,
            last_event_id=saved.event_id if saved else None,
        )
        standing = None if saved is None or saved.skip_reason == TAKEN_BACK else saved
        return replace(
            screen,
            position=(trail.index(item_id) if item_id in trail else len(trail)) + 1,
            shown=blind_item(self._db, item_id),
            nonce=display.nonce,
            choice=kept_draft(self._db, display) or choice_of(standing),
            saved=standing,
        )

    def _standing_item(self, annotator: str) -> str | None:
        """The item that this person was shown last and did not save yet, if it is still theirs."""
        last = last_display(self._db, annotator, self.rubric.version)
        if last is None or event_of(self._db, last.nonce):
            return None
        return last.item_id if self._may_hold(last) else None

    def _may_hold(self, display: Display) -> bool:
        # Of what was shown under an earlier rubric nothing is handed out any more.
        claims = self._claims()
        older = display.rubric_version != claims.version
        return older or claims.may_hold(display.annotator, display.item_id)

    def _claims(self) -> Claims:
        rubric = self.rubric
        if self._claimed is None or self._claimed.version != rubric.version:
            self._claimed = Claims(self._db, rubric, self._now)
        return self._claimed

    def _current(self, display: Display) -> Annotation | None:
        """The annotation that stands for what was displayed, under the display's own rubric."""
        return current_annotation(
            self._db, display.annotator, display.item_id, display.rubric_version
        )

    def admit(self, name: str) -> str:
        """The name as it is stored, known from now on; raises InputError for an unusable one."""
        annotator = checked_name(name)
        keep(self._db, "annotators", {"annotator": annotator, "first_seen_at": self._now()})
        return annotator
