"""Claims: who gets which item and keeps it for how long, over one open labels.db.

All of it happens inside the caller's immediate transaction, so that no two people can find the
same last place free.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

from sqlite_utils import Database

from annotator.assignment.assigner import End, Progress, has_room, next_item, progress
from annotator.assignment.coverage import Coverage, OwnWork
from annotator.assignment.lease import drop_expired, held_by_others, hold, holds, let_go
from annotator.assignment.plan import Plan, stored_plan
from annotator.labels import study_seed
from rubrics import Rubric


class Claims:
    """Items for people under one rubric version, by the plan that is stored now."""

    def __init__(self, database: Database, rubric: Rubric, clock: Callable[[], str]) -> None:
        self._db = database
        self._now = clock
        self._covered = Coverage(database, rubric)

    @property
    def version(self) -> str:
        return self._covered.version

    @property
    def plan(self) -> Plan:
        return stored_plan(self._db)

    def progress(self, annotator: str) -> Progress:
        return progress(self._coverage(), annotator, self.plan)

    def next_item(self, annotator: str) -> str | End:
        """The id of the next item for this person, or why there is none; nothing is held yet."""
        held = held_by_others(self._db, annotator, self.version, at=self._now())
        coverage, seed = self._coverage(), study_seed(self._db)
        return next_item(coverage, annotator, self.plan, held, seed=seed)

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
        until = datetime.fromisoformat(at) + timedelta(seconds=plan.lease_seconds)
        until_text = until.isoformat(timespec="milliseconds")
        hold(self._db, annotator, item_id, self.version, until=until_text)

    def let_go(self, annotator: str, item_id: str) -> None:
        let_go(self._db, annotator, item_id, self.version)

    def _coverage(self) -> Coverage:
        self._covered.catch_up()
        return self._covered
