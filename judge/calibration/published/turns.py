"""The turns that may be published, one after the other, and the items that they make public."""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Set
from dataclasses import dataclass, field

from sqlite_utils import Database

from generation.canary import has_canary
from generation.store import TurnStore
from generation.turn import Turn
from judge.calibration.rates.turn_verdicts import Cell


@dataclass
class PublishedTurns:
    """The turns of some runs, or with None of the study, each once; counted as they are read.

    `canary` are hashes of items that must not be published, wherever their text comes from. What
    was read is remembered in a temporary table, so that memory does not grow with the turns.
    `left_out` counts by data set what must not be published.
    """

    pipeline_db: Database
    run_ids: Collection[str] | None
    canary: Set[str]
    cells: Counter[Cell] = field(default_factory=Counter)
    flagged: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    secret: set[str] = field(default_factory=set)  # ids of those, since two runs may give one
    most_samples: int = 0  # of one answer under one temperature

    def __post_init__(self) -> None:
        self.pipeline_db.conn.execute("DROP TABLE IF EXISTS temp.published_turns")
        self.pipeline_db.conn.execute(
            """CREATE TEMP TABLE published_turns (
                turn_id TEXT PRIMARY KEY, item_hash TEXT NOT NULL
            ) STRICT, WITHOUT ROWID"""
        )
        self.pipeline_db.conn.execute(
            "CREATE INDEX temp.published_by_item ON published_turns (item_hash)"
        )

    @property
    def count(self) -> int:
        return self.cells.total()

    @property
    def items(self) -> int:
        """How many different items are published."""
        found = self.pipeline_db.conn.execute(
            "SELECT count(DISTINCT item_hash) FROM temp.published_turns"
        )
        return found.fetchone()[0]

    def __iter__(self) -> Iterator[Turn]:
        """In order of the runs, and in each of writing."""
        store = TurnStore(self.pipeline_db)
        for run_id in (None,) if self.run_ids is None else self.run_ids:
            for turn in filter(self._is_public, store.turns(run_id)):
                cell = Cell(
                    turn.setting,
                    turn.model,
                    turn.answer.conversation.dataset,
                    turn.temperature,
                    turn.perturbation,
                    turn.condition,
                )
                self.cells[cell] += 1
                self.flagged.update(turn.flags)
                self.most_samples = max(self.most_samples, turn.sample_index + 1)
                yield turn

    def published(self, hashes: Collection[str]) -> frozenset[str]:
        """Which of these items are among the turns that were read."""
        rows = self.pipeline_db.conn.execute(
            """SELECT DISTINCT item_hash FROM temp.published_turns
               WHERE item_hash IN (SELECT value FROM json_each(?))""",
            [json.dumps(sorted(hashes))],
        )
        return frozenset(item_hash for (item_hash,) in rows)

    def _is_public(self, turn: Turn) -> bool:
        """Whether it is the first time that the turn is met, and it may be published at all."""
        conversation = turn.answer.conversation
        # Two runs may give the same turn.
        if turn.item.hash in self.canary or has_canary(conversation):
            if turn.turn_id not in self.secret:
                self.secret.add(turn.turn_id)
                self.left_out[conversation.dataset] += 1
            return False
        added = self.pipeline_db.conn.execute(
            "INSERT INTO temp.published_turns VALUES (?, ?) ON CONFLICT DO NOTHING",
            [turn.turn_id, turn.item.hash],
        )
        return added.rowcount > 0
