"""Jobs through an engine: each prompt made just in time, each outcome joined by its row_id."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from generation.chat.context import Prompt
from generation.engines.engine import Completion, Engine, EngineDied, Failure, Request, Sampling
from generation.failed_row import FailedRow
from generation.turn import Answer, Conversation, Turn
from rubrics import InputError

NO_PROMPT, TOO_LONG = "no prompt", "too long"  # kinds of failure before an engine is asked


@dataclass(frozen=True)
class Job:
    """One row to make. `prompt` may raise InputError: then this row fails, and no other."""

    row_id: str
    act: str
    conversation: Conversation
    sampling: Sampling
    prompt: Callable[[], Prompt]
    made: Callable[[Prompt, Completion], Answer | Turn]

    def failed(self, kind: str, message: str) -> FailedRow:
        return FailedRow(self.row_id, self.act, self.conversation, kind, message)


def outcomes(engine: Engine, jobs: Iterable[Job]) -> Iterator[Answer | Turn | FailedRow]:
    """What becomes of each job, in the engine's order.

    Jobs are read only as far ahead as the engine asks for. Raises EngineDied, also where the
    engine ends without a word about a row.
    """
    sent: dict[str, tuple[Job, Prompt]] = {}
    unsent: list[FailedRow] = []

    def requests() -> Iterator[Request]:
        for job in jobs:
            try:
                prompt = job.prompt()
            except InputError as error:
                unsent.append(job.failed(NO_PROMPT, str(error)))
                continue
            length, room = len(prompt.token_ids), job.sampling.max_tokens
            if length + room > engine.context_length:
                unsent.append(job.failed(TOO_LONG, _too_long(length, room, engine)))
                continue
            sent[job.row_id] = (job, prompt)
            yield Request(job.row_id, prompt.token_ids, job.sampling)

    for row_id, outcome in engine.generate(requests()):
        yield from _taken(unsent)
        job, prompt = sent.pop(row_id)
        if isinstance(outcome, Failure):
            yield job.failed(outcome.kind, outcome.message)
        else:
            yield job.made(prompt, outcome)
    yield from _taken(unsent)
    if sent:
        raise EngineDied(f"the engine ended without a result for {len(sent)} rows")


def _taken(rows: list[FailedRow]) -> list[FailedRow]:
    taken = rows[:]
    del rows[: len(taken)]
    return taken


def _too_long(length: int, room: int, engine: Engine) -> str:
    return (
        f"the prompt has {length} tokens and needs {room} more; the context holds "
        f"{engine.context_length}: raise --context-length or lower the limit of tokens, and add "
        "--retry-errors"
    )
