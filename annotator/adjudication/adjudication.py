"""Adjudication: one person's decision on an item that people label differently, or that is doubted.

An adjudicator sees which labels an item was given, not by whom, and nothing of any judge: labels.db
is all that is read. Decisions are append-only; the latest of an item stands.
"""

import difflib
from collections import Counter, defaultdict
from collections.abc import Iterable, Set
from dataclasses import dataclass

from sqlite_utils import Database

from annotator.annotation import Annotation, current_annotations
from annotator.labels import blind_items, item_ids, record_rubric
from annotator.name import checked_name
from generation.clock import now
from generation.database import immediate
from generation.item import Item
from rubrics import InputError, Rubric

ADJUDICATOR = "adjudicator"  # whose decisions are signed by nobody in particular
REASON_LIMIT = 2_000  # characters


@dataclass(frozen=True)
class Adjudication:
    """A decision on an item under a rubric version, and why."""

    item_id: str
    rubric_version: str
    category: str
    reason: str
    adjudicator: str
    decided_at: str


@dataclass(frozen=True)
class Dispute:
    """An item to decide: how many people gave each label, in the rubric's order."""

    item_id: str
    labels: tuple[tuple[str, int], ...]


def current_adjudications(database: Database, rubric_version: str) -> list[Adjudication]:
    """The latest decision of every item under a rubric version, in order of deciding."""
    rows = database["current_adjudications"].rows_where(
        "rubric_version = ?", [rubric_version], order_by="adjudication_id"
    )
    return [
        Adjudication(
            row["item_id"],
            row["rubric_version"],
            row["category"],
            row["reason"],
            row["adjudicator"],
            row["decided_at"],
        )
        for row in rows
    ]


def disputes(
    annotations: Iterable[Annotation], rubric: Rubric, requested: Set[str] = frozenset()
) -> dict[str, Dispute]:
    """By item id those that current annotations under `rubric` label differently; skips aside.

    Of `requested` items one label is enough.
    """
    given: dict[str, Counter[str]] = defaultdict(Counter)
    for annotation in annotations:
        if annotation.category is not None:
            given[annotation.item_id][annotation.category] += 1
    # A category that the rubric does not have comes last: it is shown, not lost.
    order = {category: k for k, category in enumerate(rubric.category_ids)}
    return {
        item_id: Dispute(
            item_id,
            tuple(sorted(votes.items(), key=lambda vote: (order.get(vote[0], len(order)), vote))),
        )
        for item_id, votes in sorted(given.items())
        if len(votes) > 1 or item_id in requested
    }


def undecided(database: Database, rubric: Rubric) -> list[Dispute]:
    """What there is to adjudicate, in order of item id: undecided items, and requested ones."""
    with database.atomic():
        requested = _requested(database, rubric.version)
        found = disputes(current_annotations(database, rubric.version), rubric, requested)
        decided = {said.item_id for said in current_adjudications(database, rubric.version)}
    return [found[item_id] for item_id in found if item_id not in decided - requested]


def request_adjudication(database: Database, item_id: str, rubric_version: str) -> None:
    """Send an item to the adjudicator, anew if it was decided; once as long as it is undecided.

    Raises InputError for an item that nobody has labelled under this rubric version.
    """
    with immediate(database):
        labelled = database["current_events"].count_where(
            "item_id = ? AND rubric_version = ? AND kind = 'label'", [item_id, rubric_version]
        )
        if not labelled:
            raise InputError(
                f"nobody has labelled item {item_id!r:.80} under rubric {rubric_version}, so there "
                f"is no label to doubt; label it first: annotate --rubric {rubric_version}"
            )
        if is_requested(database, item_id, rubric_version):
            return
        database.conn.execute(
            """INSERT INTO adjudication_requests
               (item_id, rubric_version, after_adjudication, requested_at)
               SELECT :item, :version, max(adjudication_id), :now FROM adjudications
               WHERE item_id = :item AND rubric_version = :version""",
            {"item": item_id, "version": rubric_version, "now": now()},
        )


def is_requested(database: Database, item_id: str, rubric_version: str) -> bool:
    """Whether the item was sent to the adjudicator and not decided since."""
    return item_id in _requested(database, rubric_version)


def _requested(database: Database, rubric_version: str) -> set[str]:
    rows = database["open_adjudication_requests"].rows_where("rubric_version = ?", [rubric_version])
    return {row["item_id"] for row in rows}


def adjudicate(
    database: Database,
    rubric: Rubric,
    item_id: str,
    category: str,
    *,
    reason: str,
    adjudicator: str | None = None,
) -> Adjudication:
    """Store a decision on an item that people label differently, or that was sent here.

    It supersedes an earlier one, which may always be superseded.

    Raises InputError for an item or a category that does not exist, naming the nearest, for an
    item that there is nothing to decide of, and for an empty or overlong reason.
    """
    if category not in rubric.category_ids:
        raise InputError(
            f"rubric {rubric.version} has no category {category!r:.80}; expected one of "
            f"{', '.join(rubric.category_ids)}{_nearest(category, rubric.category_ids)}"
        )
    reason = _checked_reason(reason)
    adjudicator = ADJUDICATOR if adjudicator is None else checked_name(adjudicator)
    _checked_item(database, item_id)
    record_rubric(database, rubric)
    with immediate(database):
        known = _requested(database, rubric.version)
        known |= {said.item_id for said in current_adjudications(database, rubric.version)}
        if item_id not in disputes(current_annotations(database, rubric.version), rubric, known):
            raise InputError(
                f"item {item_id} has no two different labels under rubric {rubric.version}, so "
                "there is nothing to decide; see what there is: annotate adjudicate "
                f"--rubric {rubric.version}"
            )
        decision = Adjudication(item_id, rubric.version, category, reason, adjudicator, now())
        database["adjudications"].insert(vars(decision))
    return decision


def item_to_adjudicate(database: Database, item_id: str) -> Item:
    """The text of an item; raises InputError if there is none of that id, naming the nearest."""
    _checked_item(database, item_id)
    return blind_items(database)[item_id]


def _checked_item(database: Database, item_id: str) -> None:
    known = item_ids(database)
    if item_id not in known:
        raise InputError(
            f"labels.db has no item {item_id!r:.80}; expected one of those that annotate "
            f"adjudicate lists{_nearest(item_id, known)}"
        )


def _checked_reason(reason: str) -> str:
    reason = reason.strip()
    if not reason or len(reason) > REASON_LIMIT:
        raise InputError(
            f"the reason has {len(reason):,} characters, expected 1 to {REASON_LIMIT:,}; say why "
            'in a sentence: --reason "…"'
        )
    return reason


def _nearest(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f"; did you mean {near[0]}?" if near else ""
