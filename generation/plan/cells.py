"""What a plan amounts to: the cells of each data set, and the id and seed of every row.

A row_id is known before anything is generated: what is gone on from, then all that decides how
(the model's setup and the cell). So a row is generated once, whatever plan asks for it again. It
does not hold the prompt's tokens, as they follow from the same things; they are hashed in the row.
Nothing is hashed per row: a million ids are made whenever a run goes on.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from generation.engines.engine import SEED_LIMIT
from generation.plan.plan import Plan, Sweep
from rubrics import fingerprint, short

SUFFIX_DIGITS = 32  # 128 bits


@dataclass(frozen=True, order=True)
class Draw:
    """One sample at one setting. At temperature 0 there is one, and nothing to cut from."""

    temperature: float
    top_p: float = 1.0
    top_k: int = 0
    sample_index: int = 0

    def key(self, max_tokens: int, seed: int) -> str:
        """All of the sampling that decides the text; at temperature 0 no seed does.

        >>> Draw(0.0).key(64, 7), Draw(0.7, sample_index=2).key(64, 7)
        ('T=0.0 max=64', 'T=0.7 top_p=1.0 top_k=0 #2 seed=7 max=64')
        """
        drawn = (
            f" top_p={self.top_p!r} top_k={self.top_k} #{self.sample_index} seed={seed}"
            if self.temperature > 0
            else ""
        )
        return f"T={self.temperature!r}{drawn} max={max_tokens}"


@dataclass(frozen=True, order=True)
class Cell:
    """One way in which an answer is gone on from."""

    context: str
    perturbation: str
    draw: Draw


def cells_of(plan: Plan, dataset: str, setting: str) -> dict[Cell, int]:
    """The cells of a data set in a setting, in order, each with its number of user turns.

    Sweeps add up: a cell that two of them have is one, with the larger number.
    """
    turns: dict[Cell, int] = {}
    for sweep in plan.sweeps:
        if setting in sweep.settings and (not sweep.datasets or dataset in sweep.datasets):
            for cell in _cells(sweep):
                turns[cell] = max(turns.get(cell, 1), sweep.user_turns)
    return dict(sorted(turns.items()))


def _cells(sweep: Sweep) -> Iterator[Cell]:
    draws = {
        Draw(temperature, top_p, top_k, index) if temperature > 0 else Draw(0.0)
        for temperature, top_p, top_k, index in product(
            map(float, sweep.temperatures), map(float, sweep.top_p), sweep.top_k,
            range(sweep.samples),
        )
    }  # fmt: skip
    for context, perturbation, draw in product(sweep.contexts, sweep.perturbations, draws):
        yield Cell(context, perturbation, draw)


def answer_draw(plan: Plan) -> Draw:
    answers = plan.answers
    return Draw(float(answers.temperature), float(answers.top_p), answers.top_k)


def answer_row_suffix(plan: Plan, setup_hash: str) -> str:
    """What makes a conversation_id the row_id of its answer."""
    key = answer_draw(plan).key(plan.answers.max_tokens, plan.seed)
    return _suffix("answer", setup_hash, key)


def perturbed_row_suffix(setup_hash: str, perturbation: str) -> str:
    """What makes an answer_id the row_id of the perturbed answer: tokens are the model's own."""
    return _suffix("perturbed", setup_hash, perturbation)


def turn_row_suffix(plan: Plan, setup_hash: str, cell: Cell) -> str:
    """What makes an answer_id the row_id of the turn of this cell.

    A perturbation is in the answer_id: it is another answer that is gone on from.
    """
    key = cell.draw.key(plan.max_turn_tokens, plan.seed)
    return _suffix("turn", setup_hash, cell.context, key)


def row_seed(draw: Draw, row_id: str) -> int | None:
    """A seed of the row's own, since equal seeds give equal noise; None where nothing is drawn.

    The row_id of a draw holds the plan's seed.
    """
    if draw.temperature == 0:
        return None
    return int.from_bytes(hashlib.sha256(f"seed\n{row_id}".encode()).digest()) % SEED_LIMIT


def _suffix(*parts: str) -> str:
    return ":" + short(fingerprint(parts), SUFFIX_DIGITS)


def shard_of(conversation_id: str, shards: int) -> int:
    """Which of so many machines has a conversation, from 0: answer and turns stay together."""
    return int(conversation_id.removeprefix("sha256:")[:15], 16) % shards
