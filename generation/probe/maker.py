"""An engine at work on a run: opened at the first missing row, all stored as it comes."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Lock, Thread
from typing import Any

from generation.engines.engine import Engine
from generation.failed_row import FailedRow
from generation.probe.job import Job, outcomes
from generation.probe.row_store import RowStore, Sitting
from generation.probe.tally import Tally
from generation.turn import Run

STORED_AT_ONCE = 256  # rows; with STORED_EVERY what a kill can lose at most
STORED_EVERY = 5.0  # seconds


class Watch:
    """Hears of progress; this one keeps it to itself."""

    def stage(self, model: str, act: str, number: int, total: int, done: int) -> None:
        """A stage begins: so many rows in all, so many of them stored already."""

    def rows(self, count: int, output_tokens: int) -> None:
        """So many rows more are stored."""


@dataclass
class Maker:
    """Makes jobs into stored rows. `recorded` goes with the engine into each sitting's record."""

    store: RowStore
    run: Run
    model: str
    open_engine: Callable[[], Engine]
    recorded: dict[str, Any]
    watch: Watch = field(default_factory=Watch)
    _engine: Engine | None = None

    def make(self, act: str, number: int, jobs: Iterable[Job], stage: Tally) -> None:
        """Send jobs through the engine and store what comes, also when it stops half-way."""
        engine = self._opened()
        self.watch.stage(
            self.model, act, number, stage.planned - stage.waiting - stage.unusable, stage.known
        )
        recorded = self.recorded | {"engine": engine.provenance()}
        sitting_id = self.store.start_sitting(self.run, act, recorded)
        begun, lock, batch = time.monotonic(), Lock(), []

        def store() -> None:
            with lock:
                made = [row for row in batch if not isinstance(row, FailedRow)]
                tokens = sum(len(row.token_ids or ()) for row in made)
                seconds = time.monotonic() - begun
                done = Sitting(
                    sitting_id, stage.new + len(made), stage.output_tokens + tokens, seconds
                )
                count = len(batch)
                self.store.add(self.run, batch, done)
                batch.clear()
                stage.new, stage.output_tokens, stage.seconds = (
                    done.rows, done.output_tokens, seconds,
                )  # fmt: skip
                stage.failed += count - len(made)
            self.watch.rows(count, tokens)

        with _called_every(STORED_EVERY, store):
            for outcome in outcomes(engine, jobs):
                with lock:
                    batch.append(outcome)
                if len(batch) >= STORED_AT_ONCE:
                    store()

    def close(self) -> None:
        if self._engine:
            self._engine.close()
            self._engine = None

    def _opened(self) -> Engine:
        if self._engine is None:
            self._engine = self.open_engine()
        return self._engine


@contextmanager
def _called_every(seconds: float, function: Callable[[], None]) -> Iterator[None]:
    """Call it every so often while the body runs, and once at the end, however that comes.

    An engine may be silent for minutes over one long row; what came before must not wait for it.
    """
    ended, failed = Event(), []

    def call() -> None:
        while not ended.wait(seconds):
            try:
                function()
            except Exception as error:  # raised again where somebody hears of it
                failed.append(error)
                return

    thread = Thread(target=call, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        if failed:
            raise failed[0]
        function()
