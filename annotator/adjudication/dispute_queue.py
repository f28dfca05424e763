"""The queue of a rubric version: which items are to decide, which are decided, and who is where."""

import json
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from sqlite_utils import Database

from annotator.adjudication.dispute import undecided, undecided_among
from rubrics import Rubric, fingerprint, short


class DisputeQueue:
    """Item ids in order, `undecided` and `decided`, as of the last `refresh`.

    Labels, decisions and requests are only ever added to the store, so that after the first time
    only items that have a new one are looked at. 50,000 items of three labels take most of a
    second at once.
    """

    def __init__(self, database: Database, rubric: Rubric) -> None:
        self.rubric = rubric
        self.undecided: list[str] = []
        self.decided: list[str] = []
        self._db = database
        self._seen: tuple[int, int, int] | None = None

    def refresh(self) -> None:
        """Take in what was added since."""
        # Read first: what comes in between is looked at twice rather than never.
        newest = self._newest()
        if newest == self._seen:
            return
        if self._seen is None:
            self.undecided = [dispute.item_id for dispute in undecided(self._db, self.rubric)]
            decided = self._decided_among(None)
        else:
            changed = self._changed_since(self._seen)
            waiting = undecided_among(self._db, self.rubric, changed)
            self.undecided = sorted({*self.undecided, *changed} - {*changed} | waiting)
            decided = {*self.decided} - {*changed} | self._decided_among(changed)
        self.decided = sorted(decided - {*self.undecided})
        self._seen = newest

    def _newest(self) -> tuple[int, int, int]:
        return self._db.conn.execute(
            """SELECT (SELECT coalesce(max(event_id), 0) FROM events),
                      (SELECT coalesce(max(adjudication_id), 0) FROM adjudications),
                      (SELECT coalesce(max(request_id), 0) FROM adjudication_requests)"""
        ).fetchone()

    def _changed_since(self, seen: tuple[int, int, int]) -> list[str]:
        rows = self._db.conn.execute(
            """SELECT item_id FROM events WHERE event_id > ?1 AND rubric_version = ?4
               UNION SELECT item_id FROM adjudications
               WHERE adjudication_id > ?2 AND rubric_version = ?4
               UNION SELECT item_id FROM adjudication_requests
               WHERE request_id > ?3 AND rubric_version = ?4""",
            [*seen, self.rubric.version],
        )
        return [row[0] for row in rows]

    def _decided_among(self, item_ids: list[str] | None) -> set[str]:
        within = "" if item_ids is None else "AND item_id IN (SELECT value FROM json_each(:items))"
        rows = self._db.conn.execute(
            f"SELECT DISTINCT item_id FROM adjudications WHERE rubric_version = :version {within}",
            {"version": self.rubric.version, "items": json.dumps(item_ids)},
        )
        return {row[0] for row in rows}


def place_of_their_own(adjudicator: str) -> str:
    """Where in the ring of ids a person begins: two at work at once do not meet at the first."""
    return short(fingerprint({"adjudicator": adjudicator}), 12)


def neighbour(ids: Sequence[str], item_id: str, by: int) -> str | None:
    """The next id after (`by` = 1) or before (-1) one that may have left the ring itself.

    >>> neighbour(["a", "c"], "b", 1), neighbour(["a", "c"], "c", 1), neighbour(["a", "c"], "b", -1)
    ('c', 'a', 'a')
    """
    if not ids:
        return None
    place = bisect_right(ids, item_id) if by > 0 else bisect_left(ids, item_id) - 1
    return ids[place % len(ids)]


def position(ids: Sequence[str], item_id: str, start: str) -> int | None:
    """The place of an id, counted from 1 at the first id from `start` on; None if it has left.

    >>> position(["a", "c", "e"], "a", "b")
    3
    """
    place = bisect_left(ids, item_id)
    if ids[place : place + 1] != [item_id]:
        return None
    return (place - bisect_left(ids, start)) % len(ids) + 1
