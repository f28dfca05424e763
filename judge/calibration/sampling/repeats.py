"""Silent repeats: items that annotators get twice, to tell how far people agree with themselves."""

from collections.abc import Container, Iterable, Mapping
from math import floor
from typing import TypeVar

from sqlite_utils import Database

from annotator.annotation import Annotation
from rubrics import InputError, fingerprint

DEFAULT_SHARE = 0.05  # of the items
MOST = 0.10  # a larger share costs labels and is noticed
FROM = 100  # items; of fewer, 5% are too few to tell anything

Kept = TypeVar("Kept")


def repeated_items(pipeline_db: Database) -> dict[str, str]:
    """The original's item id by the repeat's, which is as opaque; ordered by the repeat's."""
    rows = pipeline_db["sample_repeats"].rows_where(order_by="item_id")
    return {row["item_id"]: row["repeats"] for row in rows}


def without_repeats(
    repeats: Container[str], blind: Mapping[str, Kept], annotations: Iterable[Annotation]
) -> tuple[dict[str, Kept], list[Annotation]]:
    """Blind items and annotations of them less those of `repeats`, which are no further items."""
    return (
        {item_id: item for item_id, item in blind.items() if item_id not in repeats},
        [said for said in annotations if said.item_id not in repeats],
    )


def repeats_wanted(items: int, share: float | None) -> int:
    """How many of so many items to hand over twice; the default share is 5%, from 100 items on.

    >>> repeats_wanted(99, None), repeats_wanted(100, None), repeats_wanted(30, 0.1)
    (0, 5, 3)
    """
    if share is None:
        share = DEFAULT_SHARE if items >= FROM else 0.0
    return floor(items * share + 0.5 + 1e-9)


def more_repeats(
    item_ids: Iterable[str], known: Mapping[str, str], wanted: int, seed: int
) -> list[str]:
    """Which items are to be repeated besides the originals of `known`, so that `wanted` are.

    Those with the smallest random numbers from the seed, so the same on every machine.

    Raises InputError when more are repeated already: people may have labelled them.
    """
    if wanted < len(known):
        raise InputError(
            f"{len(known)} of the items are in labels.db twice already and stay there, found a "
            f"share that makes it {wanted}; leave --repeats out, or give a larger share"
        )
    free = set(item_ids) - set(known.values())
    by_chance = sorted(free, key=lambda item_id: fingerprint({"repeat": item_id, "seed": seed}))
    return sorted(by_chance[: wanted - len(known)])
