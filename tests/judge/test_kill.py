"""`kill -9` of the real command at any moment, and two commands at once: nothing is paid twice."""

import os
import random
import signal
import subprocess
import sys
import urllib.request

import pytest
from judged_study import judgments, make_study, rows
from stub_http import Held
from stub_server import StubServer, any_verdict

ITEMS, KILLS, CONCURRENCY = 400, 10, 8

pytestmark = pytest.mark.usefixtures("quick")


def start(study, server, *options: object) -> subprocess.Popen:
    command = [
        *(sys.executable, "-c", "from judge.cli import judge; judge()"),
        *("--study", study.folder, "--model", "m", "--base-url", server.url, *options),
    ]
    return subprocess.Popen(
        list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


class Killing:
    """A stub's script: some time after its nth request in a life, the command is killed."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.process: subprocess.Popen | None = None
        self.left = -1

    def arm(self, process: subprocess.Popen) -> None:
        self.process, self.left = process, self.chance.randint(1, 20)

    def __call__(self, request):
        self.left -= 1
        if self.left == 0:
            moment = self.chance.uniform(0, 0.01)
            self.server.loop.call_later(moment, os.kill, self.process.pid, signal.SIGKILL)
        reply = any_verdict(request)
        return type(reply)(body=reply.body, delay=self.chance.uniform(0, 0.02))


@pytest.mark.parametrize("kills", [2, pytest.param(10, marks=pytest.mark.bench)])
def test_kills_lose_no_verdict_but_those_in_flight(tmp_path, kills):
    """A worker keeps its verdict before it asks for the next one, so that all requests of a life
    but those of the last moment, one per worker, have left a row.
    """
    study = make_study(tmp_path / "killed", (f"Turn {n}?" for n in range(ITEMS)))
    killing = Killing(seed=20260402)
    with StubServer(killing) as server:
        killing.server = server
        asked = kept = 0
        for _ in range(kills):
            killing.arm(start(study, server, "--concurrency", CONCURRENCY))
            _out, err = killing.process.communicate(timeout=100)
            assert killing.process.returncode == -signal.SIGKILL, err
            # By the time that a new connection is answered, all that the old ones held is read.
            urllib.request.urlopen(f"{server.url.removesuffix('/v1')}/counts").close()
            server.wait_until(lambda counts: counts["in_flight"] == 0)
            asked, before = server.counts["requests"], asked
            kept, kept_before = rows(study, "SELECT count(*) AS n FROM judgments")[0]["n"], kept
            assert asked - before - CONCURRENCY <= kept - kept_before <= asked - before
        last = start(study, server, "--concurrency", CONCURRENCY)
        out, err = last.communicate(timeout=100)
        assert (last.returncode, err) == (0, "")
        assert out.startswith(f"{ITEMS - kept} items judged by m under rubric v3, {kept} judged")
        assert server.counts["by_body"] == ITEMS
        assert server.counts["duplicates"] <= kills * CONCURRENCY
        asked = server.counts["requests"]
        assert start(study, server).wait(100) == 0
        assert server.counts["requests"] == asked
    stored = judgments(study)
    assert len(stored) == len({row["item_hash"] for row in stored}) == ITEMS
    assert all(row["label"] for row in stored)
    assert len({row["judge_id"] for row in stored}) == 1
    assert rows(study, "PRAGMA integrity_check") == [{"integrity_check": "ok"}]


def test_a_second_run_of_the_same_judge_is_refused_until_the_first_ends(study, judge_by):
    """The first is killed amid its second request; what it has judged is not asked again."""
    held = Held()
    with StubServer(lambda r: held if r.number == 1 else any_verdict(r)) as server:
        first = start(study, server, "--concurrency", 1)
        server.wait_until(lambda counts: counts["requests"] == 2)
        code, out, err = judge_by(server)
        assert (code, out, err.count("\n")) == (1, "", 1)
        assert f"another run of m under this prompt is going on in {study.folder}" in err
        assert server.counts["requests"] == 2
        first.kill()
        first.communicate(timeout=100)
        code, out, err = judge_by(server)
        assert (code, err) == (0, "")
        assert out.startswith("7 items judged by m under rubric v3, 1 judged before\n")
        assert (server.counts["requests"], server.counts["duplicates"]) == (9, 1)


def test_another_model_may_run_beside_it(study, judge_by, run_cli):
    held = Held()
    with StubServer(lambda r: held if r.number == 1 else any_verdict(r)) as server:
        first = start(study, server, "--concurrency", 1)
        server.wait_until(lambda counts: counts["requests"] == 2)
        options = ("--study", study.folder, "--base-url", server.url, "--model", "other")
        assert run_cli(*options)[0] == 0
        held.future.set_result(any_verdict(server.requests[1]))
        out, err = first.communicate(timeout=100)
        assert (first.returncode, err) == (0, "")
        assert out.startswith("8 items judged by m under rubric v3\n")
    models = [row["model"] for row in judgments(study)]
    assert (models.count("m"), models.count("other")) == (8, 8)
