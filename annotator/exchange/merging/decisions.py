"""What was decided of items: adjudications, requests for them, discussion notes and gold."""

from annotator.exchange.merging.conflict import Conflict, adjudication_conflicts
from annotator.exchange.merging.side_by_side import Row, SideBySide, content_of


def merge_decisions(sides: SideBySide) -> None:
    """Append what is not here; one of these is the same on both sides when all of it is."""
    ids = _merge_adjudications(sides)
    requests = [
        row | {"after_adjudication": ids[row["after_adjudication"]]}
        for row in sides.rows_there("adjudication_requests")
    ]
    sides.append_unknown(
        "adjudication_requests", requests, without="request_id", time="requested_at"
    )
    notes = list(sides.rows_there("discussion_notes"))
    sides.append_unknown("discussion_notes", notes, without="note_id", time="written_at")
    for row in sides.rows_there("gold"):
        _merge_gold(sides, row)


def _merge_adjudications(sides: SideBySide) -> dict[int | None, int | None]:
    """Our ids by theirs."""
    key = "adjudication_id"
    here = {content_of(row, key): row for row in sides.rows_here("adjudications")}
    ids: dict[int | None, int | None] = {None: None}
    new: list[Row] = []
    for row in sides.rows_there("adjudications"):
        known = here.pop(content_of(row, key), None)
        if known:
            ids[row[key]] = known[key]
        else:
            new.append(row)
    sides.conflicts += adjudication_conflicts(here.values(), new)
    for row in sorted(new, key=lambda row: (row["decided_at"], row[key])):
        ids[row[key]] = sides.append("adjudications", row, without=key)
    return ids


def _merge_gold(sides: SideBySide, row: Row) -> None:
    """What was retired there is retired here; of two in use for one item the later stays so."""
    known = sides.here.conn.execute(
        """SELECT gold_id, retired_at FROM gold WHERE item_id = :item_id
           AND rubric_version = :rubric_version AND category = :category
           AND reason = :reason AND added_at = :added_at""",
        row,
    ).fetchone()
    if known is None:
        retired = row["retired_at"] or _retired_by_ours(sides, row)
        sides.append("gold", row | {"retired_at": retired}, without="gold_id")
    elif known[1] is None and row["retired_at"]:
        _retire(sides, known[0], row["retired_at"])


def _retired_by_ours(sides: SideBySide, row: Row) -> str | None:
    """When the gold in use here retired this one; else it is retired itself."""
    in_use = sides.here.conn.execute(
        """SELECT gold_id, category, added_at FROM gold WHERE item_id = :item_id
           AND rubric_version = :rubric_version AND retired_at IS NULL""",
        row,
    ).fetchone()
    if in_use is None:
        return None
    gold_id, category, added_at = in_use
    if category != row["category"]:
        of = (row["item_id"], row["rubric_version"])
        there = (row["category"], row["added_at"])
        sides.conflicts.append(Conflict("gold", None, *of, category, added_at, *there))
    if added_at > row["added_at"]:
        return added_at
    _retire(sides, gold_id, row["added_at"])
    return None


def _retire(sides: SideBySide, gold_id: int, at: str) -> None:
    sides.here.conn.execute("UPDATE gold SET retired_at = ? WHERE gold_id = ?", [at, gold_id])
    sides.added["gold retired"] += 1
