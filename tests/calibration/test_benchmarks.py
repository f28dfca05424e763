"""The benchmark and the simulation of the calibration run through; their numbers are not judged."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.bench
TESTS = Path(__file__).parents[1]


def printed(script: str, *options: str) -> list[str]:
    command = [sys.executable, TESTS / script, *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_the_benchmark_compares_and_at_small_sizes_judges_nothing():
    parts = ("kappa", "paired", "clustered", "alpha")
    first, *lines = printed(
        "bench/bench_calibrate.py", "--quick", *(f"--only={part}" for part in parts)
    )
    assert first.startswith("numpy ")
    assert sum("ratio" in line for line in lines) == 4
    assert not [line for line in lines if line.endswith(("met", "MISSED"))]


def test_the_simulation_gives_the_same_table_however_many_share_the_work():
    one, two = (
        printed("simulation/coverage.py", "--quick", "--only=labelled", f"--workers={n}")
        for n in (1, 2)
    )
    assert one == two
    rows = [line.split(" | ") for line in one if line.startswith("| rate")]
    assert len(rows) == 4 * 3
    assert {row[1] for row in rows} == {
        "post-stratified",
        "judge's errors inverted (Rogan-Gladen)",
        "judge uncorrected (for comparison)",
    }


def test_the_workbench_is_timed_in_every_view_and_at_small_sizes_not_judged():
    first, *lines = printed("bench/bench_workbench.py", "--small")
    assert first.startswith("300 items × 2 prompts × 2 runs, 200 labelled by 2 scripts")
    timed = [line for line in lines if " ms, p95 " in line]
    assert len([line for line in timed if "as labels arrive" in line]) == 12 + 1
    assert len([line for line in timed if line.startswith("next disagreement")]) == 3
    assert len([line for line in lines if line.startswith("memory")]) == 3
    assert not [line for line in lines if line.endswith(("met", "MISSED"))]


def test_the_simulation_of_statements_prints_every_kind_with_its_error():
    lines = printed("simulation/statements.py", "--quick", "--only=rising", "--workers=1")
    rows = [line.split(" | ") for line in lines if line.startswith("| rising")]
    assert [row[1] for row in rows] == [
        "latent or absent",
        "with temperature",
        "with size",
        "dominant label",
        "perturbation",
    ]
    assert all("±" in row[4] for row in rows)


def test_the_report_is_timed_and_at_small_sizes_not_judged():
    lines = printed("bench/bench_report.py", "--quick")
    assert [line.split("  ")[0] for line in lines] == [
        "tables and statements",
        "with figures, in every format",
        "with the page",
    ]
    assert not [line for line in lines if line.endswith(("met", "MISSED"))]
