"""One row per verdict: judge × item × run, of published items alone."""

from collections import Counter
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field

from sqlite_utils import Database

from annotator.measures.confusion import outcome_of
from judge.store import StoredJudge

# Type by column, in the words of Parquet. A label is empty where a verdict cannot be read.
COLUMNS: Mapping[str, str] = {
    "item_hash": "string",
    "judge_id": "string",
    "model": "string",
    "rubric": "string",
    "prompt_hash": "string",
    "run_index": "int64",
    "label": "string",
    "sigma": "int64",
    "rationale": "string",
    "invalid_reason": "string",
}


@dataclass
class JudgeVerdicts:
    """What a judge said of the published items, counted as it is read: verdicts by outcome.

    `canary` and `elsewhere` count the verdicts left out: on items that must not be published, and
    on those of other runs.
    """

    judge: StoredJudge
    outcomes: Counter[str] = field(default_factory=Counter)
    canary: int = 0
    elsewhere: int = 0

    @property
    def written(self) -> int:
        return self.outcomes.total()

    def rows(self, pipeline_db: Database, canary: Set[str]) -> Iterator[dict[str, object]]:
        """In order of item and run; the table of published turns must be there."""
        made = {
            "judge_id": self.judge.judge_id,
            "model": self.judge.judge.model,
            "rubric": self.judge.judge.rubric_version,
            "prompt_hash": self.judge.judge.prompt_hash,
        }
        found = pipeline_db.conn.execute(
            """SELECT item_hash IN (SELECT item_hash FROM temp.published_turns),
                      item_hash, run_index, label, sigma, rationale, invalid_reason
               FROM judgments WHERE judge_id = ? ORDER BY item_hash, run_index""",
            [self.judge.judge_id],
        )
        for public, item_hash, run_index, label, sigma, rationale, invalid_reason in found:
            if not public:
                self.canary += item_hash in canary
                self.elsewhere += item_hash not in canary
                continue
            self.outcomes[outcome_of(label)] += 1
            yield made | {
                "item_hash": item_hash,
                "run_index": run_index,
                "label": label,
                "sigma": sigma,
                "rationale": rationale,
                "invalid_reason": invalid_reason,
            }
