"""The page of a main run of 100,000 turns on this machine; --turns N for another size.

Run by hand. Prints one table: building, sizes, and times in Chromium from a file:// address, each
from setting the address to the view being shown. Texts are as long as real ones are.
"""

import argparse
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from statistics import median

sys.path[:0] = [str(Path(__file__).parents[1] / "support")]

from main_run_study import MadeRun, make_main_run  # noqa: E402
from playwright.sync_api import Page, sync_playwright  # noqa: E402
from target_table import Line, print_table  # noqa: E402

from annotator.reference_rule import ReferenceRule  # noqa: E402
from generation.study import Study  # noqa: E402
from judge.calibration.main_run.report_page.write_page import write_page  # noqa: E402
from judge.calibration.main_run.run_labels import Choices  # noqa: E402
from judge.calibration.main_run.selection import select_runs  # noqa: E402
from judge.calibration.main_run.study_main_run import study_main_run  # noqa: E402
from judge.store import open_pipeline  # noqa: E402
from rubrics import load_rubric  # noqa: E402

MODELS = 10
EACH = 15  # turns of a model per query: 1 + 3 · 4 over temperatures, 2 perturbed
ANSWER, TURN, RATIONALE = 1_500, 150, 250  # characters
ROUNDS = 5
SHOW = """async hash => {
  const main = document.querySelector("main");
  const start = performance.now();
  location.hash = hash;
  await new Promise(done => {
    const look = () => main.dataset.shown === location.hash ? done() : requestAnimationFrame(look);
    requestAnimationFrame(look);
  });
  return performance.now() - start;
}"""


def make_study(folder: Path, turns: int) -> Study:
    queries = max(3, turns // MODELS // EACH // 3)
    made = MadeRun(
        models=tuple(f"Made-{size}B" for size in range(1, MODELS + 1)),
        datasets={"gsm8k": queries, "ifbench": queries, "ifeval": queries},
        labelled=300,
    )
    study = make_main_run(folder, made)
    with open_pipeline(study.pipeline) as database:
        execute = database.conn.execute
        execute("PRAGMA synchronous=OFF")
        for table, column, size in (
            ("answers", "text", ANSWER),
            ("turns", "text", TURN),
            ("judgments", "rationale", RATIONALE),
        ):
            padding = ("So it goes, for 3 h 25 min. " * 100)[:size]
            execute(f"UPDATE {table} SET {column} = {column} || ?", [padding])
    return study


def build(study: Study, folder: Path) -> Iterator[Line]:
    with open_pipeline(study.pipeline) as database:
        selection = select_runs(database, "made", study.option)
        started = time.perf_counter()
        run = study_main_run(database, study, load_rubric("v3"), selection, Choices())
        yield Line("loading the run", f"{time.perf_counter() - started:.1f} s")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        started, cpu = time.perf_counter(), time.process_time()
        write_page(
            folder, run, [], [], pipeline_db=database, study=study,
            rule=ReferenceRule.MAJORITY, provenance={"command": "calibrate report"},
        )  # fmt: skip
        seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    files = [file.stat().st_size for file in (folder / "turns").iterdir()]
    yield Line("turns, cells", f"{sum(of.turns for of in run.cells):,}, {len(run.cells):,}")
    yield Line(
        "writing the page", f"{seconds:.1f} s ({cpu:.1f} s of CPU), {more:.0f} MiB more at its peak"
    )
    yield Line("index.html", f"{(folder / 'index.html').stat().st_size / 1e3:,.0f} kB")
    yield Line("files of turns", f"{len(files):,}, {max(files) / 1e3:,.0f} kB the largest, "
                                 f"{sum(files) / 1e6:,.0f} MB in all")  # fmt: skip


def look(folder: Path) -> Iterator[Line]:
    address = (folder / "index.html").as_uri()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )

        def opened() -> Page:
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(address)
            page.wait_for_selector(".cells tbody tr")
            return page

        def timed(work: Callable[[Page], float]) -> str:
            found = []
            for _ in range(ROUNDS):
                page = opened()
                found.append(work(page))
                page.close()
            return f"{median(found):.0f} ms"

        def until(address: str) -> Callable[[Page], float]:
            return lambda page: page.evaluate(SHOW, address)

        loaded = "() => performance.getEntriesByType('navigation')[0].loadEventEnd"
        yield Line("opening it, overview shown", timed(lambda page: page.evaluate(loaded)))
        yield Line("a filter: model and label",
                   timed(until("#model=Made-3B&label=genuine_followup")))  # fmt: skip
        yield Line("a page of turns", timed(until("#view=turns&model=Made-3B&page=7")))
        yield Line("a page of turns of a rare label",
                   timed(until("#view=turns&label=malformed&page=3")))  # fmt: skip
        yield Line("a row", timed(until("#row=4321")))
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=100_000)
    turns = parser.parse_args().turns
    with tempfile.TemporaryDirectory() as temporary:
        study = make_study(Path(temporary) / "study", turns)
        folder = Path(temporary) / "report"
        folder.mkdir()
        print_table(chain(build(study, folder), look(folder)))


if __name__ == "__main__":
    main()
