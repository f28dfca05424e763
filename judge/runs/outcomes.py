"""What became of a study's items under a judge, counted in the store."""

from collections import Counter
from dataclasses import dataclass

from sqlite_utils import Database


@dataclass(frozen=True)
class Outcomes:
    """Counts of labels, and of kinds of reasons where a verdict gives none."""

    labels: Counter[str]
    invalid: Counter[str]

    @property
    def judged(self) -> int:
        return self.labels.total() + self.invalid.total()


def count_outcomes(database: Database, judge_id: str, runs: int) -> Outcomes:
    """Verdicts of the judge's first `runs` runs over the items that the study holds."""
    rows = database.conn.execute(
        """SELECT label, invalid_reason, count(*) FROM judgments
           WHERE judge_id = ? AND run_index < ?
           AND EXISTS (SELECT 1 FROM turns WHERE turns.item_hash = judgments.item_hash)
           GROUP BY label, invalid_reason""",
        [judge_id, runs],
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
