"""How the open batches of a study stand, by their server."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from sqlite_utils import Database

from generation.study import Study
from judge.batch.leftovers import settle_leftovers
from judge.batch.record import Record
from judge.batch.server import BatchServer, Unknown, batch_server
from judge.batch.store import SUBMITTING, Batch, BatchStore
from judge.server.endpoint import find_endpoint
from judge.store import JudgmentStore, open_pipeline

FIRST_POLL_SECONDS = 5.0
LONGEST_POLL_SECONDS = 60.0
POLL_GROWTH = 1.5

Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True)
class BatchStatus:
    """An open batch and its server's record, where there is one to be had.

    There is none of a batch that is `foreign`, submitted to another server, of one that is being
    submitted, and of one that its server does not know: `fault` says so.
    """

    batch: Batch
    record: Record | None = None
    foreign: bool = False
    fault: str | None = None

    @property
    def ended(self) -> bool:
        return self.record is not None and self.record.ended

    @property
    def running(self) -> bool:
        """Whether there is something to wait for."""
        return not (self.ended or self.foreign or self.fault)

    def as_dict(self) -> dict[str, Any]:
        record = self.record
        return {
            **vars(self.batch),
            "total": record and record.total,
            "completed": record and record.completed,
            "failed": record and record.failed,
            "ended": self.ended,
            "other_server": self.foreign,
            "fault": self.fault,
        }


@contextmanager
def opened(study: Study) -> Iterator[Database]:
    """The study's pipeline.db; raises InputError when it is missing."""
    database = open_pipeline(study.pipeline)
    try:
        yield database
    finally:
        database.close()


def batch_status(
    study: Study,
    base_url: str | None,
    *,
    wait: bool = False,
    told: Callable[[list[BatchStatus]], None] = lambda statuses: None,
    sleep: Sleep = asyncio.sleep,
) -> list[BatchStatus]:
    """Every open batch; with `wait` as they stand when those of this server have ended.

    `told` hears of each look. Raises InputError when the server cannot be asked.
    """

    async def watch() -> list[BatchStatus]:
        pause = FIRST_POLL_SECONDS
        async with batch_server(find_endpoint(base_url)) as server:
            while True:
                found = await look(study, database, server)
                told(found)
                if not (wait and any(one.running for one in found)):
                    return found
                await sleep(pause)
                pause = min(pause * POLL_GROWTH, LONGEST_POLL_SECONDS)

    with opened(study) as database:
        return asyncio.run(watch()) if BatchStore(database).open_batches() else []


async def look(study: Study, database: Database, server: BatchServer) -> list[BatchStatus]:
    """One look at every open batch; what this server says of its own is stored."""
    store = BatchStore(database)
    await settle_leftovers(study, store, JudgmentStore(database), server)
    return [await _seen(store, batch, server) for batch in store.open_batches()]


async def _seen(store: BatchStore, batch: Batch, server: BatchServer) -> BatchStatus:
    if batch.server != server.url:
        return BatchStatus(batch, foreign=True)
    if batch.status == SUBMITTING:
        return BatchStatus(batch)
    try:
        record = await server.record(batch.batch_id)
    except Unknown as unknown:
        return BatchStatus(batch, fault=str(unknown))
    store.set_status(batch.batch_id, record.status)
    return BatchStatus(replace(batch, status=record.status), record)
