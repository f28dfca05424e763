"""Runs that are killed: nothing that was stored is lost or made again, no row is there twice."""

import json
import random
import signal
import subprocess
import sys
import time

import pytest
from byte_model import write_folder
from chat_templates import QWEN25
from completions_server import CompletionsStub, Fault

from generation.database import open_database
from generation.migrations import generation_migrations
from generation.study import Study

QUESTIONS, TURNS = 40, 13  # per question: T = 0 once, three temperatures four times
LATENCY = 0.02  # seconds a completion takes, so that a run can be caught in the middle


@pytest.fixture
def command(tmp_path):
    """The command line of a run over a server, but for the server's URL."""
    write_folder(tmp_path / "small", QWEN25)
    rows = [{"question": f"{n} + {n}?", "answer": f"#### {2 * n}"} for n in range(QUESTIONS)]
    path = tmp_path / "gsm8k.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    program = (
        "from generation.engines import server_engine; server_engine.FIRST_WAIT_SECONDS = 0.01; "
        "from generation.cli import generate; generate()"
    )
    sweep = [f"--temperature={t}" for t in (0, 0.3, 0.7, 1)]
    return [
        sys.executable, "-c", program, "--model", tmp_path / "small", "--data", f"gsm8k:{path}",
        *sweep, "--samples=4", "--study", tmp_path / "study", "--engine=server", "--in-flight=16",
        "--json",
    ]  # fmt: skip


def start(command, server):
    return subprocess.Popen(
        [*command, "--base-url", server.url],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def finished(command, server):
    process = start(command, server)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err[-2000:]
    return json.loads(out)


def stored(tmp_path) -> dict[str, tuple[str, str]]:
    """Every row of answers and turns by its id, with what it says; {} before there is a study."""
    study = Study(tmp_path / "study")
    if not study.pipeline.exists():
        return {}
    database = open_database(study.pipeline, (generation_migrations,))
    rows = database.conn.execute(
        "SELECT row_id, text, token_ids FROM answers WHERE row_id IS NOT NULL"
        " UNION ALL SELECT row_id, text, token_ids FROM turns"
    ).fetchall()
    database.close()
    assert len({row_id for row_id, *_ in rows}) == len(rows), "no row is there twice"
    return {row_id: (text, ids) for row_id, text, ids in rows}


def killed(command, server, tmp_path, how, after):
    """Start a run, stop it once `after` requests more have reached the server."""
    reached = server.counts["requests"] + after
    process = start(command, server)
    while server.counts["requests"] < reached and process.poll() is None:
        time.sleep(0.002)  # until the server, which is not ours to ask, has seen enough
    process.send_signal(how)
    process.communicate(timeout=60)
    return process.returncode, stored(tmp_path)


def check_goes_on(before, after):
    for row_id, said in before.items():
        assert after[row_id] == said, "what was stored stays as it is"


def check_complete(result, rows):
    """Every answer, and every turn of an answer that says something, is there."""
    (model,) = result["models"]
    turns = model["turns"]
    assert turns["planned"] == QUESTIONS * TURNS
    assert turns["new"] + turns["known"] == turns["planned"] - turns["unusable"]
    assert turns["unusable"] == sum(model["unusable"].values())
    assert len(rows) == QUESTIONS + turns["new"] + turns["known"]


def kill_and_finish(command, tmp_path, kills, seed):
    generator = random.Random(seed)
    with CompletionsStub(model="small", latency=LATENCY) as server:
        before = {}
        for _ in range(kills):
            _, after = killed(
                command, server, tmp_path, signal.SIGKILL, generator.randrange(20, 120)
            )
            check_goes_on(before, after)
            before = after
        result = finished(command, server)
        check_goes_on(before, stored(tmp_path))
        check_complete(result, stored(tmp_path))
        asked = server.counts["requests"]
        assert finished(command, server)["new"] == 0
        assert server.counts["requests"] == asked, "nothing is asked again, the engine not opened"


def test_killed_run_goes_on_where_it_was(command, tmp_path):
    kill_and_finish(command, tmp_path, 1, seed=1)


@pytest.mark.bench
def test_run_killed_ten_times_at_random_loses_and_doubles_nothing(command, tmp_path):
    kill_and_finish(command, tmp_path, 10, seed=2)


def test_interrupt_keeps_what_came(command, tmp_path):
    with CompletionsStub(model="small", latency=LATENCY) as server:
        code, kept = killed(command, server, tmp_path, signal.SIGINT, 150)
    assert code == 130
    assert len(kept) > QUESTIONS, "the answers, and some turns"


@pytest.mark.bench
def test_server_that_dies_ends_the_run_in_one_line_and_the_next_one_finishes(command, tmp_path):
    with CompletionsStub(Fault("die", 60), model="small") as server:
        process = start(command, server)
        _, said = process.communicate(timeout=120)
    assert process.returncode == 1
    (line,) = [line for line in said.splitlines() if line.startswith("error")]
    assert "the same command goes on" in line
    before = stored(tmp_path)
    assert len(before) >= QUESTIONS
    with CompletionsStub(model="small") as server:
        result = finished(command, server)
    check_goes_on(before, stored(tmp_path))
    check_complete(result, stored(tmp_path))
