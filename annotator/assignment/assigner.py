"""Choosing an annotator's next item: least-covered first, each person in an order of their own."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from annotator.assignment.coverage import Coverage, Mask, OwnWork
from annotator.assignment.plan import Plan

REPEAT_DISTANCE = 10  # items between one and its silent repeat, as long as there are others
REPEAT_EVERY = 20  # where not everybody gets everything: one repeat among this many, on average


class End(StrEnum):
    """Why there is no next item."""

    FINISHED = "finished"  # every item has the labels it is to have
    WAITING = "waiting"  # what is left is with other people, and may come back
    NONE_LEFT = "none left"  # others are still needed, for items that this person has done
    TRAINING = "training"  # to be passed before anything is handed out


@dataclass(frozen=True)
class Progress:
    """Labels that count towards the plan, and how many there are to be; for one person's page."""

    given: int
    wanted: int


def next_item(
    coverage: Coverage, annotator: str, plan: Plan, held: Mapping[str, int], *, seed: int
) -> str | End:
    """The id of the next item for this person, or why there is none.

    `held` is how many other people hold a lease, by item id.
    """
    own = coverage.own(annotator)
    if plan.labels_per_item is None:
        found = _first_away_from_its_twin(coverage, own, ~own.done)
        return End.FINISHED if found is None else coverage.ids[found]
    found = _interspersed(coverage, own, plan, annotator, seed)
    if found is None:
        found = _least_covered(coverage, own, plan.labels_per_item, held)
    return coverage.ids[found] if found is not None else _end(coverage, own, plan, held)


def has_room(coverage: Coverage, item_id: str, plan: Plan, held: Mapping[str, int]) -> bool:
    """Whether one more person may take this item, beside those who hold or have labelled it."""
    item = coverage.number[item_id]
    if plan.labels_per_item is None or _apart(coverage)[item]:
        return True
    return bool(coverage.labels[item] + held.get(item_id, 0) < plan.labels_per_item)


def progress(coverage: Coverage, annotator: str, plan: Plan) -> Progress:
    """How far the work is: one's own where everybody labels everything, else the study's."""
    if plan.labels_per_item is None:
        return Progress(len(coverage.own(annotator).trail), len(coverage.ids))
    counted = np.minimum(coverage.labels, plan.labels_per_item)[~_apart(coverage)]
    return Progress(int(counted.sum()), plan.labels_per_item * len(counted))


def _apart(coverage: Coverage) -> Mask:
    # Repeats are for those who had the item itself, and gold is for everybody.
    return coverage.is_repeat | coverage.is_gold


def _first_away_from_its_twin(coverage: Coverage, own: OwnWork, wanted: Mask) -> int | None:
    # After a new rubric those come first whose old labels it leaves without a meaning.
    urgent = wanted & coverage.stale
    candidates = own.order[(urgent if urgent.any() else wanted)[own.order]]
    if not len(candidates):
        return None
    lately = coverage.twins[own.trail[-REPEAT_DISTANCE:]]
    away = ~np.isin(coverage.twins[candidates], lately)
    return int(candidates[np.argmax(away)])  # the first of all where none is away


def _interspersed(
    coverage: Coverage, own: OwnWork, plan: Plan, annotator: str, seed: int
) -> int | None:
    """A gold item or a repeat whose turn it is, at places that nobody can foresee."""
    count = len(own.trail)
    if _drawn(f"{seed}\x1f{annotator}\x1fgold\x1f{count}", plan.gold_every):
        gold = _first_away_from_its_twin(coverage, own, coverage.is_gold & ~own.done)
        if gold is not None:
            return gold
    if _drawn(f"{seed}\x1f{annotator}\x1frepeat\x1f{count}", REPEAT_EVERY):
        labelled = [n for n in own.trail[:-REPEAT_DISTANCE] if own.kinds[n] == "label"]
        due = coverage.is_repeat & ~own.done & np.isin(coverage.twins, labelled)
        return _first_away_from_its_twin(coverage, own, due)
    return None


def _least_covered(
    coverage: Coverage, own: OwnWork, wanted: int, held: Mapping[str, int]
) -> int | None:
    open_ = ~own.done & ~_apart(coverage) & (coverage.labels < wanted)
    for item_id, people in held.items():
        item = coverage.number.get(item_id)
        if item is not None and coverage.labels[item] + people >= wanted:
            open_[item] = False
    if not open_.any():
        return None
    fewest = coverage.labels[open_].min()
    return _first_away_from_its_twin(coverage, own, open_ & (coverage.labels == fewest))


def _end(coverage: Coverage, own: OwnWork, plan: Plan, held: Mapping[str, int]) -> End:
    short = ~_apart(coverage) & (coverage.labels < (plan.labels_per_item or 0))
    if not short.any():
        return End.FINISHED
    left = {coverage.ids[item] for item in np.flatnonzero(short & ~own.done)}
    return End.WAITING if left & held.keys() else End.NONE_LEFT


def _drawn(key: str, one_in: int) -> bool:
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8]) % one_in == 0
