"""Annotation events with what belongs to them: displays, activity and drafts."""

from annotator.exchange.merging.conflict import annotation_conflicts
from annotator.exchange.merging.side_by_side import Row, SideBySide
from rubrics import InputError


def merge_annotations(sides: SideBySide) -> None:
    """Append the saves that are not here, in their own order of time.

    Raises InputError where one save, known by its nonce, has two contents.
    """
    events, nonces = _merge_events(sides)
    for row in sides.missing("displays", ("nonce",)):
        sides.append("displays", row | {"last_event_id": events[row["last_event_id"]]})
    _merge_activity(sides, nonces)
    _merge_drafts(sides)


def _merge_events(sides: SideBySide) -> tuple[dict[int | None, int | None], set[str]]:
    """Our event ids by theirs, and the nonces of what was added."""
    here = {row["nonce"]: row for row in sides.rows_here("events")}
    ids: dict[int | None, int | None] = {None: None}
    new: list[Row] = []
    for row in sides.rows_there("events"):
        known = here.pop(row["nonce"], None)
        if known is None:
            new.append(row)
            continue
        ids[row["event_id"]] = known["event_id"]
        if row | {"event_id": known["event_id"]} != known:
            raise InputError(
                f"the save {row['nonce']} of {row['annotator']!r} on item {row['item_id']} differs "
                f"between here and {sides.source}: one of them was changed by hand; nothing was "
                "merged"
            )
    sides.conflicts += annotation_conflicts(here.values(), new)
    for row in sorted(new, key=lambda row: (row["saved_at"], row["event_id"])):
        ids[row["event_id"]] = sides.append("events", row, without="event_id")
    return ids, {row["nonce"] for row in new}


def _merge_activity(sides: SideBySide, new_nonces: set[str]) -> None:
    """Of one display, the side that it was saved on has seen all of the work."""
    known = sides.keys_here("activity", ("nonce",))
    for row in sides.rows_there("activity"):
        if (row["nonce"],) not in known:
            sides.append("activity", row)
        elif row["nonce"] in new_nonces:
            sides.here["activity"].upsert(row, pk="nonce")


def _merge_drafts(sides: SideBySide) -> None:
    """The newer one, unless the item was labelled after it."""
    for row in sides.rows_there("drafts"):
        newest = sides.here.conn.execute(
            """SELECT max(saved_at) FROM (
                   SELECT annotator, item_id, rubric_version, saved_at FROM drafts
                   UNION ALL
                   SELECT annotator, item_id, rubric_version, saved_at FROM current_events)
               WHERE annotator = :annotator AND item_id = :item_id
               AND rubric_version = :rubric_version""",
            row,
        ).fetchone()[0]
        if newest is None or row["saved_at"] > newest:
            sides.here["drafts"].upsert(row, pk=("annotator", "item_id", "rubric_version"))
            sides.added["drafts"] += 1
