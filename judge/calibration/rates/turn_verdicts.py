"""What the judge said of every turn of a study, as arrays: a main run has a million of them."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from itertools import compress, groupby

import numpy as np
from numpy.typing import NDArray
from sqlite_utils import Database

from annotator.measures.double_sample import Judged
from judge.reading import Reading
from rubrics import InputError, Rubric

CHUNK = 50_000  # rows read at once; only numbers are kept of them
CELL_COLUMNS = "turns.setting, turns.model, turns.temperature, turns.perturbation, turns.condition"
_TYPES = (np.int32, np.int32, np.int64, np.uint64)  # cell, conversation, sample, item
OF_RUNS = """turns.turn_id IN (SELECT turn_id FROM run_turns
                               WHERE run_id IN (SELECT value FROM json_each(?)))"""


def temperature_text(temperature: float) -> str:
    """As short as it is told apart from any other.

    >>> temperature_text(1.0), temperature_text(0.1 + 0.2)
    ('1', '0.30000000000000004')
    """
    short = f"{temperature:g}"
    return short if float(short) == temperature else repr(temperature)


@dataclass(frozen=True)
class Cell:
    """Turns that were made alike: None is what an import left unsaid, a `condition` is rare."""

    setting: str
    model: str | None
    dataset: str
    temperature: float | None
    perturbation: str
    condition: str = ""

    def as_dict(self) -> dict[str, object]:
        return asdict(self)

    @property
    def temperature_text(self) -> str:
        return "unknown" if self.temperature is None else temperature_text(self.temperature)


@dataclass(frozen=True)
class TurnVerdicts:
    """One row per judged turn, ordered by cell.

    `cells` are in order; `cell`, `conversation` and `sample` (n,) are numbers; `verdicts` (n, R)
    the outcomes of the R verdicts that count: the K labels, then K, an unreadable one; `outcomes`
    is K + 1. `unjudged` (C,) counts each cell's turns that lack a verdict in some run.
    """

    cells: tuple[Cell, ...]
    cell: NDArray[np.int32]
    conversation: NDArray[np.int32]
    sample: NDArray[np.int64]
    verdicts: NDArray[np.int8]
    unjudged: NDArray[np.int64]
    outcomes: int

    def of_cell(self, number: int) -> "TurnVerdicts":
        """That cell alone."""
        ends = np.array([number, number + 1], dtype=self.cell.dtype)  # of another type it is copied
        rows = slice(*np.searchsorted(self.cell, ends).tolist())
        return TurnVerdicts(
            self.cells[number : number + 1],
            np.zeros_like(self.cell[rows]),
            self.conversation[rows],
            self.sample[rows],
            self.verdicts[rows],
            self.unjudged[number : number + 1],
            self.outcomes,
        )

    @property
    def turns(self) -> int:
        return len(self.cell)

    @property
    def unreadable(self) -> int:
        """How many verdicts could not be read."""
        return int((self.verdicts == self.outcomes - 1).sum())

    @property
    def judged(self) -> Judged:
        """Outcomes summed by conversation; each verdict counts 1/R."""
        conversations, row = np.unique(self.conversation, return_inverse=True)
        size = len(conversations) * self.outcomes
        counts = np.zeros(size)
        for verdict in self.verdicts.T:
            counts += np.bincount(row * self.outcomes + verdict, minlength=size)
        runs = self.verdicts.shape[1]
        return Judged(counts.reshape(-1, self.outcomes) / runs, conversations)

    def by_sample(self, sigmas: NDArray[np.int64]) -> NDArray[np.float64]:
        """(k,) share judged sigma 1 in each of k samples; `sigmas` (K + 1,) by outcome."""
        _, row = np.unique(self.sample, return_inverse=True)
        positive = sigmas[self.verdicts].mean(axis=1)
        return np.bincount(row, positive) / np.bincount(row)


@dataclass(frozen=True)
class ItemVerdicts:
    """The verdicts that count of each item judged in every run.

    `keys` (n,) in ascending order stand for the items' hashes, `verdicts` (n, R) are outcomes.
    """

    keys: NDArray[np.uint64]
    verdicts: NDArray[np.int8]

    def places(self, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Where each of these keys stands here, -1 for an item that is not judged in every run."""
        if not len(self.keys):
            return np.full(len(keys), -1)
        place = np.searchsorted(self.keys, keys)
        place[place == len(self.keys)] = 0
        return np.where(self.keys[place] == keys, place, -1)


