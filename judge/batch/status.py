"""How the open batches of a study stand, by their server."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from sqlite_utils import Database

from generation.study import Study
from judge.batch.leftovers import settle_leftovers, way_out
from judge.batch.record import Record
from judge.batch.server import BatchServer, Unknown, batch_server
from judge.batch.store import SUBMITTING, Batch, BatchStore, IdTaken
from judge.server.endpoint import Endpoint, find_endpoint
from judge.store import JudgmentStore, open_study
from rubrics import InputError

FIRST_POLL_SECONDS = 5.0
LONGEST_POLL_SECONDS = 60.0
POLL_GROWTH = 1.5

Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True)
class BatchStatus:
    """An open batch and its server's record, where there is one to be had.

    There is none of a batch that is `foreign`, submitted to another server, of one that is being
    submitted, and of one of which its server can tell nothing: `fault` says so. It also says
    where the files of a batch that has ended lack results.
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
        async with batch_server(endpoint) as server:
            while True:
                found = await look(study, database, server)
                told(found)
                if not (wait and any(one.running for one in found)):
                    return found
                await sleep(pause)
                pause = min(pause * POLL_GROWTH, LONGEST_POLL_SECONDS)

    with open_study(study) as database:
        batches = BatchStore(database).open_batches()
        if not batches:
            return []
        endpoint = batch_endpoint(batches, base_url)
        return asyncio.run(watch())


def batch_endpoint(batches: list[Batch], base_url: str | None) -> Endpoint:
    """The server named, or the one that all these batches are at.

    Raises InputError as `find_endpoint` does.
    """
    servers = {batch.server for batch in batches}
    if base_url is None and "OPENAI_BASE_URL" not in os.environ and len(servers) == 1:
        (base_url,) = servers
    return find_endpoint(base_url)


async def look(study: Study, database: Database, server: BatchServer) -> list[BatchStatus]:
    """One look at every open batch; what this server says of its own is stored."""
    store = BatchStore(database)
    unsettled = await settle_leftovers(study, store, JudgmentStore(database), server)
    found = []
    for batch in store.open_batches():
        if why := unsettled.get(batch.batch_id):
            found.append(lost(study, batch, server, why))
            continue
        try:
            found.append(await _seen(store, batch, server))
        except Unknown as unknown:
            found.append(lost(study, batch, server, unknown))
    return found


def lost(study: Study, batch: Batch, server: BatchServer, why: InputError) -> BatchStatus:
    """An open batch of which its server can tell nothing, or nothing that can be stored yet."""
    known = isinstance(why, IdTaken)
    check = "" if known else f"check --base-url and {server.endpoint.key_name}, or "
    return BatchStatus(batch, fault=f"{why}; {check}{way_out(study, batch, why)}")


async def _seen(store: BatchStore, batch: Batch, server: BatchServer) -> BatchStatus:
    if batch.server != server.url:
        return BatchStatus(batch, foreign=True)
    if batch.status == SUBMITTING:
        return BatchStatus(batch)
    record = await server.record(batch.batch_id)
    store.set_status(batch.batch_id, record.status)
    return BatchStatus(replace(batch, status=record.status), record)
