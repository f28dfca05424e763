"""The benchmark script runs, at small sizes; how fast it finds us is not asked here."""

import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[1] / "bench" / "bench_generation.py"


@pytest.mark.bench
def test_planning_and_resuming_are_measured():
    done = subprocess.run(
        [sys.executable, BENCH, "--quick"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr[-2000:]
    planning, resuming = done.stdout.splitlines()
    assert "planning paper.toml, 687,500 turns" in planning
    assert "start-up over 2,000 stored rows" in resuming
