"""The labelling page's benchmark at small sizes: that it runs and counts, not how fast it is."""

import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[1] / "bench" / "bench_annotate.py"


@pytest.mark.bench
def test_the_benchmark_runs_and_no_save_is_lost():
    done = subprocess.run([sys.executable, BENCH, "--small"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = {line[:48].strip(): line[48:].split() for line in done.stdout.splitlines()}
    assert found["saves stored"] == ["40", "40"]
    compared = {"ours / minimal", "throughput, ours / minimal", "save and next, 120 and 300"}
    assert compared <= found.keys()
