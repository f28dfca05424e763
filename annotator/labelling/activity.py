"""Active time: how long somebody worked on an item, from the page's own record of it.

The record is kept as it came; what is counted from it can be counted otherwise later.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from sqlite_utils import Database

from generation.database import keep

IDLE_MS = 60_000  # reading is work, yet nobody reads this long without touching anything
RECORD_LIMIT = 2_000  # moments; a page sends one every few seconds at most
KINDS = ("shown", "input", "hidden", "visible", "saved")


@dataclass(frozen=True)
class Moment:
    """Something that happened on the page, `at_ms` after the item was shown."""

    kind: str
    at_ms: int


def active_ms(record: Sequence[Moment]) -> int | None:
    """Milliseconds of work in a record, oldest first; None where there is none.

    A gap counts in full up to IDLE_MS, and not at all while the page was hidden.

    >>> active_ms([Moment("shown", 0), Moment("hidden", 4_000), Moment("visible", 90_000),
    ...            Moment("saved", 91_000)])
    5000
    """
    if not record:
        return None
    spent, visible = 0, True
    for before, after in pairwise(record):
        visible = before.kind != "hidden" and (visible or before.kind == "visible")
        if visible:
            spent += min(max(after.at_ms - before.at_ms, 0), IDLE_MS)
    return spent


def keep_activity(database: Database, nonce: str, record: Sequence[Moment]) -> None:
    """Keep the record of a display as the page sent it."""
    if record:
        moments = json.dumps([[moment.kind, moment.at_ms] for moment in record])
        keep(database, "activity", {"nonce": nonce, "record": moments})
