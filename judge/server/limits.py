"""What a run may spend: requests and tokens per minute, and dollars in all."""

import asyncio
from dataclasses import dataclass

from aiolimiter import AsyncLimiter

from judge.server.usage import Price, Usage
from rubrics import InputError

MINUTE = 60.0  # seconds


class CostReached(Exception):
    """The next request could take the run above its `--max-cost`."""


@dataclass(frozen=True)
class Limits:
    """Upper bounds of a run, as asked for; None where there is none."""

    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    max_cost: float | None = None
    price: Price | None = None


class Account:
    """Lets requests pass as the limits allow, and adds up what they cost.

    A request is charged by its estimate until its reply says what it took, so that requests in
    flight cannot together spend more than is left.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._requests = _limiter(limits.requests_per_minute)
        self._tokens = _limiter(limits.tokens_per_minute)
        self._reserved = 0.0
        self._in_flight = 0
        self._settled = asyncio.Event()
        self.spent = 0.0  # dollars

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

    async def reserve(self, estimate: Usage) -> None:
        """Wait until the request can be paid for whatever those in flight turn out to cost.

        Raises CostReached when nothing is in flight that could still leave room for it.
        """
        cost = self.cost(estimate)
        limit = self._limits.max_cost
        while limit is not None and self.spent + self._reserved + cost > limit:
            if not self._in_flight:
                raise CostReached
            self._settled.clear()
            await self._settled.wait()
        self._reserved += cost
        self._in_flight += 1

    def settle(self, estimate: Usage, usage: Usage | None) -> None:
        """A request that was reserved has ended; `usage` as its reply gave it."""
        self.spent += self.cost(usage or estimate)
        self._release(estimate)

    def cancel(self, estimate: Usage) -> None:
        """A request that was reserved brought nothing that is paid for."""
        self._release(estimate)

    def cost(self, usage: Usage) -> float:
        """In dollars; nothing where no price is known."""
        return self._limits.price.cost(usage) if self._limits.price else 0.0

    def _release(self, estimate: Usage) -> None:
        self._reserved -= self.cost(estimate)
        self._in_flight -= 1
        self._settled.set()


def _limiter(per_minute: int | None) -> AsyncLimiter | None:
    return AsyncLimiter(per_minute, MINUTE) if per_minute else None
