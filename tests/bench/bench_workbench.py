"""The workbench against its targets, on this machine: `make bench-workbench`, or --small.

A served page in Chromium, over loopback. Times are from setting the address to the view painted,
memory is of the server's process alone. Prints one table; ends with 1 at a miss.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from threading import Event, Thread

from playwright.sync_api import Page, sync_playwright
from target_table import Line, print_table
from workbench_study import SCRIPTS, Shape, make_study

from annotator.annotation import append_event, current_annotation
from annotator.labelling.display import put_display
from annotator.labels import item_ids, open_labels
from generation.clock import now
from generation.study import Study
from judge.calibration.workbench.bench import Bench
from judge.calibration.workbench.stores import opened
from rubrics import latest_version, load_rubric

CHROMIUM_FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"]

PORT = 7990
MAX_VIEW, MAX_STEP = 1.0, 0.2  # seconds, medians
MAX_MIB = 700
LABEL_EVERY = 1.0  # seconds
COMPLETE = 900_000  # milliseconds that a page may take until everything is computed


@dataclass(frozen=True)
class Sizes:
    """How large the study is and how often what is done; --labelled changes the study's sample."""

    shape: Shape
    rounds: int  # over all views
    steps: int  # from item to item


FULL = Sizes(Shape(), rounds=15, steps=60)
SMALL = Sizes(Shape(items=300, prompts=2, runs=2, labelled=200), rounds=2, steps=5)


# Run in the page: `goTo` and `stepped` give milliseconds until the next address's view is painted.
_CLOCK = """
(() => {
  const view = document.querySelector(".bench .view");
  const painted = (complete) => new Promise((done) => {
    addEventListener("hashchange", () => {
      const observer = new MutationObserver(() => {
        if (view.dataset.place !== location.hash) return;
        if (complete && view.querySelector("[data-waiting]")) return;
        observer.disconnect();
        requestAnimationFrame(() => {
          const { port1, port2 } = new MessageChannel();
          port1.onmessage = () => done(performance.now());
          port2.postMessage(null); // is handled after the paint
        });
      });
      observer.observe(view, { attributes: true, childList: true, subtree: true });
    }, { once: true });
  });
  window.goTo = async (hash, complete) => {
    const end = painted(complete);
    const start = performance.now();
    location.hash = hash;
    return (await end) - start;
  };
  window.watchStep = (complete) => {
    let start;
    const pressed = (event) => { if (event.key === "n") start = event.timeStamp; };
    addEventListener("keydown", pressed, { once: true, capture: true });
    window.stepped = painted(complete).then((end) => end - start);
  };
})()
"""


class Server:
    """A running `calibrate serve` on a study; `started` is when its process was."""

    def __init__(self, study: Study) -> None:
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, "-c", "from judge.calibration.cli import calibrate; calibrate()",
             "serve", "--study", str(study.folder.resolve()), "--port", str(PORT)],
            cwd=study.folder,
            stdout=subprocess.PIPE,
            text=True,
        )  # fmt: skip
        line = self.process.stdout.readline()  # comes once the page is served
        if "http://" not in line:
            raise SystemExit(f"calibrate serve did not start: {line!r}")
        self.url = line.split(" at ")[1].split()[0]

    def mib(self, name: str) -> float:
        """VmRSS, or VmHWM for the most that it ever was; children are not in it."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) / 1024
        raise SystemExit(f"the system does not tell {name}")

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


@contextmanager
def served(study: Study) -> Iterator[Server]:
    server = Server(study)
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def new_page() -> Iterator[Page]:
    executable = shutil.which("chromium")
    if executable is None:
        raise SystemExit("this needs Chromium: install it, or run make test, which does")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=CHROMIUM_FLAGS)
        page = browser.new_page()
        page.set_default_timeout(COMPLETE)
        yield page
        browser.close()


@contextmanager
def people_labelling(study: Study) -> Iterator[None]:
    """A script gives a label every second, as long as this goes on."""
    done = Event()
    categories = load_rubric(latest_version()).category_ids

    def label() -> None:
        with open_labels(study.labels) as labels_db:
            for number, item in enumerate(item_ids(labels_db)):
                if done.wait(LABEL_EVERY):
                    return
                _label(labels_db, item, categories[number % len(categories)])

    labeller = Thread(target=label)
    labeller.start()
    try:
        yield
    finally:
        done.set()
        labeller.join()


def _label(labels_db, item: str, category: str) -> None:
    version, name = latest_version(), SCRIPTS[0]
    before = current_annotation(labels_db, name, item, version)
    display = put_display(
        labels_db,
        annotator=name,
        item_id=item,
        rubric_version=version,
        last_event_id=before and before.event_id,
    )
    append_event(
        labels_db,
        nonce=display.nonce,
        annotator=name,
        item_id=item,
        rubric_version=version,
        category=category,
        skip_reason=None,
        confidence=None,
        note="",
        flagged=False,
        saved_at=now(),
    )


def addresses(page: Page, heads: Sequence[str]) -> Mapping[str, str]:
    """Every view by what it is called here; `heads` are the judges'. The cell is the largest."""
    page.evaluate("goTo('#view=matrix', true)")
    cell = page.evaluate(
        """() => [...document.querySelectorAll(".matrix td.cell:not(.agrees) a")]
          .sort((a, b) => parseInt(b.textContent) - parseInt(a.textContent))[0].getAttribute("href")
        """
    )
    return {
        "overview": "#view=overview",
        "matrix": "#view=matrix",
        "matrix, two side by side": f"#view=matrix&judge={heads[-1]}&other={heads[0]}",
        "items": "#view=items",
        "items of a cell": cell,
        "every item": "#view=items&show=all",
        "editor, prompt": "#view=editor",
        "editor, rubric": "#view=editor&kind=rubric",
        "runs": "#view=runs",
        "compare": f"#view=compare&judge={heads[0]}&other={heads[-1]}",
        "suggest": "#view=suggest",
        "final": "#view=final",
    }


