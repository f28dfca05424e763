"""Submit what a judge model has not been asked yet as batches, so that nothing is asked twice."""

import asyncio
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from sqlite_utils import Database

from generation.study import Study
from judge.batch.instrument import chat_judge
from judge.batch.leftovers import is_leftover, make_way, settle, way_out
from judge.batch.lines import (
    MAX_BYTES,
    MAX_REQUESTS,
    BatchAsk,
    BatchFile,
    batch_ask,
    packed,
    request_line,
)
from judge.batch.server import BatchServer, NotAccepted, batch_server
from judge.batch.store import Batch, BatchStore, IdTaken
from judge.chat_judge import ChatJudge
from judge.instrument import Instrument
from judge.runs.ledger import StudyLedger
from judge.runs.run import Say, preflight
from judge.runs.run_lock import run_lock
from judge.server.usage import estimated_usage
from judge.store import JudgmentStore, open_study
from rubrics import InputError


@dataclass(frozen=True)
class Submitted:
    """A batch that the server has accepted."""

    batch_id: str
    asked: int
    bytes: int


@dataclass(frozen=True)
class Submission:
    """`online` verdicts were had at once, in agreeing with the server; `held` by open batches.

    `prompt_tokens` is an estimate of what the `batches` take.
    """

    judge_id: str
    model: str
    server: str
    online: int
    batches: tuple[Submitted, ...]
    prompt_tokens: int
    held: int

    def as_dict(self) -> dict[str, Any]:
        return vars(self) | {"batches": [vars(batch) for batch in self.batches]}


def submit(
    study: Study, instrument: Instrument, say: Say, told: Callable[[Submitted], None]
) -> Submission:
    """Start as many batches as it takes; `told` of each as soon as the server has accepted it.

    Raises InputError as a run does, and when the server has no Batch API; what it has accepted
    until then stays.
    """
    chat = chat_judge(instrument, study)
    with open_study(study) as database:
        preflight(study, database, instrument, say)
        with run_lock(study, chat.model, chat.prompt.prompt_hash):
            submission = _Submission(study, database, chat, instrument.runs, say, told)
            return asyncio.run(submission.make())


class _Submission:
    """What the steps of one submission share."""

    def __init__(
        self,
        study: Study,
        database: Database,
        chat: ChatJudge,
        runs: int,
        say: Say,
        told: Callable[[Submitted], None],
    ) -> None:
        self._study = study
        self._chat = chat
        self._say = say
        self._told = told
        self._prompt_tokens = 0
        self._store = BatchStore(database)
        self._judges = JudgmentStore(database)
        self._ledger = StudyLedger(
            database, study.pipeline, chat.prompt, runs, lambda _judge: None, say
        )

    async def make(self) -> Submission:
        async with batch_server(self._chat.endpoint) as server:
            for batch in self._store.open_batches():
                if is_leftover(batch, server) and self._is_ours(batch):
                    why = await settle(self._store, batch, server)
                    if why:
                        self._say(f"warning: {why}; {way_out(self._study, batch, why)}")
            agreed = await self._chat.agree(server.client, self._ledger)
            judge = agreed.judge
            started = []
            for file in packed(self._lines(agreed), MAX_REQUESTS, MAX_BYTES):
                if not started:
                    self._judges.add_judge(judge, self._chat.prompt)
                started.append(await self._start(server, file))
                self._told(started[-1])
        held = sum(b.asked for b in self._store.open_batches() if b.judge_id == judge.judge_id)
        return Submission(
            judge.judge_id,
            judge.model,
            server.url,
            self._ledger.kept,
            tuple(started),
            self._prompt_tokens,
            held,
        )

    def _lines(self, agreed: ChatJudge) -> Iterator[tuple[BatchAsk, bytes]]:
        """Every ask that waits, with its request."""
        judge_id = agreed.judge.judge_id
        for ask in self._ledger.waiting(agreed.judge):
            named = batch_ask(judge_id, ask.item_hash, ask.run_index)
            body = agreed.request(ask)
            self._prompt_tokens += estimated_usage(body["messages"], 0).prompt_tokens
            yield named, request_line(named.custom_id, body)

    def _is_ours(self, batch: Batch) -> bool:
        """Whether it is under the lock that is held."""
        judge = self._judges.judge(batch.judge_id)
        ours = (self._chat.model, self._chat.prompt.prompt_hash)
        return (judge.model, judge.prompt_hash) == ours

    async def _start(self, server: BatchServer, file: BatchFile) -> Submitted:
        """Record the intent, start the batch, record its id; cut off at any point, nothing is lost.

        The server is told our token, by which the batch is found again.
        """
        token = f"followupeval-{uuid.uuid4().hex}"
        file_id = await server.upload(f"{token}.jsonl", file.data)
        self._store.intend(token, server.url, file.asks)
        try:
            record = await server.start(file_id, token)
        except NotAccepted:
            self._store.forget(token)
            raise
        try:
            self._store.accepted(token, record.batch_id, record.status)
        except IdTaken as taken:
            raise InputError(f"{taken}; {make_way(self._study, taken)}") from None
        return Submitted(record.batch_id, len(file.asks), file.size)
