"""Batches of which it is not known whether the server accepted them: a run was cut off there."""

import shlex
import time
from contextlib import ExitStack
from datetime import datetime

from generation.study import Study
from judge.batch.server import BatchServer, Unknown
from judge.batch.store import SUBMITTING, Batch, BatchStore, IdTaken
from judge.runs.run_lock import run_lock
from judge.store import JudgmentStore
from rubrics import InputError

SETTLED_SECONDS = 60.0  # after which a list that lacks a batch is taken to be right
CLOCK_SKEW_SECONDS = 24 * 3600.0  # between a server's clock and ours


async def settle_leftovers(
    study: Study, store: BatchStore, judges: JudgmentStore, server: BatchServer
) -> dict[str, InputError]:
    """Settle every leftover of this server, save those that another process is submitting.

    Returns why, by batch_id, of those that stay open until somebody acts.
    """
    unsettled = {}
    for batch in store.open_batches():
        if is_leftover(batch, server):
            prompt_hash = judges.judge(batch.judge_id).prompt_hash
            with ExitStack() as held:
                try:
                    held.enter_context(run_lock(study, batch.model, prompt_hash))
                except InputError:
                    continue
                if why := await settle(store, batch, server):
                    unsettled[batch.batch_id] = why
    return unsettled


def is_leftover(batch: Batch, server: BatchServer) -> bool:
    return batch.status == SUBMITTING and batch.server == server.url


async def settle(store: BatchStore, batch: Batch, server: BatchServer) -> InputError | None:
    """Find the batch at its server by its token; without it, its asks are waiting again.

    A server's list may lag, so that a batch that was submitted just now stays as it is. So does
    one of a server that lists none; once its list would be taken to be right, that is returned,
    as Unknown. Returns IdTaken where another open batch has the id that is found.
    """
    submitted = datetime.fromisoformat(batch.submitted_at).timestamp()
    settled = time.time() - submitted >= SETTLED_SECONDS
    try:
        record = await server.with_token(batch.batch_id, since=submitted - CLOCK_SKEW_SECONDS)
    except Unknown as unknown:
        return unknown if settled else None
    if record:
        try:
            store.accepted(batch.batch_id, record.batch_id, record.status)
        except IdTaken as taken:
            return taken
    elif settled:
        store.forget(batch.batch_id)
    return None


def give_up(study: Study, batch: Batch | IdTaken) -> str:
    """What is left to do about a batch of which its server can tell nothing."""
    return f"give it up: judge batch forget {shlex.quote(batch.batch_id)}{study.option}"


def way_out(study: Study, batch: Batch, why: InputError) -> str:
    """What is left to do about a leftover that `settle` could not settle."""
    if isinstance(why, IdTaken):
        return make_way(study, why)
    return give_up(study, batch)


def make_way(study: Study, taken: IdTaken) -> str:
    return f"collect that one first, or {give_up(study, taken)}"