def round_trips(
    page: Page, places: Mapping[str, str], rounds: int, *, complete: bool
) -> dict[str, list[float]]:
    """Seconds of each view, all of them in turn, round by round."""
    found: dict[str, list[float]] = {name: [] for name in places}
    for _ in range(rounds):
        for name, place in places.items():
            took = page.evaluate("([place, complete]) => goTo(place, complete)", [place, complete])
            found[name].append(took / 1000)
    return found


def steps(
    page: Page, count: int, *, complete: bool = True, before: Callable[[], None] = lambda: None
) -> list[float]:
    """Seconds from the key n to the next disagreement, each time after doing `before`."""
    page.evaluate("goTo('#view=overview', false)")
    page.evaluate("complete => goTo('#view=items', complete)", complete)
    found = []
    for _ in range(count):
        if not page.locator("[data-key=n]").count():
            break
        before()
        page.evaluate("complete => watchStep(complete)", complete)
        page.keyboard.press("n")
        found.append(page.evaluate("stepped") / 1000)
    return found


def p95(seconds: Sequence[float]) -> float:
    return quantiles(seconds, n=20, method="inclusive")[-1] if len(seconds) > 1 else seconds[0]


def timed(what: str, seconds: Sequence[float], most: float) -> Line:
    middle = median(seconds)
    found = f"{middle * 1000:,.0f} ms, p95 {p95(seconds) * 1000:,.0f} ms"
    return Line(what, found, f"< {most * 1000:,.0f} ms", middle < most)


def measured(study: Study, sizes: Sizes) -> Iterator[Line]:
    with opened(study) as stores:
        heads = [each.head for each in Bench(study, study.folder).roster(stores)]
    with served(study) as server, new_page() as page:
        yield Line("page served after start", f"{time.perf_counter() - server.started:.1f} s")
        page.goto(server.url)
        page.wait_for_function(
            """document.querySelector(".bench .view[data-place] > h1")
               && !document.querySelector(".bench .view [data-waiting]")"""
        )
        yield Line("overview complete after start", f"{time.perf_counter() - server.started:.1f} s")
        yield Line("memory then, peak", f"{server.mib('VmHWM'):.0f} MiB")
        page.evaluate(_CLOCK)
        places = addresses(page, heads)
        first = round_trips(page, places, 1, complete=True)
        yield Line("compare complete, the first time", f"{first['compare'][0]:.1f} s")
        for name, seconds in round_trips(page, places, sizes.rounds, complete=True).items():
            yield timed(name, seconds, MAX_VIEW)
        yield timed("next disagreement", steps(page, sizes.steps), MAX_STEP)
        noted = steps(page, sizes.steps, before=lambda: page.keyboard.press("1"))
        found = f"{median(noted) * 1000:,.0f} ms, p95 {p95(noted) * 1000:,.0f} ms"
        yield Line("next disagreement, a note saved by it", found)
        with people_labelling(study):
            older = round_trips(page, places, sizes.rounds, complete=False)
            yield from (
                timed(f"{name}, as labels arrive", s, MAX_VIEW) for name, s in older.items()
            )
            stepped = steps(page, sizes.steps, complete=False)
            yield timed("next disagreement, as labels arrive", stepped, MAX_STEP)
        peak = server.mib("VmHWM")
        yield Line("memory, peak", f"{peak:.0f} MiB", f"< {MAX_MIB} MiB", peak < MAX_MIB)
        yield Line("memory at the end", f"{server.mib('VmRSS'):.0f} MiB")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="small sizes, no targets: a try-out")
    parser.add_argument("--labelled", type=int, help="items that the scripts label")
    options = parser.parse_args()
    sizes = SMALL if options.small else FULL
    shape = sizes.shape
    if options.labelled:
        shape = Shape(shape.items, shape.prompts, shape.runs, options.labelled)
    print(
        f"{shape.items:,} items × {shape.prompts} prompts × {shape.runs} runs, "
        f"{shape.labelled:,} labelled by {len(SCRIPTS)} scripts; {os.cpu_count()} cores, "
        f"load {os.getloadavg()[0]:.1f}",
        flush=True,
    )
    with tempfile.TemporaryDirectory() as folder:
        study = Study(Path(folder))
        make_study(study, shape)
        met = print_table(measured(study, sizes), judged=not options.small)
    print(f"load at the end {os.getloadavg()[0]:.1f}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
