"""Figures that are computed anew when labels.db changed, resampling beside the page.

Each look opens a connection of its own and ends its transaction before anything is computed:
nobody's save waits for a figure.
"""

import traceback
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from time import monotonic

from sqlite_utils import Database

from annotator.dashboard.figures import Figures, Resampled, figures, resampled
from annotator.dashboard.reading import StudyItems, read_study, rubric_to_show, study_items
from annotator.labels import open_labels
from generation.clock import now
from rubrics import Rubric

PATIENCE = 0.3  # seconds that a view waits for resampling, before it shows the last there is
# Times that computing took, for which the figures are left as they are while labels go on coming:
# the pages of those who label are served by the same processor.
REST = 10
STATE = """SELECT (SELECT max(event_id) FROM events), (SELECT count(*) FROM standing_events),
    (SELECT count(*) FROM items), (SELECT max(rowid) FROM displays),
    (SELECT max(gold_id) FROM gold), (SELECT count(*) FROM gold WHERE retired_at IS NULL),
    (SELECT count(*) FROM accounts), (SELECT count(*) FROM accounts WHERE disabled_at IS NULL),
    (SELECT count(*) FROM annotators), (SELECT max(refusal_id) FROM refusals),
    (SELECT max(attempt_id) FROM login_attempts), (SELECT max(answer_id) FROM training_answers),
    (SELECT group_concat(name || '=' || value) FROM settings)"""


@dataclass(frozen=True)
class Shown:
    """What there is to show. `fresh` is False while newer resampling runs, and of none yet.

    `defect` says that it failed.
    """

    figures: Figures
    resampled: Resampled | None
    fresh: bool
    defect: str | None = None


@dataclass
class _Entry:
    state: tuple | None = None
    rests_until: float = 0.0
    figures: Figures | None = None
    running: Future | None = None
    running_for: Figures | None = None
    resampled: Resampled | None = None
    defect: str | None = None


class FreshFigures:
    """The figures of one labels.db, by rubric version; may be asked from many threads."""

    def __init__(self, path: Path, rubric: Rubric) -> None:
        self._path = path
        self._rubric = rubric
        self._lock = Lock()
        self._entries: dict[str, _Entry] = {}
        self._items: tuple[tuple[int, str], StudyItems] | None = None
        # Threads of their own: each that ever computes keeps some memory for the next time.
        self._reader = ThreadPoolExecutor(max_workers=1, thread_name_prefix="figures")
        self._resampler = ThreadPoolExecutor(max_workers=1, thread_name_prefix="resampling")

    def get(self, version: str = "", *, at_once: bool = False, patience: float = PATIENCE) -> Shown:
        """Of this rubric version, or without one of that which annotators label under.

        `at_once` asks for those of this moment, however short ago the last were computed.

        Raises InputError for a version that nobody has used, and when labels.db cannot be read.
        """
        with self._lock, open_labels(self._path) as database:
            rubric = rubric_to_show(database, self._rubric, version)
            entry = self._entries.setdefault(rubric.version, _Entry())
            # The hour is part of it: time left and what counts as recent go on without labels.
            state = (now()[:13], database.conn.execute(STATE).fetchone())
            rested = at_once or monotonic() >= entry.rests_until
            if entry.figures is None or (entry.state != state and rested):
                began = monotonic()
                entry.figures = self._reader.submit(self._read, database, rubric).result()
                entry.state = state
                entry.rests_until = monotonic() + REST * (monotonic() - began)
            wanted = entry.figures
            if entry.running is None and entry.running_for is not wanted:
                entry.running_for = wanted
                entry.running = self._resampler.submit(resampled, wanted)
            running = entry.running
        if running is not None:
            wait_for([running], timeout=patience)
        with self._lock:
            self._take(entry)
            fresh = entry.running is None and entry.running_for is wanted
            return Shown(wanted, entry.resampled, fresh, entry.defect)

    def close(self) -> None:
        for threads in (self._reader, self._resampler):
            threads.shutdown(wait=True, cancel_futures=True)

    def _read(self, database: Database, rubric: Rubric) -> Figures:
        return figures(read_study(database, rubric, self._study_items(database)))

    def _take(self, entry: _Entry) -> None:
        if entry.running is None or not entry.running.done():
            return
        error = entry.running.exception()
        if error is None:
            entry.resampled, entry.defect = entry.running.result(), None
        else:  # a page that stays up and says so is of more use than none
            traceback.print_exception(error)
            entry.resampled = None
            entry.defect = f"a defect of followupeval ({type(error).__name__}: {error}); see stderr"
        entry.running = None

    def _study_items(self, database: Database) -> StudyItems:
        """Read once: items are only ever added."""
        known = database.conn.execute("SELECT count(*), max(rowid) FROM items").fetchone()
        if self._items is None or self._items[0] != known:
            self._items = (known, study_items(database))
        return self._items[1]
