"""When to ask a server again, and how long to wait before."""

import asyncio
import contextlib
import email.utils
import random
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, wait_random_exponential

from judge.server.errors import OddAnswer, Refused, ServerError

ATTEMPTS = 8  # of one request, from a second's wait up to a minute's
FIRST_ATTEMPTS = 2  # where nothing was answered yet: the address may simply be wrong
FIRST_WAIT_SECONDS = 1.0
LONGEST_WAIT_SECONDS = 60.0
ODD_ATTEMPTS = 5  # where an answer came that is none: it may be paid for all the same
LONGEST_RETRY_AFTER_SECONDS = 600.0
TOLD_SECONDS = 3.0  # a shorter wait goes unnoticed
NOTICE_SECONDS = 10.0  # between two times that somebody is told of a wait

T = TypeVar("T")
Waits = Callable[[ServerError, float, int], None]  # the error, seconds to wait, attempts made


class GivenUp(Exception):
    """The run stops; whoever waits to ask again need not."""


class Patience:
    """Repeats a request with jittered exponential waits (full jitter), as long as it makes sense.

    A server that asks to be left alone is left alone by all requests: one refused for its rate
    closes the gate for the others too. `waits` is called now and then, so that whoever looks on can
    tell waiting from hanging.
    """

    def __init__(self, waits: Waits = lambda error, seconds, attempt: None) -> None:
        self._waits = waits
        self._told_at = -NOTICE_SECONDS
        self.answered = False  # by anything that the API promises
        self._closed_until = 0.0
        self._given_up = asyncio.Event()

    def give_up(self) -> None:
        """Let nobody ask again; requests that are under way still end as they may."""
        self._given_up.set()

    async def unless_given_up(self, waiting: Coroutine[Any, Any, None]) -> None:
        """Wait for this; raises GivenUp as soon as all is given up."""
        tasks = [asyncio.create_task(wait) for wait in (waiting, self._given_up.wait())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
        if self._given_up.is_set():
            raise GivenUp
        await tasks[0]

    async def ask(self, request: Callable[[], Awaitable[T]]) -> T:
        """The request's answer.

        Raises the ServerError of the last attempt, and GivenUp for one that need not be made.
        """
        retrying = AsyncRetrying(
            retry=retry_if_exception(_worth_another),
            wait=self._wait,
            stop=self._enough,
            before_sleep=self._tell,
            sleep=self._sleep,
            reraise=True,
        )
        return await retrying(self._attempt, request)

    async def _attempt(self, request: Callable[[], Awaitable[T]]) -> T:
        while not self._given_up.is_set() and self._closed_for > 0:
            closed = self._closed_for
            await self._sleep(closed + random.uniform(0, min(1.0, closed)))
        if self._given_up.is_set():
            raise GivenUp
        answer = await request()
        self.answered = True
        return answer

    @property
    def _closed_for(self) -> float:
        return self._closed_until - time.monotonic()

    async def _sleep(self, seconds: float) -> None:
        """Sleep, or wake at once when all is given up."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._given_up.wait(), seconds)

    def _wait(self, state: RetryCallState) -> float:
        error = state.outcome.exception()
        wait = wait_random_exponential(FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS)(state)
        if isinstance(error, Refused):
            wait = max(wait, error.retry_after or 0)
            if error.status == 429:
                self._closed_until = max(self._closed_until, time.monotonic() + wait)
        return wait

    def _tell(self, state: RetryCallState) -> None:
        wait = state.next_action.sleep
        if wait >= TOLD_SECONDS and time.monotonic() - self._told_at >= NOTICE_SECONDS:
            self._told_at = time.monotonic()
            self._waits(state.outcome.exception(), wait, state.attempt_number)

    def _enough(self, state: RetryCallState) -> bool:
        error = state.outcome.exception()
        if isinstance(error, OddAnswer):
            return state.attempt_number >= min(ATTEMPTS, ODD_ATTEMPTS)
        attempts = ATTEMPTS if isinstance(error, Refused) or self.answered else FIRST_ATTEMPTS
        return state.attempt_number >= attempts


def retry_after_seconds(header: str | None) -> float | None:
    """Seconds to wait by a Retry-After header, be it a number or a date; None for any other text.

    >>> retry_after_seconds("1.5"), retry_after_seconds("soon"), retry_after_seconds(None)
    (1.5, None, None)
    """
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(header).timestamp() - time.time()
        except (ValueError, TypeError, OverflowError):
            return None
    return seconds if 0 <= seconds < float("inf") else None


def _worth_another(error: BaseException) -> bool:
    if isinstance(error, Refused) and (error.retry_after or 0) > LONGEST_RETRY_AFTER_SECONDS:
        return False
    return isinstance(error, ServerError) and error.transient
