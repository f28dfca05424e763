"""`calibrate report` of all that paper.toml asks for, with made-up verdicts: `make bench-report`.

The study is made in a temporary folder first, which takes longer than the report. Prints one
table; ends with 1 at a miss.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path.insert(0, str(TESTS / "support"))

from main_run_study import MadeRun, make_main_run  # noqa: E402
from target_table import Line, print_table  # noqa: E402

from generation.plan.plan_file import read_plan  # noqa: E402

MAX_SECONDS, MAX_MIB = 60, 2048
SIZES = {"gsm8k": 1319, "ifeval": 541, "ifbench": 300, "gpqa_main": 448, "gpqa_diamond": 198}
HELD_OUT = {"healthbench": 1470, "coval": 100}
TURNS = 687_500


def paper_run() -> MadeRun:
    """As paper.toml plans it."""
    plan = read_plan(Path("paper.toml"))
    return MadeRun(
        models=tuple(model.name for model in plan.models),
        datasets=SIZES,
        held_out=HELD_OUT,
        labelled=400,
        spread=4.0,
        plan=plan.name,
    )


def small(made: MadeRun) -> MadeRun:
    return replace(
        made,
        models=made.models[:3],
        datasets=dict.fromkeys(SIZES, 4),
        held_out=dict.fromkeys(HELD_OUT, 4),
        labelled=40,
    )


def measured(folder: Path) -> Iterator[Line]:
    study, target = folder / "study", f"< {MAX_SECONDS} s, < {MAX_MIB:,} MiB"
    page = ("--output", str(folder / "page"), "--html")
    yield report("tables and statements", target, study)
    yield report("with figures, in every format", target, study, "--output", str(folder / "report"))
    yield report("with the page", "", study, *page)


def report(what: str, target: str, study: Path, *options: str) -> Line:
    """Time and peak memory of the command in a process of its own."""
    code = "from judge.calibration.cli import calibrate; calibrate()"
    command = [sys.executable, "-c", code, "report", "--plan", "paper.toml", "--study", str(study)]
    started = time.perf_counter()
    process = subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"failed with {os.waitstatus_to_exitcode(status)}")
    seconds, mib = time.perf_counter() - started, used.ru_maxrss / 1024
    met = seconds < MAX_SECONDS and mib < MAX_MIB
    return Line(what, f"{seconds:.1f} s, {mib:,.0f} MiB", target, met)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, no targets: a try-out")
    parser.add_argument("--folder", type=Path, help="keep the study and the reports here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch)
        made = small(paper_run()) if options.quick else paper_run()
        if not (folder / "study").exists():
            make_main_run(folder / "study", made)
        met = print_table(measured(folder), judged=not options.quick)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
