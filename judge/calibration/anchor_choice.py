"""Which of the compared items become anchors of an export."""

from collections.abc import Iterable

from judge.anchors import Anchor
from judge.calibration.pairing import Pair
from rubrics import fingerprint

MOST = 50  # anchors: at a 5 % flip rate 8 changed ones are noticed, for the price of 50 asks


def choose_anchors(pairs: Iterable[Pair]) -> tuple[Anchor, ...]:
    """Up to 50 of the compared items, each with the label of every run.

    Those with the smallest fingerprint: as good as at random, the same whenever one exports, and
    not to be picked by hand.
    """
    ordered = sorted(pairs, key=lambda pair: fingerprint({"anchor": pair.item.hash}))
    return tuple(
        Anchor(pair.item, tuple(verdict.label for verdict in pair.runs)) for pair in ordered[:MOST]
    )
