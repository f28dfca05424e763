"""Silent repeats: items that have the text of an earlier one, under an id of their own.

labels.db says nothing of them, so that nothing there tells an annotator; equal texts do.
"""

from sqlite_utils import Database


def repeated_items(database: Database) -> dict[str, str]:
    """The original's item id by the repeat's; the original is the item that was there first."""
    rows = database.conn.execute(
        """SELECT items.item_id, original.item_id FROM items
           JOIN (
               SELECT messages, answer, turn, min(rowid) AS first FROM items
               GROUP BY messages, answer, turn HAVING count(*) > 1
           ) USING (messages, answer, turn)
           JOIN items AS original ON original.rowid = first
           WHERE items.rowid != first ORDER BY items.rowid"""
    )
    return dict(rows.fetchall())
