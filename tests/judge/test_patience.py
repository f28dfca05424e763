"""Asking again: after what, how long after, by whom, and when not; waits are noted, not slept."""

import asyncio
import email.utils
import time

import pytest
from judged_study import judgments
from stub_http import Answer, CutMidBody, Drop, Held, Stall
from stub_server import StubServer, any_verdict, completion, error, turn_of, verdict

from judge.server.patience import ATTEMPTS, GivenUp, Patience, retry_after_seconds

ITEMS = 8  # distinct items of the `study` fixture
HTML = Answer(body="<html><body>Checking your browser</body></html>")
ROUTER = Answer(body={"error": {"code": 429, "message": "Provider returned error"}})
ROUTER_CHOICE = Answer(
    body={"choices": [{"error": {"code": 502, "message": "gone"}, "message": {"content": ""}}]}
)

pytestmark = pytest.mark.usefixtures("quick")


@pytest.fixture
def waits(monkeypatch) -> list[float]:
    """The seconds of every wait, in order; none of them is really waited."""
    noted: list[float] = []
    sleep = Patience._sleep

    async def note(self: Patience, seconds: float) -> None:
        noted.append(seconds)
        self._closed_until = 0.0  # as if the time had gone by
        await sleep(self, 0.001)

    monkeypatch.setattr(Patience, "_sleep", note)
    return noted


def nth_fails(number, reply):
    """A stub's script: request `number` gets this reply, every other a verdict."""
    return lambda request: reply if request.number == number else any_verdict(request)


FAULTS = {
    **{str(status): error(status, "later") for status in (408, 409, 429, 500, 502, 503, 529)},
    "dropped": Drop(),
    "reset": Drop(reset=True),
    "cut": CutMidBody(completion(verdict()), 40),
    "cut, reset": CutMidBody(completion(verdict()), 40, reset=True),
    "html": HTML,
    "odd JSON": Answer(body={"hello": "world"}),
    "router": ROUTER,
    "router, in a choice": ROUTER_CHOICE,
}


@pytest.mark.parametrize("number", [0, 4])
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_one_fault_costs_one_more_try(study, judge_by, fault, number):
    with StubServer(nth_fails(number, fault)) as server:
        code, _out, err = judge_by(server)
        assert (code, err) == (0, "")
        assert (len(server.requests), server.counts["duplicates"]) == (ITEMS + 1, 1)
    assert [bool(row["label"]) for row in judgments(study)] == [True] * ITEMS


def test_a_stall_is_given_up_and_asked_again(study, judge_by, monkeypatch):
    monkeypatch.setattr("judge.server.client.TIMEOUT_SECONDS", 0.5)
    with StubServer(nth_fails(4, Stall())) as server:
        assert judge_by(server)[0] == 0
        assert server.counts["duplicates"] == 1
    assert len(judgments(study)) == ITEMS


def test_a_server_that_only_stalls_is_one_line(study, judge_by, monkeypatch):
    monkeypatch.setattr("judge.server.client.TIMEOUT_SECONDS", 0.1)
    with StubServer(lambda request: Stall()) as server:
        code, out, err = judge_by(server)
        assert len(server.requests) == 2  # nothing was ever answered here
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert f"no answer from {server.url} within 0 s" in err


@pytest.mark.parametrize(
    "header", ["70", "70.5", lambda: email.utils.formatdate(time.time() + 90, usegmt=True)]
)
def test_retry_after_is_waited_for(study, judge_by, waits, header):
    seconds = header() if callable(header) else header
    refused = error(429, "slow down", headers={"Retry-After": seconds})
    with StubServer(nth_fails(0, refused)) as server:
        assert judge_by(server)[0] == 0
    (wait,) = waits
    assert 50 < wait <= 90  # full jitter alone would have been under a hundredth of a second


@pytest.mark.parametrize("header", ["soon", "-1", "inf", "nan", "", "1e999"])
def test_a_retry_after_without_sense_is_none(header):
    assert retry_after_seconds(header) is None


def test_a_date_that_is_over_is_no_wait():
    assert retry_after_seconds("Wed, 21 Oct 2015 07:28:00 GMT") is None


