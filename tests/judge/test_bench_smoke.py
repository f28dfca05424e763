"""The benchmark runs: at small sizes only its exact count is held to; speed is not tested here."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.bench
BENCH = Path(__file__).parents[1] / "bench" / "bench_judge.py"


def test_the_benchmark_runs_and_equal_turns_are_asked_once():
    done = subprocess.run(
        [sys.executable, BENCH, "--quick"], capture_output=True, text=True, timeout=280
    )
    found = {line[:48].strip(): line[48:].split() for line in done.stdout.splitlines()}
    assert found["calls for 500 turns"] == ["200", "200", "met"], done.stderr
    assert {"best of ours / best of bare", "growth of the peak"} <= found.keys()
