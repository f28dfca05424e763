"""The benchmark and the simulation of the calibration run through; their numbers are not judged."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.bench
TESTS = Path(__file__).parents[1]


def printed(script: str, *options: str) -> list[str]:
    command = [sys.executable, TESTS / script, "--quick", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_the_benchmark_compares_and_at_small_sizes_judges_nothing():
    parts = ("kappa", "paired", "clustered", "alpha")
    first, *lines = printed("bench/bench_calibrate.py", *(f"--only={part}" for part in parts))
    assert first.startswith("numpy ")
    assert sum("ratio" in line for line in lines) == 4
    assert not [line for line in lines if line.endswith(("met", "MISSED"))]


def test_the_simulation_gives_the_same_table_however_many_share_the_work():
    one, two = (
        printed("simulation/coverage.py", "--only=labelled", f"--workers={n}") for n in (1, 2)
    )
    assert one == two
    rows = [line.split(" | ") for line in one if line.startswith("| rate")]
    assert len(rows) == 4 * 3
    assert {row[1] for row in rows} == {
        "post-stratified",
        "judge's errors inverted (Rogan-Gladen)",
        "judge uncorrected (for comparison)",
    }