def test_a_429_closes_the_gate_for_the_others(study, judge_by, monkeypatch):
    """Two are in flight when one of them is refused for 60 s: the other's worker, which has its
    verdict and goes on to its next item, waits as long before it asks.
    """
    waits: list[float] = []
    both_wait = asyncio.Event()

    async def note(self: Patience, seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 2:
            both_wait.set()
        await both_wait.wait()
        self._closed_until = 0.0

    monkeypatch.setattr(Patience, "_sleep", note)
    held = Held()
    refused = error(429, "slow down", headers={"Retry-After": "60"})

    def behave(request):
        if request.number == 1:
            return held
        if request.number == 2:
            server.loop.call_later(0.05, held.future.set_result, any_verdict(first.pop()))
            return refused
        return any_verdict(request)

    first = []

    def noting(request):
        if request.number == 1:
            first.append(request)
        return behave(request)

    with StubServer(noting) as server:
        assert judge_by(server, "--concurrency", 2)[0] == 0
        assert len(server.requests) == ITEMS + 1
    assert len(waits) >= 2
    assert all(wait > 50 for wait in waits[:2])


def test_the_longer_a_server_fails_the_longer_the_waits_may_be(study, judge_by, waits, monkeypatch):
    """Full jitter: a wait is drawn from nothing up to a bound that doubles, up to the longest."""
    monkeypatch.setattr("judge.server.patience.FIRST_WAIT_SECONDS", 1.0)
    monkeypatch.setattr("judge.server.patience.LONGEST_WAIT_SECONDS", 16.0)
    monkeypatch.setattr("random.uniform", lambda low, high: high)
    with StubServer(lambda request: error(500, "down")) as server:
        code, _out, err = judge_by(server)
        assert (code, len(server.requests)) == (1, 2 * ATTEMPTS)  # of two items: it is not the item
    told, *_others, last = (
        err.splitlines()
    )  # of the first wait that is worth a word, and not of each
    assert told == f"waiting 4 s after attempt 3: {server.url} answered 500 for model m: down"
    assert last.startswith(f"error: {server.url} answered 500 for model m: down; ")
    assert waits == [1, 2, 4, 8, 16, 16, 16] * 2


REFUSALS = {
    "quota": (error(429, "You exceeded your quota.", "insufficient_quota"), "credit is used up"),
    "hours": (error(429, "Come back.", headers={"Retry-After": "601"}), "rate limit or quota"),
    "unavailable for hours": (error(503, "Down.", headers={"Retry-After": "7200"}), "server's log"),
    "unauthorized": (error(401, "no"), "check OPENAI_API_KEY"),
    "payment": (error(402, "Insufficient Balance"), "Insufficient Balance"),
    "forbidden": (error(403, "no"), "may use this model"),
    "not found": (error(404, "The model `m` does not exist", "model_not_found"), "model named m"),
    "web page": (Answer(403, "<html>Forbidden</html>"), "answered 403"),
}


@pytest.mark.parametrize("number", [0, 3])
@pytest.mark.parametrize(("reply", "says"), REFUSALS.values(), ids=REFUSALS)
def test_what_no_waiting_cures_stops_at_once(study, judge_by, waits, reply, says, number):
    with StubServer(nth_fails(number, reply)) as server:
        code, out, err = judge_by(server, "--concurrency", 1)
        assert len(server.requests) == number + 1
    assert (code, out, err.count("\n"), waits) == (1, "", 1, [])
    assert says in err
    assert len(judgments(study)) == number


OF_THE_REQUEST = {
    "too large": error(413, "Request Entity Too Large"),
    "plain": Answer(400, {"error": "engine died on this one"}),
    "always": error(500, "engine died on this one"),
}


@pytest.mark.parametrize("reply", OF_THE_REQUEST.values(), ids=OF_THE_REQUEST)
def test_one_request_that_always_fails_keeps_no_other_from_its_verdict(study, judge_by, reply):
    """It is the first that is asked, and stays waiting until its server takes it."""
    poison: list[str] = []

    def behave(request):
        poison.append(turn_of(request.body))
        return reply if turn_of(request.body) == poison[0] else any_verdict(request)

    with StubServer(behave) as server:
        code, out, err = judge_by(server)
        assert (code, out, err.count("\n")) == (1, "", 1)
        assert err.startswith("error: 1 verdict could not be had and is still waiting: ")
        assert len(judgments(study)) == ITEMS - 1
        before = len(server.requests)
        assert judge_by(server)[0] == 1
        tries = ATTEMPTS if reply.status == 500 else 1
        assert len(server.requests) - before == tries  # it is the only one that waits
        server.behave = any_verdict
        code, out, _err = judge_by(server)
        assert (code, out.startswith("1 item judged by m")) == (0, True)


@pytest.mark.parametrize("reply", OF_THE_REQUEST.values(), ids=OF_THE_REQUEST)
def test_several_in_a_row_stop_the_run(study, judge_by, reply):
    with StubServer(lambda r: any_verdict(r) if r.number < 3 else reply) as server:
        code, out, err = judge_by(server, "--concurrency", 1)
        assert len({request.raw for request in server.requests}) == 6
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert len(judgments(study)) == 3


def test_a_storm_that_ends_loses_nothing_and_repeats_only_what_failed(study, judge_by):
    storm = range(3, 24)
    with StubServer(
        lambda request: error(500, "storm") if request.number in storm else any_verdict(request)
    ) as server:
        code, _out, err = judge_by(server, "--runs", 5, "--concurrency", 8)
        assert (code, err) == (0, "")
        assert len(server.requests) == 5 * ITEMS + len(storm)
        assert server.counts["duplicates"] == len(storm)
        assert server.counts["by_body"] == 5 * ITEMS
    assert len(judgments(study)) == 5 * ITEMS


def test_who_waits_to_ask_again_is_woken_when_all_is_given_up(study, judge_by, monkeypatch):
    """Three wait for hours when the fourth is refused for good; in the test's time they would
    outlast its timeout.
    """
    monkeypatch.setattr("judge.server.patience.LONGEST_RETRY_AFTER_SECONDS", 10_000)
    later = error(503, "later", headers={"Retry-After": "9000"})
    held = Held()

    def behave(request):
        if request.number == 0:
            return any_verdict(request)
        if request.number == 1:
            return held
        if request.number == 4:
            server.loop.call_soon(held.future.set_result, error(401, "no"))
        return later

    with StubServer(behave) as server:
        code, _out, err = judge_by(server, "--concurrency", 4)
        assert len(server.requests) == 5
    told, last = err.splitlines()
    assert (code, told.startswith("waiting 9000 s after attempt 1: ")) == (1, True)
    assert "answered 401" in last
    assert len(judgments(study)) == 1


def test_verdicts_under_way_are_kept_when_another_is_refused(study, judge_by):
    """The refusal is out before the other is answered, and no new request is made after it."""
    held, others = Held(), []

    def behave(request):
        if request.number == 1:
            others.append(request)
            return held
        if request.number == 2:
            server.loop.call_later(0.1, held.future.set_result, any_verdict(others[0]))
            return error(401, "no")
        return any_verdict(request)

    with StubServer(behave) as server:
        code, _out, _err = judge_by(server, "--concurrency", 2)
        assert (code, len(server.requests)) == (1, 3)
    kept = {row["turn"] for row in judgments(study)}
    assert kept == {turn_of(server.requests[n].body) for n in (0, 1)}


@pytest.mark.parametrize("closed", [3600.0, 0.05])
def test_a_closed_gate_opens_for_those_who_give_up(closed):
    """With the real sleep: whoever waits behind the gate ends at once, and does not spin."""

    async def at_the_gate() -> int:
        patience, looked = Patience(), 0
        patience._closed_until = time.monotonic() + closed
        sleep = patience._sleep

        async def counted(seconds: float) -> None:
            nonlocal looked
            looked += 1
            await sleep(seconds)

        async def never() -> None:
            raise AssertionError("asked behind a closed gate")

        patience._sleep = counted
        waiting = asyncio.create_task(patience.ask(never))
        await asyncio.sleep(0)
        patience.give_up()
        with pytest.raises(GivenUp):
            await waiting
        return looked

    assert asyncio.run(at_the_gate()) <= 1
