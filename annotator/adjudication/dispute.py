"""Disputes: items that people label differently or that were sent here, and what is undecided."""

import json
from collections import Counter
from dataclasses import dataclass

from sqlite_utils import Database

from rubrics import Rubric

# Every labelled item of a rubric version with the labels that stand. Skips are no labels.
_LABELLED = """
    SELECT said.item_id, json_group_array(category)
    FROM standing_events AS said JOIN events USING (event_id)
    WHERE said.rubric_version = :version AND kind = 'label'
"""
_UNDECIDED = """
    GROUP BY said.item_id
    HAVING said.item_id IN requested
    OR (min(category) <> max(category) AND said.item_id NOT IN (
        SELECT item_id FROM adjudications WHERE rubric_version = :version))
    ORDER BY said.item_id
"""
_REQUESTED = """
    WITH requested AS MATERIALIZED (
        SELECT item_id FROM open_adjudication_requests WHERE rubric_version = :version)
"""


@dataclass(frozen=True)
class Dispute:
    """An item to decide: how many people gave each label, in the rubric's order."""

    item_id: str
    labels: tuple[tuple[str, int], ...]


def undecided(database: Database, rubric: Rubric) -> list[Dispute]:
    """What there is to adjudicate, in order of item id: undecided items, and requested ones.

    Of requested items one label is enough.
    """
    rows = database.conn.execute(
        _REQUESTED + _LABELLED + _UNDECIDED, {"version": rubric.version}
    ).fetchall()
    return [_dispute(item_id, json.loads(labels), rubric) for item_id, labels in rows]


def undecided_among(database: Database, rubric: Rubric, item_ids: list[str]) -> set[str]:
    """Which of these items are undecided."""
    within = "AND said.item_id IN (SELECT value FROM json_each(:items))"
    rows = database.conn.execute(
        _REQUESTED + _LABELLED + within + _UNDECIDED,
        {"version": rubric.version, "items": json.dumps(item_ids)},
    )
    return {row[0] for row in rows}


def labels_given(database: Database, rubric: Rubric, item_id: str) -> Dispute:
    """The labels that one item has, disputed or not."""
    row = database.conn.execute(
        _LABELLED + "AND said.item_id = :item", {"version": rubric.version, "item": item_id}
    ).fetchone()
    return _dispute(item_id, json.loads(row[1]), rubric)


def _dispute(item_id: str, labels: list[str], rubric: Rubric) -> Dispute:
    # A category that the rubric does not have comes last: it is shown, not lost.
    order = {category: place for place, category in enumerate(rubric.category_ids)}
    votes = Counter(labels).items()
    return Dispute(
        item_id,
        tuple(sorted(votes, key=lambda vote: (order.get(vote[0], len(order)), vote[0]))),
    )
