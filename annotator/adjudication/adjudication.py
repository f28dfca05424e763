"""Adjudication: one person's decision on an item that people label differently, or that is doubted.

An adjudicator sees which labels an item was given, not by whom, and nothing of any judge: labels.db
is all that is read. Decisions are append-only; the latest of an item stands.
"""

from dataclasses import dataclass, replace

from sqlite_utils import Database

from annotator.adjudication.dispute import labels_given
from annotator.labels import blind_item, item_ids, record_rubric
from annotator.name import checked_name
from annotator.nearest import check_category, did_you_mean
from annotator.reason import checked_reason
from generation.clock import now
from generation.database import immediate
from generation.item import Item
from rubrics import InputError, Rubric

ADJUDICATOR = "adjudicator"  # whose decisions are signed by nobody in particular


@dataclass(frozen=True)
class Adjudication:
    """A decision on an item under a rubric version, and why; the id is that of a stored one."""

    item_id: str
    rubric_version: str
    category: str
    reason: str
    adjudicator: str
    decided_at: str
    adjudication_id: int | None = None


def current_adjudications(database: Database, rubric_version: str) -> list[Adjudication]:
    """The latest decision of every item under a rubric version, in order of deciding."""
    return _read(database, "rubric_version = ?", [rubric_version])


def current_adjudication(
    database: Database, item_id: str, rubric_version: str
) -> Adjudication | None:
    """The decision of one item that stands under a rubric version."""
    where = "rubric_version = ? AND item_id = ?"
    return next(iter(_read(database, where, [rubric_version, item_id])), None)


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
               SELECT :item, :version, (
                   SELECT adjudication_id FROM current_adjudications
                   WHERE item_id = :item AND rubric_version = :version), :now""",
            {"item": item_id, "version": rubric_version, "now": now()},
        )


def is_requested(database: Database, item_id: str, rubric_version: str) -> bool:
    """Whether the item was sent to the adjudicator and not decided since."""
    requests = database["open_adjudication_requests"]
    return bool(
        requests.count_where("rubric_version = ? AND item_id = ?", [rubric_version, item_id])
    )


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
    reason = checked_decision(database, rubric, item_id, category, reason)
    adjudicator = ADJUDICATOR if adjudicator is None else checked_name(adjudicator)
    record_rubric(database, rubric)
    with immediate(database):
        return append_adjudication(database, rubric, item_id, category, reason, adjudicator)


def checked_decision(
    database: Database, rubric: Rubric, item_id: str, category: str, reason: str
) -> str:
    """The reason as it is stored; raises InputError where item, category or reason cannot be."""
    check_category(rubric, category)
    _checked_item(database, item_id)
    return checked_reason(reason)


def append_adjudication(
    database: Database, rubric: Rubric, item_id: str, category: str, reason: str, adjudicator: str
) -> Adjudication:
    """Store a decision within a transaction; raises InputError if there is nothing to decide."""
    before = current_adjudication(database, item_id, rubric.version)
    labels = labels_given(database, rubric, item_id).labels
    decidable = len(labels) > 1 or before or is_requested(database, item_id, rubric.version)
    if not labels or not decidable:
        raise InputError(
            f"item {item_id} has no two different labels under rubric {rubric.version}, so "
            "there is nothing to decide; see what there is: annotate adjudicate "
            f"--rubric {rubric.version}"
        )
    # Never earlier than the one it supersedes, whatever the clock says: the latest stands.
    at = max(now(), before.decided_at if before else "")
    decision = Adjudication(item_id, rubric.version, category, reason, adjudicator, at)
    stored = database["adjudications"].insert(vars(decision))
    return replace(decision, adjudication_id=int(stored.last_pk))


def item_to_adjudicate(database: Database, item_id: str) -> Item:
    """The text of an item; raises InputError if there is none of that id, naming the nearest."""
    _checked_item(database, item_id)
    return blind_item(database, item_id).item


def _checked_item(database: Database, item_id: str) -> None:
    if not database["items"].count_where("item_id = ?", [item_id]):
        known = item_ids(database)
        raise InputError(
            f"labels.db has no item {item_id!r:.80}; expected one of those that annotate "
            f"adjudicate lists{did_you_mean(item_id, known)}"
        )


def _read(database: Database, where: str, parameters: list[str]) -> list[Adjudication]:
    rows = database["current_adjudications"].rows_where(
        where, parameters, order_by="adjudication_id"
    )
    return [Adjudication(**row) for row in rows]
