"""The labelled items of a study in numbers, and how many turns each stands for."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlite_utils import Database

from annotator.measures.confusion import INVALID
from annotator.measures.double_sample import Labelled
from judge.calibration.conversations import conversations_by_item
from judge.calibration.pairing import Pair
from judge.calibration.rates.turn_verdicts import Cell, cell_counts
from judge.calibration.sampling.design import Sample
from judge.calibration.sampling.weights import design_weights
from judge.plural import counted
from rubrics import Rubric


@dataclass(frozen=True)
class LabelledItems:
    """`everywhere` has all labelled items, weighted for the study: they tell the judge's errors.

    `chances` (n,) are those of being drawn, `turns` how many each has in every cell that counts.
    `design` says how they were drawn, `unsampled` why they are no random sample of the study's
    items, None if they are.
    """

    everywhere: Labelled
    chances: NDArray[np.float64]
    turns: tuple[Mapping[Cell, int], ...]
    design: str = ""
    unsampled: str | None = None

    def of_turns(self) -> Labelled:
        """Those that turns of the cells that count read like, each standing for these."""
        return self._standing_for(np.array([sum(of.values()) for of in self.turns], np.float64))

    def of_cell(self, cell: Cell) -> Labelled:
        """Those among the cell's items, each standing for its turns there."""
        return self._standing_for(np.array([of.get(cell, 0) for of in self.turns], np.float64))

    def _standing_for(self, turns: NDArray[np.float64]) -> Labelled:
        here = turns > 0
        return Labelled(
            self.everywhere.people[here],
            self.everywhere.judged[here],
            (turns / self.chances)[here],
            self.everywhere.conversations[here],
        )


def labelled_items(
    pipeline_db: Database,
    pairs: Sequence[Pair],
    rubric: Rubric,
    conversations: Mapping[str, int],
    sample: Sample | None,
    run_ids: Collection[str] | None = None,
) -> LabelledItems:
    """The pairs in numbers; weight = turns that read so / chance of being drawn in the `sample`.

    `run_ids` say which runs' turns count as those of cells; by default all do.
    """
    code = {name: k for k, name in enumerate((*rubric.category_ids, INVALID))}
    chances = design_weights(pipeline_db).probabilities
    hashes = [pair.item.hash for pair in pairs]
    turns = cell_counts(pipeline_db, hashes)
    of_runs = turns if run_ids is None else cell_counts(pipeline_db, hashes, run_ids)
    belongs = conversations_by_item(pipeline_db, conversations, hashes)
    judged = np.zeros((len(pairs), len(code)))
    for row, pair in enumerate(pairs):
        for outcome in pair.outcomes:
            judged[row, code[outcome]] += 1 / len(pair.outcomes)
    chance = np.array([chances[pair.item_id] for pair in pairs])
    everywhere = Labelled(
        np.array([code[pair.reference] for pair in pairs], dtype=np.int64),
        judged,
        np.array([sum(turns[item_hash].values()) for item_hash in hashes]) / chance,
        np.array([belongs[item_hash] for item_hash in hashes], dtype=np.int64),
    )
    return LabelledItems(
        everywhere,
        chance,
        tuple(of_runs.get(item_hash, {}) for item_hash in hashes),
        sample.design if sample else "",
        _unsampled(sample),
    )


def _unsampled(sample: Sample | None) -> str | None:
    if sample is None:
        return "no sample is recorded"
    if sample.added:
        return f"{counted(sample.added, 'item')} came after the sample, with no chance to be drawn"
    return None
