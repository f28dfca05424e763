"""Showing items: which one is put before whom, under which rubric, with what they had filled in."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from sqlite_utils import Database

from annotator.annotation import TAKEN_BACK, Annotation, current_annotation, event_of
from annotator.assignment.assigner import End
from annotator.assignment.claims import Claims
from annotator.labelling.choice import choice_of
from annotator.labelling.display import (
    Display,
    find_display,
    kept_draft,
    last_display,
    put_display,
)
from annotator.labelling.screen import Screen
from annotator.labels import blind_item
from annotator.name import checked_name
from annotator.publishing.in_force import rubric_in_force
from annotator.training.session import required
from generation.clock import now
from generation.database import immediate, keep
from rubrics import Rubric


class Showing:
    """What people are shown, over one open labels.db; the caller serialises the calls.

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
        self._rubric = rubric_in_force(self._db, self._rubric)
        return self._rubric

    def prepare(self) -> None:
        """Read now what the first act would else have to wait for."""
        self._claims()

    def owner_of(self, nonce: str) -> str | None:
        """Before whom the display with this nonce was put; None if there is none."""
        display = find_display(self._db, nonce)
        return display.annotator if display else None

    def admit(self, name: str) -> str:
        """The name as it is stored, known from now on; raises InputError for an unusable one."""
        annotator = checked_name(name)
        keep(self._db, "annotators", {"annotator": annotator, "first_seen_at": self._now()})
        return annotator

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """One write transaction; what was read ahead of a commit that fails is forgotten."""
        try:
            with immediate(self._db):
                yield
        except BaseException:
            self._claimed = None
            raise

    def _show(self, annotator: str, item_id: str | None) -> Screen:
        """The item, or where it is None the next one to do, under a new display; in a transaction.

        Without an item to do, or before training is passed, the screen says why.
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
        if required(self._db, rubric, annotator):
            return replace(screen, end=End.TRAINING)
        if item_id is None:
            found = claims.next_item(annotator)
            if isinstance(found, End):
                told = claims.progress(annotator, at_the_end=True)
                return replace(screen, end=found, progress=told)
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