def turn_verdicts(
    pipeline_db: Database,
    items: ItemVerdicts,
    conversations: Mapping[str, int],
    outcomes: int,
    run_ids: Collection[str] | None = None,
) -> TurnVerdicts:
    """Every turn of the study, or of these runs, with what the judge said of its item.

    `conversations` numbers them by id.
    """
    datasets = dict(
        pipeline_db.conn.execute("SELECT conversation_id, dataset FROM conversations").fetchall()
    )
    cells: dict[tuple, int] = {}
    chunks: list[tuple[NDArray, ...]] = []
    rows = pipeline_db.conn.execute(
        f"""SELECT {CELL_COLUMNS}, turns.sample_index, answers.conversation_id, turns.item_hash
            FROM turns CROSS JOIN answers USING (answer_id)
            {"" if run_ids is None else f"WHERE {OF_RUNS}"}""",
        _run_values(run_ids),
    )
    while found := rows.fetchmany(CHUNK):
        *made, samples, ids, hashes = zip(*found, strict=True)
        made.append(map(datasets.__getitem__, ids))
        of_cell = [cells.setdefault(key, len(cells)) for key in zip(*made, strict=True)]
        numbers = [conversations[conversation_id] for conversation_id in ids]
        columns = zip((of_cell, numbers, samples), _TYPES, strict=False)
        chunks.append((*(np.array(of, dtype) for of, dtype in columns), item_keys(hashes)))
    empty = [np.zeros(0, dtype) for dtype in _TYPES]
    columns = [np.concatenate(parts) for parts in zip(empty, *chunks, strict=True)]
    return _matched([_cell(made) for made in cells], columns, items, outcomes)


def item_verdicts(
    pipeline_db: Database,
    judge_id: str,
    rubric: Rubric,
    *,
    reading: Reading,
    runs: int,
    last_run: int,
) -> ItemVerdicts:
    """What the judge's `runs` runs up to number `last_run` say of each item that all have judged.

    The majority is the one of `judge.reading.majority_run`. Raises InputError for a stored label
    that the rubric does not know.
    """
    codes = {label: code for code, label in enumerate((*rubric.category_ids, None))}
    chunks: list[tuple[NDArray, ...]] = []
    # A scan in order of writing beats the index, which would look up every row by itself.
    rows = pipeline_db.conn.execute(
        """SELECT item_hash, run_index, label FROM judgments NOT INDEXED
           WHERE judge_id = ? AND run_index <= ?""",
        [judge_id, last_run],
    )
    while found := rows.fetchmany(CHUNK):
        hashes, of_run, labels = zip(*found, strict=True)
        try:
            said = np.array([codes[label] for label in labels], dtype=np.int8)
        except KeyError as error:
            raise InputError(
                f"the judge's label {error.args[0]!r} is not in rubric {rubric.version}; expected "
                f"one of {', '.join(rubric.category_ids)}; judge again: judge"
            ) from None
        chunks.append((item_keys(hashes), np.array(of_run, dtype=np.int64), said))
    empty = [np.zeros(0, dtype) for dtype in (np.uint64, np.int64, np.int8)]
    keys, of_run, said = (np.concatenate(parts) for parts in zip(empty, *chunks, strict=True))
    order = np.lexsort((of_run, keys))
    keys, first, times = np.unique(keys[order], return_index=True, return_counts=True)
    complete = first[times == runs]
    verdicts = said[order][complete[:, np.newaxis] + np.arange(runs)]
    if reading is Reading.MAJORITY:
        verdicts = majority(verdicts, unreadable=len(codes) - 1)
    return ItemVerdicts(keys[times == runs], verdicts)


def majority(verdicts: NDArray[np.int8], *, unreadable: int) -> NDArray[np.int8]:
    """(n, 1): of (n, R) outcomes the most frequent; unreadable ones do not vote, ties go first."""
    votes = np.zeros(verdicts.shape, dtype=np.int8)
    for other in verdicts.T:
        votes += verdicts == other[:, np.newaxis]
    votes[verdicts == unreadable] = 0
    return np.take_along_axis(verdicts, votes.argmax(axis=1)[:, np.newaxis], axis=1)


