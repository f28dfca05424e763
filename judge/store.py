"""pipeline.db, the judge part: judge prompts, judges and their judgments."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sqlite_utils import Database

from generation.database import open_database
from generation.migrations import generation_migrations
from judge.judgment import Judge, Judgment
from judge.migrations import judge_migrations
from rubrics import canonical_json, fingerprint


@dataclass(frozen=True)
class StoredJudge:
    """A judge as stored, with how many items it has judged."""

    judge_id: str
    judge: Judge
    judged: int


@dataclass(frozen=True)
class JudgePrompt:
    """A judge prompt as rendered from template × rubric; `{{messages}}`-like parts still open.

    `rubric_text` is the rubric's TOML, kept so that an export never depends on the package.
    """

    template: str
    rubric_version: str
    rubric_hash: str
    rubric_text: str
    text: str

    @property
    def prompt_hash(self) -> str:
        return fingerprint({"text": self.text, "rubric": self.rubric_hash})


def open_pipeline(path: Path, *, create: bool = False) -> Database:
    """pipeline.db with the generation and the judge tables; raises InputError if it cannot be."""
    return open_database(path, (generation_migrations, judge_migrations), create=create)


class JudgmentStore:
    """Reads and writes the judge tables of an open pipeline.db."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def add_judge(self, judge: Judge, prompt: JudgePrompt) -> str:
        """Record the judge and its prompt at first use; returns the judge's id."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with self._db.atomic():
            self._db["judge_prompts"].insert(
                {
                    "prompt_hash": prompt.prompt_hash,
                    "template": prompt.template,
                    "rubric_version": prompt.rubric_version,
                    "rubric_hash": prompt.rubric_hash,
                    "rubric_text": prompt.rubric_text,
                    "text": prompt.text,
                    "first_used_at": now,
                },
                ignore=True,
            )
            self._db["judges"].insert(
                {
                    "judge_id": judge.judge_id,
                    "model": judge.model,
                    "parameters": canonical_json(judge.parameters),
                    "rubric_version": judge.rubric_version,
                    "prompt_hash": judge.prompt_hash,
                    "first_used_at": now,
                },
                ignore=True,
            )
        return judge.judge_id

    def add_judgment(
        self, judge_id: str, item_hash: str, judgment: Judgment, *, run_index: int = 0
    ) -> None:
        """Store one verdict; each is committed by itself, so that none is lost once paid for."""
        self.add_judgments(judge_id, [(item_hash, judgment)], run_index=run_index)

    def add_judgments(
        self, judge_id: str, judgments: Iterable[tuple[str, Judgment]], *, run_index: int = 0
    ) -> None:
        """Store (item hash, judgment) pairs in one transaction."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with self._db.atomic():
            self._db["judgments"].insert_all(
                {
                    "judge_id": judge_id,
                    "item_hash": item_hash,
                    "run_index": run_index,
                    "label": judgment.label,
                    "sigma": judgment.sigma,
                    "rationale": judgment.rationale,
                    "invalid_reason": judgment.invalid_reason,
                    "raw": judgment.raw,
                    "judged_at": now,
                }
                for item_hash, judgment in judgments
            )

    def judges(self, rubric_version: str) -> list[StoredJudge]:
        """Judges of a rubric version, the one whose latest judgment is newest last."""
        rows = self._db.query(
            """SELECT judges.*, count(judgments.judgment_id) AS judged
               FROM judges LEFT JOIN judgments USING (judge_id)
               WHERE rubric_version = ? GROUP BY judge_id
               ORDER BY max(judgments.judgment_id), judge_id""",
            [rubric_version],
        )
        return [
            StoredJudge(
                row["judge_id"],
                Judge(
                    row["model"],
                    json.loads(row["parameters"]),
                    row["rubric_version"],
                    row["prompt_hash"],
                ),
                row["judged"],
            )
            for row in rows
        ]

    def prompt(self, prompt_hash: str) -> JudgePrompt:
        row = self._db["judge_prompts"].get(prompt_hash)
        return JudgePrompt(
            row["template"],
            row["rubric_version"],
            row["rubric_hash"],
            row["rubric_text"],
            row["text"],
        )

    def judgments(self, judge_id: str, *, run_index: int = 0) -> dict[str, Judgment]:
        """The judge's verdicts by item hash."""
        rows = self._db["judgments"].rows_where(
            "judge_id = ? AND run_index = ?", [judge_id, run_index]
        )
        return {
            row["item_hash"]: Judgment(
                row["label"], row["sigma"], row["rationale"], row["raw"], row["invalid_reason"]
            )
            for row in rows
        }
