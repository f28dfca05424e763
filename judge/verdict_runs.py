"""All runs of a judge, read from pipeline.db: which items they cover, and what they said."""

import json
import sys
from collections.abc import Collection, Iterator, Mapping, Set
from itertools import takewhile
from typing import Any, TypeVar

from sqlite_utils import Database

from judge.judgment import Judgment

Verdict = TypeVar("Verdict")  # a Judgment, or only its label


def run_count(pipeline_db: Database, judge_id: str) -> int:
    """How many runs of this judge there are, whatever they have judged."""
    return len(_runs(pipeline_db, judge_id))


def judgments_by_run(
    pipeline_db: Database,
    judge_id: str,
    only: Set[str] | None = None,
    first: int | None = None,
) -> dict[int, dict[str, Judgment]]:
    """The judge's verdicts by run index, runs in order, and in each by item hash.

    `only` reads nothing but the items of interest; a run that has none of them is there all the
    same. `first` leaves out all but so many runs.
    """
    found = _runs(pipeline_db, judge_id, first)
    columns = "label, sigma, rationale, raw, invalid_reason"
    for run, item_hash, *verdict in _rows(pipeline_db, judge_id, columns, found, only):
        found[run][item_hash] = Judgment(*verdict)
    return found


def labels_by_run(
    pipeline_db: Database,
    judge_id: str,
    first: int | None = None,
    only: Set[str] | None = None,
) -> dict[int, dict[str, str | None]]:
    """As `judgments_by_run`, only the labels: None is an unreadable verdict."""
    found = _runs(pipeline_db, judge_id, first)
    for run, item_hash, label in _rows(pipeline_db, judge_id, "label", found, only):
        # Interned, a main run of a million turns costs one hash per item whatever the runs.
        found[run][sys.intern(item_hash)] = label if label is None else sys.intern(label)
    return found


def judgments_of_item(pipeline_db: Database, judge_id: str, item_hash: str) -> tuple[Judgment, ...]:
    """What the judge said of one item, run by run."""
    rows = pipeline_db.conn.execute(
        """SELECT label, sigma, rationale, raw, invalid_reason FROM judgments
           WHERE judge_id = ? AND item_hash = ? ORDER BY run_index""",
        [judge_id, item_hash],
    )
    return tuple(Judgment(*row) for row in rows)


def complete_items(by_run: Mapping[int, Mapping[str, Verdict]]) -> dict[str, tuple[Verdict, ...]]:
    """What each run said, in order of the runs, of the items that all runs have judged.

    >>> complete_items({0: {"x": "a", "y": "b"}, 1: {"x": "c"}})
    {'x': ('a', 'c')}
    """
    runs = [by_run[index] for index in sorted(by_run)]
    if not runs:
        return {}
    first, *others = runs
    return {
        item_hash: (verdict, *(run[item_hash] for run in others))
        for item_hash, verdict in first.items()
        if all(item_hash in run for run in others)
    }


def incomplete_items(by_run: Mapping[int, Mapping[str, object]]) -> set[str]:
    """Items that some runs have judged and others not.

    >>> incomplete_items({0: {"x": "a", "y": "b"}, 1: {"x": "c"}})
    {'y'}
    """
    return {item_hash for run in by_run.values() for item_hash in run} - complete_items(
        by_run
    ).keys()


def complete_runs(by_run: Mapping[int, Mapping[str, object]]) -> int:
    """How many of the first runs have each judged every item that any run has judged.

    >>> complete_runs({0: {"x": "a", "y": "b"}, 1: {"x": "c"}}), complete_runs({0: {}, 1: {"x": 1}})
    (1, 0)
    """
    items = {item_hash for run in by_run.values() for item_hash in run}
    complete = takewhile(lambda index: by_run[index].keys() == items, sorted(by_run))
    return sum(1 for _ in complete)


def _runs(
    pipeline_db: Database, judge_id: str, first: int | None = None
) -> dict[int, dict[str, Any]]:
    """The judge's first runs in order, each still empty."""
    rows = pipeline_db.conn.execute(
        "SELECT DISTINCT run_index FROM judgments WHERE judge_id = ? ORDER BY run_index",
        [judge_id],
    )
    return {run: {} for (run,) in rows.fetchall()[:first]}


def _rows(
    pipeline_db: Database,
    judge_id: str,
    columns: str,
    runs: Collection[int],
    only: Set[str] | None = None,
) -> Iterator[tuple[Any, ...]]:
    """Run index, item hash and these columns of the judge's verdicts, in that order."""
    where, values = "judge_id = ? AND run_index <= ?", [judge_id, max(runs, default=-1)]
    if only is not None:  # as one value, since SQLite takes only so many
        where += " AND item_hash IN (SELECT value FROM json_each(?))"
        values.append(json.dumps(sorted(only)))
    return pipeline_db.conn.execute(
        f"""SELECT run_index, item_hash, {columns}
            FROM judgments WHERE {where} ORDER BY run_index, item_hash""",
        values,
    )
