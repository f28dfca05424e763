"""Leases: a place at an item that is kept for one person for a while.

A lease renews while the page is open and runs out when it is not, so that an item left behind
comes back to the others. All times are UTC as `generation.clock` writes them, which sort as text.
"""

from collections.abc import Mapping

from sqlite_utils import Database


def hold(
    database: Database, annotator: str, item_id: str, rubric_version: str, *, until: str
) -> None:
    """Take or renew a lease; whether there is a place is for the caller to know."""
    database["leases"].upsert(
        {
            "rubric_version": rubric_version,
            "item_id": item_id,
            "annotator": annotator,
            "expires_at": until,
        },
        pk=("rubric_version", "item_id", "annotator"),
    )


def let_go(database: Database, annotator: str, item_id: str, rubric_version: str) -> None:
    """Give the place back; nothing happens where there is no lease."""
    database.conn.execute(
        "DELETE FROM leases WHERE annotator = ? AND item_id = ? AND rubric_version = ?",
        [annotator, item_id, rubric_version],
    )


def holds(
    database: Database, annotator: str, item_id: str, rubric_version: str, *, at: str
) -> bool:
    """Whether this person's lease on the item still runs."""
    return bool(
        database["leases"].count_where(
            "annotator = ? AND item_id = ? AND rubric_version = ? AND expires_at > ?",
            [annotator, item_id, rubric_version, at],
        )
    )


def held_by(database: Database, annotator: str, rubric_version: str, *, at: str) -> list[str]:
    """The ids of the items that this person's running leases are on."""
    rows = database["leases"].rows_where(
        "annotator = ? AND rubric_version = ? AND expires_at > ?", [annotator, rubric_version, at]
    )
    return [row["item_id"] for row in rows]


def held_by_others(
    database: Database, annotator: str, rubric_version: str, *, at: str
) -> Mapping[str, int]:
    """How many other people hold a running lease, by item id."""
    rows = database.conn.execute(
        """SELECT item_id, count(*) FROM leases
           WHERE rubric_version = ? AND annotator != ? AND expires_at > ? GROUP BY item_id""",
        [rubric_version, annotator, at],
    )
    return dict(rows.fetchall())


def drop_expired(database: Database, *, at: str) -> None:
    database.conn.execute("DELETE FROM leases WHERE expires_at <= ?", [at])
