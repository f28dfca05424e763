"""What is labelled and what is open under one rubric version, in memory beside labels.db.

Nothing here is the truth: all of it is read from the store, and read on as the store grows. It
makes the next item of a study of 50,000 cost what it costs in one of 1,000.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from sqlite_utils import Database

from annotator.annotation import TAKEN_BACK, current_annotation
from annotator.assignment.worklist import work_list
from annotator.labels import item_ids, study_seed
from annotator.quality.repeats import repeated_items
from rubrics import Rubric

Numbers = NDArray[np.int32]
Mask = NDArray[np.bool_]


@dataclass
class OwnWork:
    """One annotator's part; items are numbers into `Coverage.ids`.

    `order` is their own order of all items, `done` tells what they labelled or skipped, `trail`
    in which order they first did, `kinds` whether 'label' or 'skip'.
    """

    order: Numbers
    done: Mask
    trail: list[int] = field(default_factory=list)
    kinds: dict[int, str] = field(default_factory=dict)

    def put(self, item: int, kind: str | None) -> None:
        """What stands for an item now; None once it was taken back."""
        if kind is None:
            self.kinds.pop(item, None)
            self.trail = [other for other in self.trail if other != item]
        else:
            if item not in self.kinds:
                self.trail.append(item)
            self.kinds[item] = kind
        self.done[item] = kind is not None


class Coverage:
    """Labels per item under a rubric version, and everybody's own work, as far as asked for.

    `labels` counts labels that stand, never leases. `stale` marks what was labelled under another
    version as something that this rubric does not say the meaning of. `twins` numbers items of
    equal text alike: those are an item and its silent repeats. Not safe for threads: the caller
    serialises.
    """

    def __init__(self, database: Database, rubric: Rubric) -> None:
        self._db = database
        self._rubric = rubric
        self.version = rubric.version
        self._load()

    def catch_up(self) -> None:
        """Read what was added to the store since, by whomever."""
        if self._size() != self._known_size:
            return self._load()
        rows = self._db.conn.execute(
            """SELECT event_id, annotator, item_id, rubric_version FROM events
               WHERE event_id > ? ORDER BY event_id""",
            [self._last_event],
        ).fetchall()
        for event_id, annotator, item_id, version in rows:
            if version == self.version:
                self._count(annotator, item_id)
            else:
                self.stale[self.number[item_id]] = self._is_stale(item_id)
            self._last_event = event_id

    def _count(self, annotator: str, item_id: str) -> None:
        item = self.number[item_id]
        self.labels[item] = self._db.conn.execute(
            """SELECT count(*) FROM standing_events JOIN events USING (event_id)
               WHERE standing_events.item_id = ? AND standing_events.rubric_version = ?
               AND kind = 'label'""",
            [item_id, self.version],
        ).fetchone()[0]
        if annotator in self._own:
            stands = current_annotation(self._db, annotator, item_id, self.version)
            gone = stands is None or stands.skip_reason == TAKEN_BACK
            self._own[annotator].put(item, None if gone else stands.kind)

    def _is_stale(self, item_id: str) -> bool:
        rows = self._db.conn.execute(
            """SELECT events.rubric_version, category FROM standing_events AS standing
               JOIN events USING (event_id) WHERE standing.item_id = ? AND kind = 'label'
               AND standing.rubric_version != ?""",
            [item_id, self.version],
        )
        return any(self._rubric.heir(version, category) is None for version, category in rows)

    def own(self, annotator: str) -> OwnWork:
        """This annotator's part, read from the store the first time."""
        if annotator not in self._own:
            order = work_list(self.ids, seed=self._seed, annotator=annotator)
            own = OwnWork(
                np.fromiter((self.number[item_id] for item_id in order), np.int32, len(order)),
                np.zeros(len(order), bool),
            )
            rows = self._db.conn.execute(
                """SELECT events.item_id, events.kind FROM standing_events AS standing
                   JOIN events USING (event_id)
                   WHERE standing.annotator = :who AND standing.rubric_version = :version
                   AND events.skip_reason IS NOT :gone
                   ORDER BY (SELECT min(event_id) FROM events AS first
                             WHERE first.annotator = :who AND first.rubric_version = :version
                             AND first.item_id = events.item_id)""",
                {"who": annotator, "version": self.version, "gone": TAKEN_BACK},
            )
            for item_id, kind in rows:
                if item_id in self.number:
                    own.put(self.number[item_id], kind)
            self._own[annotator] = own
        return self._own[annotator]

    @property
    def is_repeat(self) -> Mask:
        """Items that have the text of an earlier one."""
        return self.twins != np.arange(len(self.ids))

    def _load(self) -> None:
        self._own: dict[str, OwnWork] = {}
        self._known_size = self._size()
        self._last_event = self._newest_event()
        self._seed = study_seed(self._db)
        self.ids = sorted(item_ids(self._db))
        self.number = {item_id: n for n, item_id in enumerate(self.ids)}
        self.labels = np.zeros(len(self.ids), np.int32)
        rows = self._db.conn.execute(
            """SELECT item_id, count(*) FROM current_events
               WHERE rubric_version = ? AND kind = 'label' GROUP BY item_id""",
            [self.version],
        )
        for item_id, count in rows:
            if item_id in self.number:
                self.labels[self.number[item_id]] = count
        self.twins = self._twins()
        self.stale = np.zeros(len(self.ids), bool)
        rows = self._db.conn.execute(
            """SELECT DISTINCT item_id, rubric_version, category FROM current_events
               WHERE rubric_version != ? AND kind = 'label'""",
            [self.version],
        )
        for item_id, version, category in rows:
            if item_id in self.number and self._rubric.heir(version, category) is None:
                self.stale[self.number[item_id]] = True
        self.is_gold = np.zeros(len(self.ids), bool)
        rows = self._db.conn.execute(
            "SELECT item_id FROM gold WHERE rubric_version = ? AND retired_at IS NULL",
            [self.version],
        )
        self.is_gold[[self.number[item_id] for (item_id,) in rows]] = True

    def _twins(self) -> Numbers:
        twins = np.arange(len(self.ids), dtype=np.int32)
        for repeat, original in repeated_items(self._db).items():
            twins[self.number[repeat]] = self.number[original]
        return twins

    def _size(self) -> tuple[int, ...]:
        return tuple(
            self._db.conn.execute(
                """SELECT (SELECT count(*) FROM items), (SELECT count(*) FROM gold),
                   (SELECT count(*) FROM gold WHERE retired_at IS NULL)"""
            ).fetchone()
        )

    def _newest_event(self) -> int:
        return self._db.conn.execute("SELECT max(event_id) FROM events").fetchone()[0] or 0
