"""A probe run into a study: chunk by chunk, so that an interrupted run goes on where it stopped."""

from collections.abc import Callable, Sequence

from generation.dataset import Dataset
from generation.probe import Probe
from generation.store import TurnStore
from generation.turn import Added, Conversation, Run
from generation.version import tool_version

CHUNK_CONVERSATIONS = 256  # stored together; what an interrupt can lose at most


def run_probe(
    store: TurnStore,
    probe: Probe,
    datasets: Sequence[Dataset],
    *,
    limit: int | None,
    on_progress: Callable[[int, int], None],
) -> Added:
    """Probe every chosen conversation that this run has no turns of yet.

    Rows once generated are kept: another generation at T = 0 need not agree with them, because
    an engine's arithmetic depends on what shares a batch. `on_progress(done, total)` is called
    before each chunk and at the end.
    """
    provenance = probe.provenance([dataset.provenance() for dataset in datasets], tool_version())
    run = Run("probe", provenance)
    chosen = [
        conversation
        for dataset in datasets
        for conversation in dataset.sample(limit, probe.plan.seed)
    ]
    known = store.turns_by_conversation(run.run_id)
    todo = [c for c in chosen if c.conversation_id not in known]
    added = Added(0, sum(known.get(c.conversation_id, 0) for c in chosen))
    for chunk in _chunks(todo):
        on_progress(len(chosen) - len(todo) + todo.index(chunk[0]), len(chosen))
        stored = store.add_turns(run, probe.turns(chunk))
        added = Added(added.new + stored.new, added.known + stored.known)
    on_progress(len(chosen), len(chosen))
    return added


def _chunks(conversations: list[Conversation]) -> list[list[Conversation]]:
    return [
        conversations[start : start + CHUNK_CONVERSATIONS]
        for start in range(0, len(conversations), CHUNK_CONVERSATIONS)
    ]
