"""pipeline.db, the judge part: judge prompts, judges and their judgments."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from generation.clock import now
from generation.database import immediate, keep, open_database
from generation.migrations import generation_migrations
from generation.store import TurnStore
from generation.study import Study
from judge.judge import Judge
from judge.judgment import Judgment
from judge.migrations import judge_migrations
from judge.prompts.prompt import JudgePrompt
from judge.server.usage import Usage
from rubrics import InputError, canonical_json, short


@dataclass(frozen=True)
class StoredJudge:
    """A judge as stored, with how many items it has judged."""

    judge_id: str
    judge: Judge
    judged: int


def open_pipeline(path: Path, *, create: bool = False) -> Database:
    """pipeline.db with the generation and the judge tables; raises InputError if it cannot be.

    Used in a `with` statement, it is closed at the end.
    """
    return open_database(path, (generation_migrations, judge_migrations), create=create)


@contextmanager
def open_study(study: Study) -> Iterator[Database]:
    """The study's pipeline.db; raises InputError when it is missing or holds no turns."""
    with open_pipeline(study.pipeline) as database:
        if not TurnStore(database).count():
            raise InputError(f"{study.pipeline} holds no turns; add some first: generate example")
        yield database


class JudgmentStore:
    """Reads and writes the judge tables of an open pipeline.db."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def add_judge(self, judge: Judge, prompt: JudgePrompt) -> str:
        """Record the judge and its prompt at first use; returns the judge's id.

        Raises InputError when this study knows the rubric's version with another content.
        """
        with immediate(self._db):
            self.refuse_drift(prompt)
            keep(
                self._db,
                "judge_prompts",
                {
                    "prompt_hash": prompt.prompt_hash,
                    "template": prompt.template,
                    "rubric_version": prompt.rubric_version,
                    "rubric_hash": prompt.rubric_hash,
                    "rubric_text": prompt.rubric_text,
                    "text": prompt.text,
                    "first_used_at": now(),
                },
            )
            keep(
                self._db,
                "judges",
                {
                    "judge_id": judge.judge_id,
                    "model": judge.model,
                    "parameters": canonical_json(judge.parameters),
                    "rubric_version": judge.rubric_version,
                    "prompt_hash": judge.prompt_hash,
                    "first_used_at": now(),
                },
            )
        return judge.judge_id

    def add_judgment(
        self,
        judge_id: str,
        item_hash: str,
        judgment: Judgment,
        *,
        run_index: int = 0,
        usage: Usage | None = None,
        label_probabilities: dict[str, float] | None = None,
    ) -> bool:
        """Store one verdict; each is committed by itself, so that none is lost once paid for.

        An item that this judge has judged already in this run keeps its first verdict; says
        whether this one is it.
        """
        return keep(
            self._db,
            "judgments",
            {
                "judge_id": judge_id,
                "item_hash": item_hash,
                "run_index": run_index,
                "label": judgment.label,
                "sigma": judgment.sigma,
                "rationale": judgment.rationale,
                "invalid_reason": judgment.invalid_reason,
                "raw": judgment.raw,
                "judged_at": now(),
                "prompt_tokens": usage and usage.prompt_tokens,
                "cached_tokens": usage and usage.cached_tokens,
                "completion_tokens": usage and usage.completion_tokens,
                "label_probabilities": label_probabilities and canonical_json(label_probabilities),
            },
        )

    def refuse_drift(self, prompt: JudgePrompt) -> None:
        """Raises InputError when this study knows the rubric's version with another content."""
        drifted = self._db["judge_prompts"].count_where(
            "rubric_version = ? AND rubric_hash != ?", [prompt.rubric_version, prompt.rubric_hash]
        )
        if drifted:
            raise InputError(
                f"rubric {prompt.rubric_version} is not what it was when this study first used it "
                f"(now {short(prompt.rubric_hash)}); a rubric is never edited: give the changed "
                "text a new version"
            )

    def add_export(
        self, export_hash: str, folder: Path, judge_id: str, calibration: dict[str, Any]
    ) -> None:
        """Record an export at its first writing."""
        keep(
            self._db,
            "exports",
            {
                "export_hash": export_hash,
                "folder": str(folder),
                "judge_id": judge_id,
                "calibration": canonical_json(calibration),
                "exported_at": now(),
            },
        )

    def judges(self, rubric_version: str) -> list[StoredJudge]:
        """Judges of a rubric version, the one whose latest judgment is newest last."""
        rows = self._db.query(
            """SELECT judges.*, count(DISTINCT judgments.item_hash) AS judged
               FROM judges LEFT JOIN judgments USING (judge_id)
               WHERE rubric_version = ? GROUP BY judge_id
               ORDER BY max(judgments.judgment_id), judge_id""",
            [rubric_version],
        )
        return [StoredJudge(row["judge_id"], _judge(row), row["judged"]) for row in rows]

    def judge(self, judge_id: str) -> Judge:
        """The judge with this id; raises InputError when the study has none."""
        rows = list(self._db["judges"].rows_where("judge_id = ?", [judge_id]))
        if not rows:
            raise InputError(f"no judge {short(judge_id)} in this study; run one first: judge")
        return _judge(rows[0])

    def prompt(self, prompt_hash: str) -> JudgePrompt:
        row = self._db["judge_prompts"].get(prompt_hash)
        return JudgePrompt(
            row["template"],
            row["rubric_version"],
            row["rubric_hash"],
            row["rubric_text"],
            row["text"],
        )


def _judge(row: dict[str, Any]) -> Judge:
    return Judge(
        row["model"], json.loads(row["parameters"]), row["rubric_version"], row["prompt_hash"]
    )
