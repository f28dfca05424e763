"""What a run may spend: dollars, however many requests are in flight, and requests per minute."""

import asyncio
import random
import re
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judged_study import make_study
from stub_http import Held
from stub_server import StubServer, any_verdict, error

from judge.server.limits import Account, CostReached, Limits
from judge.server.usage import Price, Usage, estimated_usage

PRICE = Price(input=2.0, output=8.0, cached_input=0.5)  # dollars per million tokens


def test_reserve_settle_cancel():
    """A request is 1,000 + 100 tokens: $0.0028. Under $0.0060 two fit beside each other."""
    estimate = Usage(1000, 100)

    async def run() -> None:
        account = Account(Limits(max_cost=0.006, price=PRICE))
        first, second = await account.reserve(estimate), await account.reserve(estimate)
        assert first == second == pytest.approx(0.0028)
        third = asyncio.create_task(account.reserve(estimate))
        await asyncio.sleep(0)
        assert not third.done()
        account.cancel(second)  # refused: nothing spent, and the third fits
        await third
        account.settle(first, estimate, Usage(1000, 10, 1000))  # all cached: $0.0005 + $0.00008
        account.settle(third.result(), estimate, None)  # unknown: as estimated
        assert account.spent == pytest.approx(0.00058 + 0.0028)
        with pytest.raises(CostReached):
            await account.reserve(estimate)

    asyncio.run(run())


@given(
    limit=st.floats(0.001, 0.05),
    workers=st.integers(1, 32),
    seed=st.integers(0, 2**32),
)
def test_never_more_is_spent_than_allowed(limit, workers, seed):
    """Estimates of any size, usage anywhere below, replies in any order, some of them refusals."""
    chance = random.Random(seed)

    async def worker(account: Account) -> None:
        for _ in range(20):
            estimate = Usage(chance.randrange(1, 2000), chance.randrange(1, 500))
            reserved = await account.reserve(estimate)
            for _ in range(chance.randrange(4)):
                await asyncio.sleep(0)
            if chance.random() < 0.2:
                account.cancel(reserved)
            else:
                prompt = chance.randint(0, estimate.prompt_tokens)
                used = Usage(prompt, chance.randint(0, estimate.completion_tokens), prompt // 2)
                account.settle(reserved, estimate, used)
            assert account.spent <= limit

    async def run() -> None:
        account = Account(Limits(max_cost=limit, price=PRICE))
        found = await asyncio.gather(
            *(worker(account) for _ in range(workers)), return_exceptions=True
        )
        assert all(error is None or isinstance(error, CostReached) for error in found)

    asyncio.run(run())


def test_prompts_longer_than_estimated_make_later_estimates_longer():
    async def run() -> None:
        account = Account(Limits(max_cost=1.0, price=PRICE))
        reserved = await account.reserve(Usage(1000, 100))
        account.settle(reserved, Usage(1000, 100), Usage(1500, 10))
        # 2,000 × 1.5 × $2 + 100 × $8, for a million
        assert await account.reserve(Usage(2000, 100)) == pytest.approx(0.0068)

    asyncio.run(run())


def test_without_a_limit_or_a_price_nothing_waits():
    async def run() -> None:
        account = Account(Limits())
        reserved = [await account.reserve(Usage(10**9, 10**9)) for _ in range(100)]
        account.settle(reserved[0], Usage(10**9, 10**9), Usage(10**9, 0))
        assert (reserved[0], account.spent, account.paced) == (0.0, 0.0, False)

    asyncio.run(run())


def test_an_estimate_counts_bytes_and_the_longest_answer():
    messages = [{"role": "system", "content": "ä" * 4}, {"role": "user", "content": "x"}]
    assert estimated_usage(messages, 50) == Usage(prompt_tokens=3, completion_tokens=50)  # 9 bytes


@pytest.mark.usefixtures("quick")
def test_a_request_larger_than_the_minutes_tokens_is_refused(study, judge_by):
    with StubServer() as server:
        code, _out, err = judge_by(server, "--tokens-per-minute", 1000)
        assert not server.requests
    assert (code, err.count("\n")) == (1, 1)
    assert re.search(r"one request may take \d+ tokens, more than --tokens-per-minute 1000;", err)


class Limiter:
    """In place of aiolimiter's: notes what is acquired, and lets only so many pass."""

    made: ClassVar[list["Limiter"]] = []
    passing = 1000

    def __init__(self, max_rate: float, time_period: float) -> None:
        self.max_rate, self.time_period = max_rate, time_period
        self.acquired: list[float] = []
        self.made.append(self)

    async def acquire(self, amount: float = 1) -> None:
        self.acquired.append(amount)
        if len(self.acquired) > self.passing:
            await asyncio.Event().wait()


@pytest.fixture
def limiters(monkeypatch):
    monkeypatch.setattr("judge.server.limits.AsyncLimiter", Limiter)
    monkeypatch.setattr(Limiter, "made", [])
    return Limiter.made


@pytest.mark.usefixtures("quick")
def test_every_try_is_counted_against_the_minute(study, judge_by, limiters):
    """Requests one by one, evenly; tokens by the estimate. The third request has to be repeated."""

    def behave(request):
        return error(500, "again") if request.number == 2 else any_verdict(request)

    with StubServer(behave) as server:
        options = ("--requests-per-minute", 4, "--tokens-per-minute", 10**6, "--concurrency", 1)
        assert judge_by(server, *options)[0] == 0
        sizes = [estimated_usage(r.body["messages"], 1024) for r in server.requests]
    requests, tokens = limiters
    assert (requests.max_rate, requests.time_period, requests.acquired) == (1, 15, [1] * 9)
    assert (tokens.max_rate, tokens.time_period) == (10**6, 60)
    assert tokens.acquired == [size.prompt_tokens + 1024 for size in sizes]


@pytest.mark.usefixtures("quick")
def test_who_waits_for_the_next_minute_is_woken_when_all_is_given_up(
    study, judge_by, limiters, monkeypatch
):
    """The second request is refused for good while seven others wait to be let through."""
    monkeypatch.setattr(Limiter, "passing", 2)

    def behave(request):
        return any_verdict(request) if request.number == 0 else error(401, "no")

    with StubServer(behave) as server:
        code, _out, err = judge_by(server, "--requests-per-minute", 1, "--concurrency", 8)
        assert len(server.requests) == 2
    assert (code, "answered 401" in err) == (1, True)


@pytest.mark.usefixtures("quick")
def test_as_many_are_in_flight_as_asked_for_and_no_more(tmp_path, judge_by):
    """Over several HTTP clients. After the first request, which goes alone, none is answered until
    60 wait; a 61st would be counted.
    """
    study = make_study(tmp_path / "many", (f"Turn {n}?" for n in range(1 + 2 * 60)))
    held = []

    def behave(request):
        if request.number == 0:
            return any_verdict(request)
        held.append((Held(), any_verdict(request)))
        last = held[-1][0]
        if len(held) == 60:
            for waiting, reply in held:
                server.loop.call_later(0.1, waiting.future.set_result, reply)
            held.clear()
        return last

    with StubServer(behave) as server:
        assert judge_by(server, "--concurrency", 60, of=study)[0] == 0
        assert server.counts["most_in_flight"] == 60
        assert server.counts["requests"] == server.counts["by_body"] == 121
