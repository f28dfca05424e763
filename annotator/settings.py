"""What the owner has set for a study: one named value each, in labels.db."""

from sqlite_utils import Database

LABELS_PER_ITEM = "labels_per_item"  # people per item; absent: everybody labels everything
LEASE_SECONDS = "lease_seconds"  # how long an item stays with one person who says nothing
PUBLISHED_RUBRIC = "published_rubric"  # the version that annotators label under
PASS_MARK = "pass_mark"  # share of the training set; absent: no training
GOLD_EVERY = "gold_every"  # one gold item among this many


def setting(database: Database, name: str) -> str | None:
    row = database.conn.execute("SELECT value FROM settings WHERE name = ?", [name]).fetchone()
    return row[0] if row else None


def put_setting(database: Database, name: str, value: str | None) -> None:
    """Set a value, or take it away with None."""
    if value is None:
        database.conn.execute("DELETE FROM settings WHERE name = ?", [name])
    else:
        database["settings"].upsert({"name": name, "value": value}, pk="name")
