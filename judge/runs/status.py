"""What became of every turn of a study under each of its judges."""

from dataclasses import asdict, dataclass
from typing import Any

from sqlite_utils import Database

from generation.store import TurnStore
from judge.judge import Judge
from judge.runs.outcomes import Outcomes, outcomes_of
from judge.store import JudgmentStore


@dataclass(frozen=True)
class RunStatus:
    """One run of a judge. Counts are of turns, equal ones each, and add up to all of them."""

    run: int
    outcomes: Outcomes
    in_batch: int
    waiting: int

    def as_dict(self) -> dict[str, Any]:
        return {
            "run": self.run,
            "labels": dict(sorted(self.outcomes.labels.items())),
            "invalid": dict(sorted(self.outcomes.invalid.items())),
            "in_batch": self.in_batch,
            "waiting": self.waiting,
        }


@dataclass(frozen=True)
class Tokens:
    """What the kept verdicts took; `unknown` counts those of which the server did not say."""

    prompt: int
    cached: int
    completion: int
    unknown: int


@dataclass(frozen=True)
class JudgeStatus:
    judge_id: str
    judge: Judge
    template: str
    runs: tuple[RunStatus, ...]
    tokens: Tokens

    def as_dict(self) -> dict[str, Any]:
        return {
            "judge_id": self.judge_id,
            "model": self.judge.model,
            "parameters": self.judge.parameters,
            "rubric_version": self.judge.rubric_version,
            "prompt": self.template,
            "runs": [run.as_dict() for run in self.runs],
            "tokens": asdict(self.tokens),
        }


@dataclass(frozen=True)
class Status:
    turns: int
    items: int
    judges: tuple[JudgeStatus, ...]
    open_batches: int

    def as_dict(self) -> dict[str, Any]:
        return {
            "turns": self.turns,
            "items": self.items,
            "open_batches": self.open_batches,
            "judges": [judge.as_dict() for judge in self.judges],
        }


def study_status(database: Database) -> Status:
    """The status of a study, as of one moment."""
    with database.atomic():
        turns = TurnStore(database)
        store = JudgmentStore(database)
        judges = [row["judge_id"] for row in database.query(_JUDGES)]
        return Status(
            turns.count(),
            turns.item_count(),
            tuple(_judge_status(database, store, judge_id) for judge_id in judges),
            database["batches"].count_where("closed_at IS NULL"),
        )


def _judge_status(database: Database, store: JudgmentStore, judge_id: str) -> JudgeStatus:
    judge = store.judge(judge_id)
    last = database.conn.execute(
        """SELECT max(run_index) FROM (
           SELECT run_index FROM judgments WHERE judge_id = :judge UNION ALL
           SELECT run_index FROM batch_asks WHERE judge_id = :judge)""",
        {"judge": judge_id},
    ).fetchone()[0]
    tokens = database.conn.execute(_TOKENS, [judge_id]).fetchone()
    return JudgeStatus(
        judge_id,
        judge,
        store.prompt(judge.prompt_hash).template,
        tuple(_run_status(database, judge_id, run) for run in range((last or 0) + 1)),
        Tokens(*tokens),
    )


def _run_status(database: Database, judge_id: str, run: int) -> RunStatus:
    key = {"judge": judge_id, "run": run}
    judged = outcomes_of(database.conn.execute(_JUDGED_TURNS, key))
    unjudged = dict(database.conn.execute(_UNJUDGED_TURNS, key).fetchall())
    return RunStatus(run, judged, unjudged.get(1, 0), unjudged.get(0, 0))


_JUDGES = "SELECT judge_id FROM judges ORDER BY rubric_version, model, first_used_at, judge_id"

_TOKENS = """
    SELECT coalesce(sum(prompt_tokens), 0), coalesce(sum(cached_tokens), 0),
           coalesce(sum(completion_tokens), 0), count(*) - count(prompt_tokens)
    FROM judgments WHERE judge_id = ?"""

_JUDGED_TURNS = """
    SELECT label, invalid_reason, count(*) FROM turns JOIN judgments USING (item_hash)
    WHERE judge_id = :judge AND run_index = :run GROUP BY label, invalid_reason"""

_UNJUDGED_TURNS = """
    SELECT EXISTS (
        SELECT 1 FROM batch_asks JOIN batches USING (batch_id)
        WHERE batch_asks.judge_id = :judge AND batch_asks.run_index = :run
        AND batch_asks.item_hash = turns.item_hash AND closed_at IS NULL) AS in_batch, count(*)
    FROM turns
    WHERE NOT EXISTS (
        SELECT 1 FROM judgments WHERE judge_id = :judge AND run_index = :run
        AND judgments.item_hash = turns.item_hash)
    GROUP BY in_batch"""
