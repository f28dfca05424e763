"""What became of a study's items under a judge, counted in the store."""

from collections import Counter
from dataclasses import dataclass

from sqlite_utils import Database

from judge.runs.scope import WHOLE_STUDY, Scope


@dataclass(frozen=True)
class Outcomes:
    """Counts of labels, and of kinds of reasons where a verdict gives none."""

    labels: Counter[str]
    invalid: Counter[str]

    @property
    def judged(self) -> int:
        return self.labels.total() + self.invalid.total()


def count_outcomes(
    database: Database, judge_id: str, runs: int, scope: Scope = WHOLE_STUDY
) -> Outcomes:
    """Verdicts of the judge's first `runs` runs over the items of a scope that the study holds."""
    rows = database.conn.execute(
        """SELECT label, invalid_reason, count(*) FROM judgments
           WHERE judge_id = :judge AND run_index < :runs
           AND (:only IS NULL OR item_hash IN (SELECT value FROM json_each(:only)))
           AND EXISTS (SELECT 1 FROM turns WHERE turns.item_hash = judgments.item_hash)
           GROUP BY label, invalid_reason""",
        {"judge": judge_id, "runs": runs, "only": scope.as_json},
    )
    return outcomes_of(rows)


def outcomes_of(rows: object) -> Outcomes:
    """From rows of (label, invalid reason, count)."""
    outcomes = Outcomes(Counter(), Counter())
    for label, reason, count in rows:
        if label is None:
            # A reason is `kind: detail`; the detail stays in the store.
            outcomes.invalid[reason.partition(":")[0]] += count
        else:
            outcomes.labels[label] += count
    return outcomes
