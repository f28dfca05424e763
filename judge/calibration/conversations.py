"""Which conversation each item of a study belongs to, without holding any text."""

from sqlite_utils import Database

from rubrics import bytes_fingerprint


def conversation_numbers(pipeline_db: Database) -> dict[str, int]:
    """A number per item hash; items after the same messages have the same one.

    A conversation's id would not do: it tells apart equal messages from two data sets.
    """
    numbers: dict[str, int] = {}  # by fingerprint of the stored messages, which are canonical JSON
    rows = pipeline_db.conn.execute(
        """SELECT turns.item_hash, conversations.messages
           FROM turns JOIN answers USING (answer_id) JOIN conversations USING (conversation_id)
           GROUP BY turns.item_hash ORDER BY turns.item_hash"""
    )
    return {
        item_hash: numbers.setdefault(bytes_fingerprint(messages.encode()), len(numbers))
        for item_hash, messages in rows
    }
