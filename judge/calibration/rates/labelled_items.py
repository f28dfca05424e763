"""The labelled items of a study in numbers, and how many turns each stands for."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from sqlite_utils import Database

from annotator.measures.confusion import INVALID
from annotator.measures.double_sample import Labelled
from judge.calibration.conversations import conversations_by_item
from judge.calibration.pairing import Pair
from judge.calibration.rates.judged_turns import JudgedTurns
from judge.calibration.rates.turn_verdicts import Cell, cell_counts, late_counts
from judge.calibration.sampling.design import Sample
from judge.calibration.sampling.weights import design_weights
from judge.plural import counted
from rubrics import Rubric


@dataclass(frozen=True)
class LabelledItems:
    """`everywhere` has all labelled items, weighted for the study: they tell the judge's errors.

    `chances` (n,) are those of being drawn, `turns` how many each has in every cell that counts.
    `design` says how they were drawn, `undrawn` why they are no random sample of anything here,
    None if they are. `late` are a cell's judged turns whose items came after the sample.
    """

    everywhere: Labelled
    chances: NDArray[np.float64]
    turns: tuple[Mapping[Cell, int], ...]
    design: str = ""
    undrawn: str | None = None
    late: Mapping[Cell, int] = field(default_factory=dict)

    def unsampled(self, cells: Iterable[Cell]) -> str | None:
        """Why they are no random sample of these cells' items, or None if they are."""
        late = sum(self.late.get(cell, 0) for cell in cells)
        if self.undrawn or not late:
            return self.undrawn
        return f"{counted(late, 'turn')} of items that came after the sample"

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
    judged: JudgedTurns,
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
    belongs = conversations_by_item(pipeline_db, judged.conversations, hashes)
    said = np.zeros((len(pairs), len(code)))
    for row, pair in enumerate(pairs):
        for outcome in pair.outcomes:
            said[row, code[outcome]] += 1 / len(pair.outcomes)
    late = {}
    if sample and sample.added:
        late = late_counts(pipeline_db, judged.items, sample.population, run_ids)
    chance = np.array([chances[pair.item_id] for pair in pairs])
    everywhere = Labelled(
        np.array([code[pair.reference] for pair in pairs], dtype=np.int64),
        said,
        np.array([sum(turns[item_hash].values()) for item_hash in hashes]) / chance,
        np.array([belongs[item_hash] for item_hash in hashes], dtype=np.int64),
    )
    return LabelledItems(
        everywhere,
        chance,
        tuple(of_runs.get(item_hash, {}) for item_hash in hashes),
        sample.design if sample else "",
        None if sample else "no sample is recorded",
        late,
    )
