"""Claims: who gets which item and keeps it for how long, over one open labels.db.

All of it happens inside the caller's immediate transaction, so that no two people can find the
same last place free.
"""

from collections.abc import Callable

from sqlite_utils import Database

from annotator.assignment.assigner import End, Progress, has_room, next_item, progress
from annotator.assignment.coverage import Coverage, OwnWork
from annotator.assignment.lease import (
    drop_expired,
    held_by,
    held_by_others,
    hold,
    holds,
    let_go,
)
from annotator.assignment.plan import Plan, stored_plan
from annotator.labels import study_seed
from generation.clock import later
from rubrics import Rubric

TELL_EVERY = 10  # items of a person


class Claims:
    """Items for people under one rubric version, by the plan that is stored now."""

    def __init__(self, database: Database, rubric: Rubric, clock: Callable[[], str]) -> None:
        self._db = database
        self._now = clock
        self._covered = Coverage(database, rubric)
        self._told: dict[str, tuple[int, Progress]] = {}

    @property
    def version(self) -> str:
        return self._covered.version

    @property
    def plan(self) -> Plan:
        return stored_plan(self._db)

    def progress(self, annotator: str, *, at_the_end: bool = False) -> Progress:
        """How far the work is. The study's is told anew after every tenth item, and at the end.

        Gold and repeats do not count in it: told after each save, it would give them away.
        """
        plan = self.plan
        if plan.labels_per_item is None or at_the_end:
            return progress(self._coverage(), annotator, plan)
        tens = len(self.own(annotator).trail) // TELL_EVERY
        if self._told.get(annotator, (None,))[0] != tens:
            self._told[annotator] = (tens, progress(self._covered, annotator, plan))
        return self._told[annotator][1]

    def next_item(self, annotator: str) -> str | End:
        """The id of the next item for this person, or why there is none; nothing is held anew."""
        at, coverage, kinds = self._now(), self._coverage(), self.kinds(annotator)
        mine = held_by(self._db, annotator, self.version, at=at)
        if self.plan.labels_per_item and (left := [i for i in mine if i not in kinds]):
            return min(left)  # left to look at others, and still theirs
        held = held_by_others(self._db, annotator, self.version, at=at)
        return next_item(coverage, annotator, self.plan, held, seed=study_seed(self._db))

    def trail(self, annotator: str) -> list[str]:
        """The ids of what this person has done, in the order in which they first did it."""
        return [self._covered.ids[item] for item in self.own(annotator).trail]

    def kinds(self, annotator: str) -> dict[str, str]:
        """'label' or 'skip' by the id of what this person has done, in the order of the trail."""
        own = self.own(annotator)
        return {self._covered.ids[item]: own.kinds[item] for item in own.trail}

    def own(self, annotator: str) -> OwnWork:
        return self._coverage().own(annotator)

    def may_hold(self, annotator: str, item_id: str) -> bool:
        """Whether an item may be or stay with somebody: done before, held, or with room left."""
        coverage = self._coverage()
        if item_id not in coverage.number:
            return False
        if coverage.own(annotator).done[coverage.number[item_id]]:
            return True
        at = self._now()
        if holds(self._db, annotator, item_id, self.version, at=at):
            return True
        held = held_by_others(self._db, annotator, self.version, at=at)
        return has_room(coverage, item_id, self.plan, held)

    def hold(self, annotator: str, item_id: str) -> None:
        """Keep the item for this person for the time of a lease, where the plan has leases."""
        plan, at = self.plan, self._now()
        if plan.labels_per_item is None or item_id in self.kinds(annotator):
            return
        drop_expired(self._db, at=at)
        until = later(at, plan.lease_seconds)
        hold(self._db, annotator, item_id, self.version, until=until)

    def let_go(self, annotator: str, item_id: str) -> None:
        let_go(self._db, annotator, item_id, self.version)

    def _coverage(self) -> Coverage:
        self._covered.catch_up()
        return self._covered
