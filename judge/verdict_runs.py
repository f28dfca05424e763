"""All runs of a judge, read from pipeline.db: which items they cover, and what they said."""

import sys
from collections import defaultdict
from collections.abc import Mapping, Set
from typing import TypeVar

from sqlite_utils import Database

from judge.judgment import Judgment

Verdict = TypeVar("Verdict")  # a Judgment, or only its label


def judgments_by_run(
    pipeline_db: Database, judge_id: str, only: Set[str] | None = None
) -> dict[int, dict[str, Judgment]]:
    """The judge's verdicts by run index, runs in order, and in each by item hash.

    `only` keeps memory to the items of interest; a run that has none of them is there all the same.
    """
    found: dict[int, dict[str, Judgment]] = defaultdict(dict)
    for run, item_hash, *columns in pipeline_db.conn.execute(
        """SELECT run_index, item_hash, label, sigma, rationale, raw, invalid_reason
           FROM judgments WHERE judge_id = ? ORDER BY run_index, item_hash""",
        [judge_id],
    ):
        of_run = found[run]
        if only is None or item_hash in only:
            of_run[item_hash] = Judgment(*columns)
    return dict(found)


def labels_by_run(pipeline_db: Database, judge_id: str) -> dict[int, dict[str, str | None]]:
    """As `judgments_by_run`, only the labels: None is an unreadable verdict."""
    found: dict[int, dict[str, str | None]] = defaultdict(dict)
    for run, item_hash, label in pipeline_db.conn.execute(
        """SELECT run_index, item_hash, label
           FROM judgments WHERE judge_id = ? ORDER BY run_index, item_hash""",
        [judge_id],
    ):
        # Interned, a main run of a million turns costs one hash per item whatever the runs.
        found[run][sys.intern(item_hash)] = label if label is None else sys.intern(label)
    return dict(found)


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
