"""The labelling session as a state machine, free of any page: all of its state is in labels.db."""

from dataclasses import replace

from annotator.annotation import TAKEN_BACK, recent_annotations, saved_as
from annotator.labelling.choice import Choice, choice_of
from annotator.labelling.display import find_display, keep_draft, put_display
from annotator.labelling.saving import Saving
from annotator.labelling.screen import OUT_OF_DATE, Recent, Reply
from annotator.labels import blind_item

RECENT = 20  # labels that somebody can look at again


class LabellingSession(Saving):
    """All annotators' sessions: coming in, saving, and going along what one has done."""

    def open(self, name: str) -> Reply:
        """Where this annotator left off: the same item with its draft, or the next one to do.

        Raises InputError for a name that cannot be used.
        """
        annotator = self.admit(name)
        with self._writing():
            return Reply("", screen=self._show(annotator, self._standing_item(annotator)))

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
        with self._writing():
            wanted = trail[position] if position < len(trail) else None
            return Reply("", screen=self._show(display.annotator, wanted))

    def review(self, name: str) -> Reply:
        """From the finished page: back to the first skipped item, else to the last item."""
        annotator = self.admit(name)
        kinds = self._claims().kinds(annotator)
        if not kinds:
            return Reply("There is no item to look at.", refused=True)
        skipped = (item_id for item_id, kind in kinds.items() if kind == "skip")
        with self._writing():
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
            return Reply(
                "You have not done that item under this rubric.", refused=True, suspect=True
            )
        with self._writing():
            return Reply("", screen=self._show(annotator, item_id))

    def take_back(self, name: str, receipt: int | None = None) -> Reply:
        """Undo: the label saved last is taken back, and its item shown with what was chosen.

        `receipt` is that of the label that is meant, where the page knows: sent twice, one label
        is taken back. What was taken back stays in the history, as everything does.
        """
        annotator = self.admit(name)
        with self._writing():
            found = recent_annotations(self._db, annotator, self.rubric.version, 1)
            if not found:
                return Reply("There is no label to take back.", refused=True)
            [last] = found
            if receipt not in (None, last.event_id):
                return Reply("That label was taken back already.", refused=True)
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
