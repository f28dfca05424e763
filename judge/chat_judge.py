"""A judge model at work: agree with its server on the parameters, then ask for every verdict."""

import asyncio
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from judge.judge import Judge
from judge.prompts.prompt import JudgePrompt, judge_messages
from judge.runs.ask import Ask, Ledger
from judge.runs.shift import Shift
from judge.server.client import Client
from judge.server.endpoint import Endpoint
from judge.server.limits import Limits
from judge.server.parameters import Parameters
from judge.verdict import verdict_schema
from rubrics import Rubric

DEFAULT_CONCURRENCY = 8  # requests in flight


@dataclass(frozen=True)
class ChatJudge:
    """A judge prompt, a model and the parameters wanted of it at an endpoint."""

    endpoint: Endpoint
    model: str
    parameters: Parameters
    prompt: JudgePrompt
    rubric: Rubric
    concurrency: int = DEFAULT_CONCURRENCY
    limits: Limits = field(default_factory=Limits)

    @cached_property
    def judge(self) -> Judge:
        """The instrument that its judgments are stored under."""
        return Judge(
            self.model, self.parameters.values, self.prompt.rubric_version, self.prompt.prompt_hash
        )

    def label(self, ledger: Ledger) -> Judge:
        """Ask for every verdict that the ledger waits for; returns the judge that was agreed on.

        Raises InputError when the server refuses, cannot be reached or would cost too much. After
        this or any other error no new request is made, and verdicts under way are still kept.
        """
        return asyncio.run(self._label(ledger))

    def request(self, ask: Ask) -> dict[str, Any]:
        """The body of the request for one verdict, the same online and in a batch."""
        return {
            **self.parameters.body(ask.run_index, verdict_schema(self.rubric)),
            "model": self.model,
            "messages": judge_messages(self.prompt, ask.item),
        }

    async def agree(self, client: Client, ledger: Ledger) -> "ChatJudge":
        """This judge with the parameters that its server takes, which is asked just once.

        The question is the first verdict that is waiting, so it costs nothing. A server that
        takes less than what is wanted, or than it took before, says so by refusing.

        Raises InputError.
        """
        return await Shift(self, client, ledger).agree()

    async def _label(self, ledger: Ledger) -> Judge:
        async with Client(self.endpoint, self.concurrency) as client:
            shift = Shift(self, client, ledger)
            agreed = await shift.agree()
            await shift.work(agreed, ledger.waiting(agreed.judge))
        return agreed.judge
