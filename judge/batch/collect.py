"""Collect the batches that have ended: every line is a verdict, or counted with its reason."""

import asyncio
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlite_utils import Database

from generation.study import Study
from judge.batch.leftovers import give_up
from judge.batch.lines import read_result
from judge.batch.record import Record
from judge.batch.server import BatchServer, Unknown, batch_server
from judge.batch.status import BatchStatus, batch_endpoint, look, lost
from judge.batch.store import Batch, BatchStore
from judge.batch.tally import Collector, Tally, keeper
from judge.store import JudgmentStore, open_study
from rubrics import InputError, parse_rubric

SPOOLED_BYTES = 16_000_000  # of a result file in memory; a longer one is read from the disk


@dataclass(frozen=True)
class Collected:
    """A batch that is closed now; `waiting` of its asks have no verdict and are free again."""

    batch: Batch
    rubric_version: str
    tally: Tally
    waiting: int
    errors: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        return {
            "batch_id": self.batch.batch_id,
            "judge_id": self.batch.judge_id,
            "model": self.batch.model,
            "rubric_version": self.rubric_version,
            "status": self.batch.status,
            **self.tally.as_dict(),
            "waiting_again": self.waiting,
            "errors": list(self.errors),
        }


def collect(
    study: Study, base_url: str | None, told: Callable[[Collected], None]
) -> list[BatchStatus]:
    """Store the verdicts of every batch that has ended and close it; returns those still open.

    Verdicts are stored one by one and the batch is closed after its last one, so that a collect
    that was cut off is simply made again. So is one whose files lack results that the server
    counts, or are no results at all: that batch stays open, with a fault. Raises InputError when
    the server cannot be asked.
    """

    async def all_of_them() -> list[BatchStatus]:
        left = []
        async with batch_server(endpoint) as server:
            for found in await look(study, database, server):
                if found.record is None or not found.ended:
                    left.append(found)
                    continue
                try:
                    done = await _collected(study, database, server, found.batch, found.record)
                except Unknown as unknown:
                    left.append(lost(study, found.batch, server, unknown))
                    continue
                if isinstance(done, Collected):
                    told(done)
                else:
                    left.append(done)
        return left

    with open_study(study) as database:
        batches = BatchStore(database).open_batches()
        if not batches:
            return []
        endpoint = batch_endpoint(batches, base_url)
        return asyncio.run(all_of_them())


def forget(study: Study, batch_id: str) -> int:
    """Close an open batch without its verdicts; returns how many of its asks are waiting again.

    For one that its server has lost. Raises InputError when no batch of this id is open.
    """
    with open_study(study) as database:
        store = BatchStore(database)
        found = {batch.batch_id: batch for batch in store.open_batches()}
        if batch_id not in found:
            names = ", ".join(found) or "none"
            raise InputError(f"no open batch {batch_id!r} in {study.folder}; there are: {names}")
        return store.close(batch_id, found[batch_id].status)


async def _collected(
    study: Study, database: Database, server: BatchServer, batch: Batch, record: Record
) -> Collected | BatchStatus:
    store, judges = BatchStore(database), JudgmentStore(database)
    prompt = judges.prompt(judges.judge(batch.judge_id).prompt_hash)
    rubric = parse_rubric(prompt.rubric_text, source=f"rubric {prompt.rubric_version}")
    collector = Collector(store.asks(batch.batch_id), keeper(judges))
    for file_id in record.files:
        with tempfile.SpooledTemporaryFile(SPOOLED_BYTES) as file:
            await server.download(file_id, file)
            file.seek(0)
            for line in file:
                if line.strip():
                    collector.add(read_result(line, rubric, server.endpoint.without_key))
    tally = collector.tally()
    if lacking := _lacking(record, tally):
        fault = (
            f"{batch.batch_id} stays open, as {lacking}; what they held is stored: collect again, "
            f"or {give_up(study, batch)}"
        )
        return BatchStatus(batch, record, fault=fault)
    waiting = store.close(batch.batch_id, record.status)
    return Collected(batch, rubric.version, tally, waiting, record.errors)


def _lacking(record: Record, tally: Tally) -> str | None:
    """What its files lack, by what the server says itself; closing it would pay for that again.

    A batch that failed its validation was never run, so that its failed requests need no lines.
    """
    failed = 0 if record.status == "failed" else record.failed or 0
    counted, found = (record.completed or 0) + failed, tally.recognised
    if counted > found:
        return f"its server counts {counted} results and its files hold {found}"
    if record.status == "completed" and not found:
        return "its server says completed and its files hold no result"
    return None
