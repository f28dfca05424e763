"""What the notes of one judge amount to: causes counted, and by cell of the confusion matrix."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from judge.calibration.causes.cause import CAUSES, CauseNote

SEVERAL = "runs differ"  # stands for the judge's label where its runs give different ones


@dataclass(frozen=True)
class CellCauses:
    """The causes of the noted disagreements in one cell: people's label, the judge's outcome."""

    reference: str
    outcome: str
    disagreements: int
    noted: int
    causes: Mapping[str, int]


@dataclass(frozen=True)
class CauseTally:
    """Causes over the current disagreements. An item with two causes counts under both.

    `settled` counts notes on items that are no disagreement any more, `apart` those on items that
    are not compared here: in the other half, or without a reference label or a verdict.
    """

    disagreements: int
    noted: int
    settled: int
    apart: int
    causes: Mapping[str, int]
    cells: tuple[CellCauses, ...]

    def as_dict(self) -> dict[str, object]:
        return {
            "disagreements": self.disagreements,
            "noted": self.noted,
            "settled": self.settled,
            "apart": self.apart,
            "causes": dict(self.causes),
            "cells": [vars(cell) | {"causes": dict(cell.causes)} for cell in self.cells],
        }


class Compared(Protocol):
    """An item with a reference label and a judge's outcome, None where its runs differ."""

    item_id: str
    reference: str

    @property
    def outcome(self) -> str | None: ...

    @property
    def agrees(self) -> bool: ...


def tally_causes(pairs: Iterable[Compared], notes: Mapping[str, CauseNote]) -> CauseTally:
    """Count causes over the pairs that disagree; `notes` are the current ones by item id.

    A note that names no cause, a memo alone, counts as no cause. Cells come in order of name.
    """
    cells: dict[tuple[str, str], list[tuple[str, ...]]] = {}
    agreeing, compared = set(), set()
    for pair in pairs:
        compared.add(pair.item_id)
        if pair.agrees:
            agreeing.add(pair.item_id)
            continue
        note = notes.get(pair.item_id)
        cell = cells.setdefault((pair.reference, pair.outcome or SEVERAL), [])
        cell.append(note.causes if note else ())
    named = {item_id for item_id, note in notes.items() if note.causes}
    given = [causes for of_cell in cells.values() for causes in of_cell]
    return CauseTally(
        disagreements=len(given),
        noted=sum(map(bool, given)),
        settled=len(named & agreeing),
        apart=len(named - compared),
        causes=_counted(given),
        cells=tuple(
            CellCauses(*names, len(of_cell), sum(map(bool, of_cell)), _counted(of_cell))
            for names, of_cell in sorted(cells.items())
        ),
    )


def _counted(given: Iterable[tuple[str, ...]]) -> dict[str, int]:
    """How often each cause is given, those that come with followupeval first."""
    counts = Counter(cause for causes in given for cause in causes)
    ours = [cause for cause in CAUSES if counts[cause]]
    return {cause: counts[cause] for cause in [*ours, *sorted(counts.keys() - set(CAUSES))]}
