"""Data sets whose authors ask that their text never be published, lest models be trained on it."""

import json
from collections.abc import Iterator

from sqlite_utils import Database

from generation.store import conversation_columns, conversation_from
from generation.turn import Conversation

CANARY_DATASETS = frozenset(("gpqa_main", "gpqa_diamond", "gpqa_extended", "healthbench"))


def has_canary(conversation: Conversation) -> bool:
    """Whether its text must not be published, nor that of a turn that rests on it."""
    return bool(conversation.meta.get("canary")) or conversation.dataset.lower() in CANARY_DATASETS


def canary_conversations(pipeline_db: Database) -> Iterator[Conversation]:
    """Those of a study that must not be published."""
    rows = pipeline_db.conn.execute(
        f"SELECT {conversation_columns()} FROM conversations ORDER BY rowid"
    )
    return filter(has_canary, map(conversation_from, rows))


def canary_items(pipeline_db: Database) -> frozenset[str]:
    """Hashes of the items that must not be published: their text, wherever else it comes from.

    A conversation of another data set with the same messages is one of them.
    """
    conversations = pipeline_db.conn.execute(
        f"SELECT conversation_id, {conversation_columns()} FROM conversations"
    )
    ids = [stored for stored, *row in conversations if has_canary(conversation_from(row))]
    rows = pipeline_db.conn.execute(
        """SELECT DISTINCT turns.item_hash FROM conversations
           JOIN answers USING (conversation_id) JOIN turns USING (answer_id)
           WHERE conversations.messages IN (SELECT secret.messages FROM json_each(?) AS asked
               JOIN conversations AS secret ON secret.conversation_id = asked.value)""",
        [json.dumps(ids)],
    )
    return frozenset(item_hash for (item_hash,) in rows)
