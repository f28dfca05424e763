"""What a run may spend: requests and tokens per minute, and dollars in all."""

import asyncio
from dataclasses import dataclass, field, replace
from math import ceil

from aiolimiter import AsyncLimiter

from judge.server.usage import Price, Usage
from rubrics import InputError

MINUTE = 60.0  # seconds


class CostReached(Exception):
    """The next request could take the run above its `--max-cost`."""


@dataclass
class Spending:
    """Dollars that a command has spent so far, on all of its judges together."""

    dollars: float = 0.0


@dataclass(frozen=True)
class Limits:
    """Upper bounds of a run, as asked for; None where there is none."""

    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    max_cost: float | None = None
    price: Price | None = None
    spending: Spending = field(default_factory=Spending)


class Account:
    """Lets requests pass as the limits allow, and adds up what they cost.

    A request is charged by its estimate until its reply says what it took, so that requests in
    flight cannot together spend more than is left. Prompts that turn out longer than estimated, by
    other scripts or a server's additions, make all later estimates longer.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._requests = self._tokens = None
        if limits.requests_per_minute:  # one after the other, evenly: a burst is refused by many
            self._requests = AsyncLimiter(1, MINUTE / limits.requests_per_minute)
        if limits.tokens_per_minute:
            self._tokens = AsyncLimiter(limits.tokens_per_minute, MINUTE)
        self._reserved = 0.0
        self._in_flight = 0
        self._settled = asyncio.Event()
        self._excess = 1.0  # the most that a prompt's tokens were of their estimate

    @property
    def spent(self) -> float:
        """In dollars, by this account and those that share its limits."""
        return self._limits.spending.dollars

    @property
    def paced(self) -> bool:
        """Whether a request may have to wait in `admit`."""
        return bool(self._requests or self._tokens)

    async def admit(self, estimate: Usage) -> None:
        """Wait until one more attempt of this size fits into the minute.

        Raises InputError for a request that no minute has room for.
        """
        if self._requests:
            await self._requests.acquire()
        if self._tokens:
            tokens = estimate.prompt_tokens + estimate.completion_tokens
            if tokens > self._tokens.max_rate:
                raise InputError(
                    f"one request may take {tokens} tokens, more than --tokens-per-minute "
                    f"{self._tokens.max_rate:.0f}; raise it, or lower --max-tokens"
                )
            await self._tokens.acquire(tokens)

    def afford(self) -> None:
        """Look once more before each attempt: lost ones cost, too. Raises CostReached."""
        limit = self._limits.max_cost
        if limit is not None and self.spent + self._reserved > limit:
            raise CostReached

    async def reserve(self, estimate: Usage) -> float:
        """Wait until the request can be paid for whatever those in flight turn out to cost.

        Returns the dollars set aside for it, to be given back by `settle` or `cancel`.

        Raises CostReached when nothing is in flight that could still leave room for it.
        """
        limit = self._limits.max_cost
        while limit is not None and self.spent + self._reserved + self._most(estimate) > limit:
            if not self._in_flight:
                raise CostReached
            self._settled.clear()
            await self._settled.wait()
        reserved = self._most(estimate)
        self._reserved += reserved
        self._in_flight += 1
        return reserved

    def settle(self, reserved: float, estimate: Usage, usage: Usage | None) -> None:
        """A request that was reserved has ended; `usage` as its reply gave it."""
        if usage and estimate.prompt_tokens:
            self._excess = max(self._excess, usage.prompt_tokens / estimate.prompt_tokens)
        self._spend(usage or estimate)
        self.cancel(reserved)

    def lose(self, estimate: Usage) -> None:
        """An attempt's answer is lost on its way; the server may well count it."""
        self._spend(estimate)

    def cancel(self, reserved: float) -> None:
        """A request that was reserved brought nothing that is paid for."""
        self._reserved -= reserved
        self._in_flight -= 1
        self._settled.set()

    def cost(self, usage: Usage) -> float:
        """In dollars; nothing where no price is known."""
        return self._limits.price.cost(usage) if self._limits.price else 0.0

    def _spend(self, usage: Usage) -> None:
        self._limits.spending.dollars += self.cost(usage)

    def _most(self, estimate: Usage) -> float:
        prompt_tokens = ceil(estimate.prompt_tokens * self._excess)
        return self.cost(replace(estimate, prompt_tokens=prompt_tokens))
