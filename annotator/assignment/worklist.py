"""Work lists: every annotator gets all items, each in an order of their own."""

import hashlib
from collections.abc import Iterable


def work_list(item_ids: Iterable[str], *, seed: int, annotator: str) -> tuple[str, ...]:
    """The items in this annotator's order: random, fixed by the study seed, free of item content.

    Sorting by a keyed hash keeps everybody's order when items are added later: new items fall in
    between, and no two old ones change places.

    >>> work_list(["a", "b", "c"], seed=1, annotator="ann")
    ('c', 'b', 'a')
    >>> work_list(["c", "b", "a", "d"], seed=1, annotator="ann")
    ('c', 'b', 'd', 'a')
    """

    def rank(item_id: str) -> tuple[bytes, str]:
        key = f"{seed}\x1f{annotator}\x1f{item_id}"
        return hashlib.sha256(key.encode()).digest(), item_id

    return tuple(sorted(item_ids, key=rank))
