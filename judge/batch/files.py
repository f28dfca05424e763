"""Requests and answers as files, for any runner that takes the lines of the Batch API."""

import itertools
import shutil
import tempfile
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from sqlite_utils import Database

from generation.database import readable_refusals
from generation.study import Study
from judge.batch.instrument import NOWHERE, chat_judge
from judge.batch.lines import BatchAsk, batch_ask, is_request, read_result, request_line, result_id
from judge.batch.tally import Collector, Tally, keeper
from judge.chat_judge import ChatJudge
from judge.instrument import Instrument
from judge.judge import Judge
from judge.reply import Reply
from judge.runs.ledger import StudyLedger
from judge.runs.run import Say, preflight
from judge.store import JudgmentStore, open_study
from rubrics import InputError


@dataclass(frozen=True)
class Written:
    """A file of requests; no file is written where nothing is waiting."""

    judge_id: str
    model: str
    prompt: str
    requests: int

    def as_dict(self) -> dict[str, Any]:
        return dict(vars(self))


@dataclass(frozen=True)
class Read:
    """What a file of answers brought; `waiting` of all that is to be asked has no verdict yet."""

    model: str
    rubric_version: str
    tally: Tally
    waiting: int

    def as_dict(self) -> dict[str, Any]:
        # Nothing says which of the asks a file was to answer, so that none can be missing.
        counts = {k: v for k, v in self.tally.as_dict().items() if k not in ("asked", "missing")}
        return {"model": self.model, **counts, "waiting": self.waiting}


def write(study: Study, instrument: Instrument, path: Path, say: Say) -> Written:
    """Write a request for everything that waits, and record the judge: its prompt is used now.

    Raises InputError as a run does, and for a file that is there already.
    """
    with open_study(study) as database:
        preflight(study, database, instrument, say)
        ledger = _ledger(database, study, instrument, say)
        chat = _agreed(ledger, chat_judge(instrument, study))
        judge_id, requests = chat.judge.judge_id, 0
        waiting = ledger.waiting(chat.judge)
        first = next(waiting, None)
        if first is not None:
            with _new_file(path) as file:
                JudgmentStore(database).add_judge(chat.judge, chat.prompt)
                for ask in itertools.chain([first], waiting):
                    named = batch_ask(judge_id, ask.item_hash, ask.run_index)
                    file.write(request_line(named.custom_id, chat.request(ask)))
                    requests += 1
    return Written(judge_id, chat.model, chat.prompt.template, requests)


def read(study: Study, instrument: Instrument, path: Path, say: Say) -> Read:
    """Store the answers in a file, in whatever order, under the judge that they were asked of.

    That may be any judge of this model and prompt. Raises InputError for a file that cannot be
    read and, where this study has never asked one, as a run does.
    """
    chat = chat_judge(instrument, study)
    with open_study(study) as database, _opened(path) as file:
        ledger = _ledger(database, study, instrument, say)
        agreed = _agreed(ledger, chat)
        store = JudgmentStore(database)
        asked = _asked(database, store, chat)
        judges = {judge.judge_id: judge for judge in (agreed.judge, chat.judge, *asked)}
        if not asked:
            preflight(study, database, instrument, say)
        keep, recorded = keeper(store), []

        def keep_all(ask: BatchAsk, reply: Reply) -> bool:
            if ask.judge_id not in recorded:
                store.add_judge(judges[ask.judge_id], chat.prompt)
                recorded.append(ask.judge_id)
            return keep(ask, reply)

        _refuse_requests(next(_lines(file, path), b""), path)
        ids = {result_id(line) for line in _lines(file, path)}
        collector = Collector(_asks(database, judges, instrument.runs, ids), keep_all)
        for line in _lines(file, path):
            collector.add(read_result(line, chat.rubric, chat.endpoint.without_key))
        judge = judges[recorded[0]] if recorded else agreed.judge
        waiting = ledger.waiting_count(judge)
    return Read(chat.model, chat.rubric.version, collector.tally(), waiting)


def _refuse_requests(line: bytes, path: Path) -> None:
    if is_request(line):
        raise InputError(f"{path} holds requests, not answers; give the file that a runner wrote")


def _agreed(ledger: StudyLedger, chat: ChatJudge) -> ChatJudge:
    """With the parameters that its server took, or any if none is named, or else the wanted ones.

    Log-probabilities only let us look on, and a runner that lacks them may refuse everything.
    """
    server = None if chat.endpoint.base_url == NOWHERE else chat.endpoint.shown_url
    known = ledger.agreed(chat.model, chat.parameters, server)
    return replace(chat, parameters=known or replace(chat.parameters, logprobs=False))


def _ledger(database: Database, study: Study, instrument: Instrument, say: Say) -> StudyLedger:
    prompt, runs = instrument.labeller.prompt, instrument.runs
    return StudyLedger(database, study.pipeline, prompt, runs, lambda _judge: None, say)


def _asked(database: Database, store: JudgmentStore, chat: ChatJudge) -> list[Judge]:
    """The judges of this model and prompt that the study has asked, by whatever way."""
    rows = database["judges"].rows_where(
        "model = ? AND prompt_hash = ?", [chat.model, chat.prompt.prompt_hash]
    )
    return [store.judge(row["judge_id"]) for row in rows]


def _asks(
    database: Database, judges: Iterable[str], runs: int, ids: Collection[str | None]
) -> dict[str, BatchAsk]:
    """What these judges may have been asked of this study, judged or not, of these custom_ids."""
    asks = (
        batch_ask(judge_id, item_hash, run)
        for (item_hash,) in database.conn.execute("SELECT DISTINCT item_hash FROM turns")
        for judge_id in judges
        for run in range(runs)
    )
    return {ask.custom_id: ask for ask in asks if ask.custom_id in ids}


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """A file that can be read twice, as a pipe cannot: its content is copied first."""
    with readable_refusals(path):
        file = path.open("rb")
    with file:
        if file.seekable():
            yield file
            return
        with tempfile.TemporaryFile() as copy:
            with readable_refusals(path):
                shutil.copyfileobj(file, copy)
            yield copy


def _lines(file: BinaryIO, path: Path) -> Iterator[bytes]:
    with readable_refusals(path):
        file.seek(0)
        yield from (line for line in file if line.strip())


@contextmanager
def _new_file(path: Path) -> Iterator[BinaryIO]:
    """A file that is not there yet; a part of one is not left behind."""
    with readable_refusals(path):
        try:
            file = path.open("xb")
        except FileExistsError:
            raise InputError(f"{path} is there already; name a file that is not") from None
    try:
        with file:
            yield file
    except BaseException as error:
        path.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise InputError(f"{path}: {error.strerror or error}") from error
        raise
