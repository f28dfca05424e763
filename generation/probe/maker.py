"""An engine at work on a run: opened at the first missing row, all stored as it comes."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from generation.engines.engine import Engine
from generation.failed_row import FailedRow
from generation.probe.job import Job, outcomes
from generation.probe.row_store import RowStore, Sitting
from generation.probe.tally import Tally
from generation.turn import Answer, Run, Turn

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
        self.watch.stage(self.model, act, number, stage.planned - stage.waiting, stage.known)
        recorded = self.recorded | {"engine": engine.provenance()}
        sitting_id = self.store.start_sitting(self.run, act, recorded)
        begun = time.monotonic()
        batch: list[Answer | Turn | FailedRow] = []
        stored_at = begun

        def store() -> None:
            made = [row for row in batch if not isinstance(row, FailedRow)]
            tokens = sum(len(row.token_ids or ()) for row in made)
            stage.new += len(made)
            stage.failed += len(batch) - len(made)
            stage.output_tokens += tokens
            stage.seconds = time.monotonic() - begun
            done = Sitting(sitting_id, stage.new, stage.output_tokens, stage.seconds)
            self.store.add(self.run, batch, done)
            self.watch.rows(len(batch), tokens)
            batch.clear()

        try:
            for outcome in outcomes(engine, jobs):
                batch.append(outcome)
                if len(batch) >= STORED_AT_ONCE or time.monotonic() - stored_at > STORED_EVERY:
                    store()
                    stored_at = time.monotonic()
        finally:
            store()

    def close(self) -> None:
        if self._engine:
            self._engine.close()
            self._engine = None

    def _opened(self) -> Engine:
        if self._engine is None:
            self._engine = self.open_engine()
        return self._engine
