"""Requests and answers as files, for any runner that takes the lines of the Batch API."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from generation.database import readable_refusals
from generation.study import Study
from judge.batch.collect import keeper
from judge.batch.lines import BatchAsk, batch_ask, read_result, request_line
from judge.batch.submit import chat_judge
from judge.batch.tally import Collector, Tally
from judge.chat_judge import ChatJudge
from judge.config import JudgeConfig
from judge.instrument import Instrument, choose_instrument
from judge.judge import Judge
from judge.ledger import StudyLedger
from judge.reply import Reply
from judge.server.endpoint import DEFAULT_BASE_URL
from judge.store import JudgmentStore, open_study
from rubrics import InputError


@dataclass(frozen=True)
class Written:
    """A file of requests; no file is written where nothing is waiting."""

    judge_id: str
    model: str
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


def offline_instrument(config: JudgeConfig, study: Study) -> Instrument:
    """The instrument of this config, which need not say where a server is: none is asked.

    Raises InputError as `choose_instrument` does, and for the lexical baseline.
    """
    instrument = choose_instrument(
        replace(config, base_url=config.base_url or DEFAULT_BASE_URL), study
    )
    chat_judge(instrument)
    return instrument


def write(study: Study, instrument: Instrument, path: Path) -> Written:
    """Write a request for everything that waits; nothing is recorded, for nobody is paid.

    Raises InputError for a file that is there already, and a study that is missing or empty.
    """
    with open_study(study) as database:
        chat = _agreed(database, study, instrument)
        JudgmentStore(database).refuse_drift(chat.prompt)
        waiting = _ledger(database, study, instrument).waiting(chat.judge)
        lines = (
            request_line(
                batch_ask(chat.judge.judge_id, ask.item_hash, ask.run_index).custom_id,
                chat.request(ask),
            )
            for ask in waiting
        )
        requests = _write_new(path, lines)
    return Written(chat.judge.judge_id, chat.model, requests)


def read(study: Study, instrument: Instrument, path: Path) -> Read:
    """Store the answers in a file, in whatever order, under the judge that they were asked of.

    Raises InputError for a file that cannot be read, and a study that is missing or empty.
    """
    chat = chat_judge(instrument)
    with open_study(study) as database:
        agreed = _agreed(database, study, instrument)
        judges = {j.judge_id: j for j in (agreed.judge, chat.judge)}
        store = JudgmentStore(database)
        keep, recorded = keeper(store), []

        def keep_all(ask: BatchAsk, reply: Reply) -> bool:
            if ask.judge_id not in recorded:
                store.add_judge(judges[ask.judge_id], chat.prompt)
                recorded.append(ask.judge_id)
            return keep(ask, reply)

        asks = {ask.custom_id: ask for ask in _asks(database, judges, instrument.runs)}
        collector = Collector(asks, keep_all)
        for line in _lines(path):
            collector.add(read_result(line, chat.rubric, chat.endpoint.without_key))
        judge = judges[recorded[0]] if recorded else agreed.judge
        waiting = sum(1 for _ask in _ledger(database, study, instrument).waiting(judge))
    return Read(chat.model, chat.rubric.version, collector.tally(), waiting)


def _agreed(database: Database, study: Study, instrument: Instrument) -> ChatJudge:
    """With the parameters that a server of this model took, or else the wanted ones.

    Log-probabilities only let us look on, and a runner that lacks them may refuse everything.
    """
    chat = chat_judge(instrument)
    known = _ledger(database, study, instrument).agreed(chat.model, chat.parameters)
    return replace(chat, parameters=known or replace(chat.parameters, logprobs=False))


def _ledger(database: Database, study: Study, instrument: Instrument) -> StudyLedger:
    prompt, runs = instrument.labeller.prompt, instrument.runs
    return StudyLedger(database, study.pipeline, prompt, runs, lambda *_: None)


def _asks(database: Database, judges: dict[str, Judge], runs: int) -> Iterator[BatchAsk]:
    """Everything that these judges may have been asked of this study, judged or not."""
    for (item_hash,) in database.conn.execute("SELECT DISTINCT item_hash FROM turns"):
        for judge_id in judges:
            for run in range(runs):
                yield batch_ask(judge_id, item_hash, run)


def _lines(path: Path) -> Iterator[bytes]:
    with readable_refusals(path), path.open("rb") as file:
        yield from (line for line in file if line.strip())


def _write_new(path: Path, lines: Iterator[bytes]) -> int:
    """Write the lines to a file that is not there yet; a part of one is not left behind."""
    first = next(lines, None)
    if first is None:
        return 0
    count = 1
    with readable_refusals(path):
        try:
            file = path.open("xb")
        except FileExistsError:
            raise InputError(f"{path} is there already; name a file that is not") from None
        try:
            with file:
                file.write(first)
                for line in lines:
                    file.write(line)
                    count += 1
        except BaseException:
            path.unlink(missing_ok=True)
            raise
    return count
