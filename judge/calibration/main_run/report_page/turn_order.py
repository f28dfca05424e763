"""The order of the turns on a page: by cell, label, conversation and sample."""

import json
from collections.abc import Iterator
from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray
from sqlite_utils import Database

from generation.canary import canary_items
from judge.calibration.main_run.main_run import CellRate, MainRun
from judge.calibration.main_run.tables.fields import in_order
from judge.calibration.rates.turn_verdicts import (
    CELL_COLUMNS,
    CHUNK,
    OF_RUNS,
    item_keys,
    majority,
)


@dataclass(frozen=True)
class Group:
    """The turns of a cell, by its place among `TurnOrder.cells`, that have one outcome.

    Outcomes are the K labels of the rubric, K for unreadable and K + 1 for not judged. `genuine`
    sums, over the turns, the share of the verdicts that count whose sigma is 1.
    """

    cell: int
    outcome: int
    turns: int
    genuine: float


@dataclass(frozen=True)
class TurnOrder:
    """`rows` (n,) are rowids of the store's turns, `withheld` (n,) whose text is not published.

    `cells` are those of the run as its tables order them. The `groups` follow one another.
    """

    cells: tuple[CellRate, ...]
    rows: NDArray[np.int64]
    withheld: NDArray[np.bool_]
    groups: tuple[Group, ...]


def turn_order(pipeline_db: Database, run: MainRun) -> TurnOrder:
    """Every turn of the run, once. One of several verdicts stands where most of them put it.

    Holds some 30 bytes a turn, and no text. The store is as it was when the run was read.
    """
    unreadable = len(run.rubric.categories)
    verdicts = run.items.verdicts
    # The last of each is that of an item at place -1: not judged.
    outcomes = np.append(majority(verdicts, unreadable=unreadable)[:, 0], unreadable + 1)
    genuine = np.append(run.sigmas[verdicts].mean(axis=1), 0.0)
    cells = in_order(run, run.cells)
    row, cell, conversation, sample, keys = _columns(pipeline_db, run, cells)
    place = run.items.places(keys)
    outcome = outcomes[place]
    withheld = np.isin(keys, item_keys(sorted(canary_items(pipeline_db))))
    order = np.lexsort((row, sample, conversation, outcome, cell))
    groups = tuple(_groups(cell, outcome, genuine[place], unreadable + 2))
    return TurnOrder(cells, row[order], withheld[order], groups)


def _columns(pipeline_db: Database, run: MainRun, cells: tuple[CellRate, ...]) -> list[NDArray]:
    """Of every turn: its row, cell, conversation in the store's order, sample and item's key."""
    numbers = {astuple(of.cell): number for number, of in enumerate(cells)}
    conversations = {
        conversation_id: (dataset, number)
        for conversation_id, dataset, number in pipeline_db.conn.execute(
            "SELECT conversation_id, dataset, rowid FROM conversations"
        )
    }
    rows = pipeline_db.conn.execute(
        f"""SELECT turns.rowid, turns.sample_index, turns.item_hash, answers.conversation_id,
                   {CELL_COLUMNS}
            FROM turns CROSS JOIN answers USING (answer_id) WHERE {OF_RUNS}""",
        [json.dumps(run.selection.run_ids)],
    )
    types = (np.int64, np.int32, np.int32, np.int64, np.uint64)
    chunks = [[np.zeros(0, dtype) for dtype in types]]
    while found := rows.fetchmany(CHUNK):
        row, sample, hashes, ids, setting, model, *made = zip(*found, strict=True)
        dataset, conversation = zip(*map(conversations.__getitem__, ids), strict=True)
        cell = [numbers[of] for of in zip(setting, model, dataset, *made, strict=True)]
        columns = zip((row, cell, conversation, sample), types, strict=False)
        chunks.append([*(np.array(of, dtype) for of, dtype in columns), item_keys(hashes)])
    return [np.concatenate(parts) for parts in zip(*chunks, strict=True)]


def _groups(
    cell: NDArray, outcome: NDArray, genuine: NDArray[np.float64], outcomes: int
) -> Iterator[Group]:
    of = cell.astype(np.int64) * outcomes + outcome
    turns, sums = np.bincount(of), np.bincount(of, genuine)
    for number in np.flatnonzero(turns).tolist():
        yield Group(*divmod(number, outcomes), int(turns[number]), float(sums[number]))
