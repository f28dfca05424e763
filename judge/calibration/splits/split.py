"""Which half of a study an item is in: for writing a prompt, or for testing the judge."""

import unicodedata
from typing import Literal

from generation.item import Item
from rubrics import fingerprint, short

Split = Literal["dev", "test"]
_SALT = "followupeval split 1"  # fixed, so that every study and machine splits a query alike


def split_by_hash(query: str) -> Split:
    """The half of a query by its hash alone: "dev" for about half of all queries."""
    return "dev" if int(short(query, 1), 16) < 8 else "test"


def query_hash(item: Item) -> str:
    """What tells an item's query from others: the fingerprint of its normal form.

    Items with the same query (the last message, whatever its case, blanks and Unicode form) are
    in the same half, so that no query is both an example in a prompt and a test of it.
    """
    return fingerprint({"salt": _SALT, "q": normalised_query(item)})


def normalised_query(item: Item) -> str:
    """The last message of the conversation: NFC, case folded, each run of white space a blank."""
    query = item.messages[-1].content
    # Once more, since folding can take a text out of its normal form.
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", query).casefold())
    return " ".join(folded.split())
