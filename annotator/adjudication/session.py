"""Adjudicating as a state machine, free of any page: all of its state is in labels.db."""

from dataclasses import replace

from sqlite_utils import Database

from annotator.adjudication.adjudication import (
    Adjudication,
    append_adjudication,
    checked_decision,
    current_adjudication,
)
from annotator.adjudication.discussion import add_note, discussion_of
from annotator.adjudication.dispute import labels_given
from annotator.adjudication.dispute_queue import (
    DisputeQueue,
    neighbour,
    place_of_their_own,
    position,
)
from annotator.adjudication.view import DisputeReply, DisputeScreen, category_name
from annotator.annotation import annotations_of_item
from annotator.labels import blind_item
from annotator.publishing.in_force import rubric_in_force
from generation.database import immediate
from rubrics import Rubric

NOT_HERE = "This item is not to be decided: its labels are the same now."


class AdjudicationSession:
    """All adjudicators' sessions over one open labels.db; the caller serialises the calls.

    It is about the rubric that is published in the store, and about `rubric` as long as none is.
    `adjudicator` is the name of whoever asks. An act names the item that it is about, and the list
    that the page is in: the undecided items, or with `decided` the decided ones.
    """

    def __init__(self, database: Database, rubric: Rubric) -> None:
        self._db = database
        self._queue = DisputeQueue(database, rubric)

    @property
    def rubric(self) -> Rubric:
        """What is decided under now."""
        rubric = rubric_in_force(self._db, self._queue.rubric)
        if rubric is not self._queue.rubric:
            self._queue = DisputeQueue(self._db, rubric)
        return rubric

    def open(self, adjudicator: str, item_id: str, *, decided: bool) -> DisputeReply:
        """The item that was asked for, else the first of the list from this person's place on."""
        self._refresh()
        if item_id and self._is_here(item_id):
            # A link may lead to an item that was decided since.
            decided = position(self._queue.decided, item_id, "") is not None
            return DisputeReply("", screen=self._show(adjudicator, item_id, decided=decided))
        first = neighbour(self._list(decided), place_of_their_own(adjudicator), 1)
        screen = self._show(adjudicator, first, decided=decided)
        if item_id:
            return DisputeReply(NOT_HERE, refused=True, suspect=True, screen=screen)
        return DisputeReply("", screen=screen)

    def step(self, adjudicator: str, item_id: str, *, decided: bool, by: int) -> DisputeReply:
        """The item after (`by` = 1) or before (-1) this one, round and round."""
        self._refresh()
        found = neighbour(self._list(decided), item_id, by)
        message = "This is the only one." if found == item_id else ""
        return DisputeReply(message, screen=self._show(adjudicator, found, decided=decided))

    def decide(
        self,
        adjudicator: str,
        item_id: str,
        category: str,
        reason: str,
        *,
        rubric_version: str,
        after: int | None,
        decided: bool,
    ) -> DisputeReply:
        """Store a decision that knows of the one before it, `after`; then the next item.

        Raises InputError for an item, a category or a reason that cannot be stored.
        """
        if not category:
            return DisputeReply("Choose a category first.", refused=True)
        if not reason.strip():
            return DisputeReply("Say why, in a sentence.", refused=True)
        if rubric_version != self.rubric.version:
            return self._another_rubric(adjudicator)
        reason = checked_decision(self._db, self.rubric, item_id, category, reason)
        with immediate(self._db):
            self._refresh()
            standing = current_adjudication(self._db, item_id, self.rubric.version)
            if standing and standing.adjudication_id != after:
                sent = (category, reason, adjudicator)
                if sent != (standing.category, standing.reason, standing.adjudicator):
                    return self._overtaken(adjudicator, standing, decided=decided)
            elif not self._is_here(item_id):
                return replace(self.open(adjudicator, item_id, decided=decided), refused=True)
            else:
                append_adjudication(self._db, self.rubric, item_id, category, reason, adjudicator)
        # After the commit: what is rolled back must not be taken for seen.
        self._refresh()
        left = len(self._queue.undecided)
        shown = item_id if decided else neighbour(self._queue.undecided, item_id, 1)
        return DisputeReply(
            f"Stored: {self.rubric.category(category).name}. Still to decide: {left:,}.",
            stored=True,
            screen=self._show(adjudicator, shown, decided=decided),
        )

    def discuss(
        self, adjudicator: str, item_id: str, note: str, *, rubric_version: str, decided: bool
    ) -> DisputeReply:
        """Store a note on the item, and show it again.

        Raises InputError for a note that cannot be stored.
        """
        if rubric_version != self.rubric.version:
            return self._another_rubric(adjudicator)
        self._refresh()
        if not self._is_here(item_id):
            return self.open(adjudicator, item_id, decided=decided)
        add_note(self._db, item_id, rubric_version, note, adjudicator)
        screen = self._show(adjudicator, item_id, decided=decided)
        return DisputeReply("Note stored.", stored=True, screen=screen)

    def rendered(self, item_id: str) -> DisputeReply:
        """The item again, to be shown rendered."""
        self._refresh()
        if not self._is_here(item_id):
            return DisputeReply(NOT_HERE, refused=True, suspect=True)
        return DisputeReply("", rendered=blind_item(self._db, item_id).item)

    def _overtaken(
        self, adjudicator: str, standing: Adjudication, *, decided: bool
    ) -> DisputeReply:
        """Decided meanwhile: show that, and let the person decide."""
        who = "you" if standing.adjudicator == adjudicator else standing.adjudicator
        name = category_name(standing.category, self.rubric)
        return DisputeReply(
            f"Not stored yet: {who} decided this item meanwhile as “{name}”. Read why; deciding "
            "again takes the place of that.",
            refused=True,
            screen=self._show(adjudicator, standing.item_id, decided=decided),
        )

    def _another_rubric(self, adjudicator: str) -> DisputeReply:
        return replace(
            self.open(adjudicator, "", decided=False),
            message=f"Not stored: rubric {self.rubric.version} has come into force.",
            refused=True,
        )

    def _show(self, adjudicator: str, item_id: str | None, *, decided: bool) -> DisputeScreen:
        screen = DisputeScreen(
            adjudicator=adjudicator,
            rubric=self.rubric,
            in_decided=decided,
            undecided=len(self._queue.undecided),
            decided=len(self._queue.decided),
        )
        if item_id is None:
            return screen
        version = self.rubric.version
        said = annotations_of_item(self._db, item_id, version)
        return replace(
            screen,
            position=position(self._list(decided), item_id, place_of_their_own(adjudicator)),
            item=blind_item(self._db, item_id).item,
            dispute=labels_given(self._db, self.rubric, item_id),
            notes=tuple(annotation.note for annotation in said if annotation.note.strip()),
            discussion=tuple(discussion_of(self._db, item_id, version)),
            decision=current_adjudication(self._db, item_id, version),
        )

    def _refresh(self) -> None:
        _ = self.rubric  # takes up one that was published
        self._queue.refresh()

    def _list(self, decided: bool) -> list[str]:
        return self._queue.decided if decided else self._queue.undecided

    def _is_here(self, item_id: str) -> bool:
        lists = (self._queue.undecided, self._queue.decided)
        return any(position(ids, item_id, "") is not None for ids in lists)
