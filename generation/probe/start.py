"""Where user turns begin: a conversation to answer, or a real answer to go on from."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from generation.datasets.dataset import Dataset
from generation.item import Message
from generation.plan.cells import Cell, cells_of, shard_of
from generation.plan.plan import HELD_OUT, SELF_GENERATED, SETTINGS, Plan
from generation.turn import Answer, Conversation, Turn


@dataclass(frozen=True)
class Shard:
    """Part `index` (from 1) of `count`: conversations by hash, for machines that share nothing."""

    index: int
    count: int

    def has(self, conversation: Conversation) -> bool:
        root = conversation.root or conversation.conversation_id
        return shard_of(root, self.count) == self.index - 1


@dataclass(frozen=True)
class Start:
    """A conversation with the cells of its user turns.

    `given` is the real answer of the held-out setting; else the model is to answer. `cells` have
    their last user turn's number. `follows` is the turn that the conversation ends in, where that
    was generated: then only its own cell goes on.
    """

    conversation: Conversation
    given: Answer | None
    setting: str
    cells: Mapping[Cell, int]
    number: int = 1
    follows: Turn | None = None


def first_starts(plan: Plan, datasets: Iterable[Dataset], shard: Shard) -> Iterator[Start]:
    """Every start of a plan, data set by data set."""
    limits = {dataset.name: dataset.limit for dataset in plan.datasets}
    for dataset in datasets:
        for setting in SETTINGS:
            cells = cells_of(plan, dataset.name, setting)
            if not cells:
                continue
            for start in _of_setting(dataset, setting, cells, limits[dataset.name], plan.seed):
                if shard.has(start.conversation):
                    yield start


def _of_setting(
    dataset: Dataset, setting: str, cells: Mapping[Cell, int], limit: int | None, seed: int
) -> Iterator[Start]:
    if setting == SELF_GENERATED:
        for conversation in dataset.conversations(limit, seed):
            yield Start(conversation, None, SELF_GENERATED, cells)
    else:
        for answer in dataset.held_out(limit, seed):
            yield Start(answer.conversation, answer, HELD_OUT, cells)


def next_start(turn: Turn, cell: Cell, setting: str, last: int) -> Start:
    """Where the conversation goes on after a generated turn: the model is to answer it."""
    asked = turn.answer.conversation
    grown = Conversation(
        asked.dataset,
        asked.source_id,
        (*asked.messages, Message("assistant", turn.answer.text), Message("user", turn.text)),
        {key: value for key, value in asked.meta.items() if key == "canary"},
        root=asked.root or asked.conversation_id,
    )
    return Start(grown, None, setting, {cell: last}, turn.number + 1, turn)
