"""Which conversation each item of a study belongs to, without holding any text."""

import json
from collections.abc import Iterable, Mapping

from sqlite_utils import Database

from rubrics import bytes_fingerprint


def conversations_by_id(pipeline_db: Database) -> dict[str, int]:
    """A number per conversation id; the same for the same messages, as two data sets can have.

    A conversation that grew by generated turns has the number of the one it grew out of.
    """
    numbers: dict[str, int] = {}  # by fingerprint of the stored messages, which are canonical JSON
    rows = pipeline_db.conn.execute(
        """SELECT grown.conversation_id, coalesce(roots.messages, grown.messages)
           FROM conversations AS grown
           LEFT JOIN conversations AS roots ON roots.conversation_id = grown.root
           ORDER BY grown.conversation_id"""
    )
    return {
        conversation_id: numbers.setdefault(bytes_fingerprint(messages.encode()), len(numbers))
        for conversation_id, messages in rows
    }


def conversations_by_item(
    pipeline_db: Database, numbers: Mapping[str, int], hashes: Iterable[str] | None = None
) -> dict[str, int]:
    """The number of the conversation that each item belongs to, of these `hashes` or of all."""
    among = "WHERE turns.item_hash IN (SELECT value FROM json_each(?))"
    rows = pipeline_db.conn.execute(
        f"""SELECT turns.item_hash, min(answers.conversation_id)
            FROM turns JOIN answers USING (answer_id)
            {"" if hashes is None else among} GROUP BY turns.item_hash""",
        [] if hashes is None else [json.dumps(sorted(hashes))],
    )
    return {item_hash: numbers[conversation_id] for item_hash, conversation_id in rows}