def item_keys(hashes: Sequence[str]) -> NDArray[np.uint64]:
    """64 bits of each hash: among a million items two are the same with a chance of 3 in 10^8."""
    digits = "".join(item_hash.removeprefix("sha256:")[:16] for item_hash in hashes)
    return np.frombuffer(bytes.fromhex(digits), dtype=">u8").astype(np.uint64)


def cell_counts(
    pipeline_db: Database, hashes: Iterable[str], run_ids: Collection[str] | None = None
) -> dict[str, dict[Cell, int]]:
    """How many turns of each cell, of the study or of these runs, read like each of these items.

    An item that none reads like is in no key.
    """
    rows = pipeline_db.conn.execute(
        f"""SELECT turns.item_hash, {CELL_COLUMNS}, conversations.dataset, count(*)
            FROM turns JOIN answers USING (answer_id) JOIN conversations USING (conversation_id)
            WHERE turns.item_hash IN (SELECT value FROM json_each(?))
            {"" if run_ids is None else f"AND {OF_RUNS}"}
            GROUP BY 1, 2, 3, 4, 5, 6, 7 ORDER BY 1""",
        [json.dumps(sorted(hashes)), *_run_values(run_ids)],
    ).fetchall()
    return {
        item_hash: {_cell(tuple(made)): n for _, *made, n in of_item}
        for item_hash, of_item in groupby(rows, key=lambda row: row[0])
    }


def late_counts(
    pipeline_db: Database,
    items: ItemVerdicts,
    known: int,
    run_ids: Collection[str] | None = None,
) -> dict[Cell, int]:
    """How many judged turns of each cell, of the study or of these runs, have a late item.

    Late are all items but the first `known` ones: the store only adds, so that rows are in order
    of time.
    """
    rows = pipeline_db.conn.execute(
        f"""SELECT turns.item_hash, {CELL_COLUMNS}, conversations.dataset
            FROM turns JOIN answers USING (answer_id) JOIN conversations USING (conversation_id)
            WHERE turns.item_hash IN (SELECT item_hash FROM turns GROUP BY item_hash
                                      ORDER BY min(turns.rowid) LIMIT -1 OFFSET ?)
            {"" if run_ids is None else f"AND {OF_RUNS}"}""",
        [known, *_run_values(run_ids)],
    )
    counts: Counter[tuple] = Counter()
    while found := rows.fetchmany(CHUNK):
        hashes, *made = zip(*found, strict=True)
        judged = items.places(item_keys(hashes)) >= 0
        counts.update(compress(zip(*made, strict=True), judged.tolist()))
    return {_cell(made): n for made, n in counts.items()}


def _run_values(run_ids: Collection[str] | None) -> list[str]:
    return [] if run_ids is None else [json.dumps(sorted(run_ids))]


def _cell(made: tuple) -> Cell:
    setting, model, temperature, perturbation, condition, dataset = made
    return Cell(setting, model, dataset, temperature, perturbation, condition)


def _matched(
    cells: list[Cell], columns: list[NDArray], items: ItemVerdicts, outcomes: int
) -> TurnVerdicts:
    """Turns of (cell, conversation, sample, key) with their verdicts, in order of the cells."""
    order = sorted(range(len(cells)), key=lambda number: _key(cells[number]))
    rank = np.empty(len(cells), dtype=np.int32)
    rank[order] = np.arange(len(cells), dtype=np.int32)
    cell, conversation, sample, keys = columns
    cell = rank[cell]
    place = items.places(keys)
    known = place >= 0
    rows = np.flatnonzero(known)
    rows = rows[np.argsort(cell[rows], kind="stable")]
    return TurnVerdicts(
        tuple(cells[number] for number in order),
        cell[rows],
        conversation[rows],
        sample[rows],
        items.verdicts[place[rows]],
        np.bincount(cell[~known], minlength=len(cells)),
        outcomes,
    )


def _key(cell: Cell) -> tuple[tuple[bool, object], ...]:
    """To sort by, None before anything else."""
    return tuple((value is not None, "" if value is None else value) for value in astuple(cell))
