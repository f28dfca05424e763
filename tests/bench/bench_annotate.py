"""The labelling page against its targets, on this machine: `make bench-annotate`, or --small.

Beside it runs the least Gradio page that does the same (minimal_gradio.py); what depends on the
machine is judged as a ratio of the two in this one run. Ends with 1 at a miss.
"""

import argparse
import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "bench")]

import httpx  # noqa: E402
from act_client import ActClient  # noqa: E402
from annotate_study import make_study  # noqa: E402
from playwright.sync_api import Browser, Page, sync_playwright  # noqa: E402
from target_table import Line, print_table  # noqa: E402

from annotator.assignment.plan import Plan  # noqa: E402
from annotator.labels import open_labels  # noqa: E402

BIN = Path(sys.executable).parent
PEER = Path(__file__).with_name("minimal_gradio.py")
CHROMIUM_FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"]
OURS, MINIMAL = "annotate", "minimal Gradio"
PORTS = {OURS: 7970, MINIMAL: 7980}
CATEGORY = "genuine_followup"


@dataclass(frozen=True)
class Sizes:
    items: int
    large: int  # items of the large study, with three labels each
    steps: int  # submits in the browser, per round
    rounds: int
    people: int
    saves: int  # of all people together


FULL = Sizes(items=1_000, large=50_000, steps=30, rounds=4, people=20, saves=2_000)
SMALL = Sizes(items=120, large=300, steps=4, rounds=1, people=4, saves=40)


@dataclass(frozen=True)
class Crowd:
    """What many people at once got: seconds per save and next item, and saves per second."""

    seconds: Sequence[float]
    per_second: float


class Server:
    """A process that serves; its `url` is what it printed."""

    def __init__(self, *command: str | Path) -> None:
        self.process = subprocess.Popen(
            [str(part) for part in command],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"GRADIO_ANALYTICS_ENABLED": "False"},
        )
        line = self.process.stdout.readline()
        if "http://" not in line:
            raise SystemExit(f"{command} did not start: {line!r}")
        self.url = line.split(" at ")[1].split()[0].rstrip("/")

    def mib(self, name: str) -> float:
        """VmRSS, or VmHWM for the most that it ever was."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) / 1024
        raise SystemExit(f"the system does not tell {name}")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


@contextmanager
def serving(folder: Path, port: int = PORTS[OURS]) -> Iterator[Server]:
    server = Server(BIN / "annotate", "--study", folder, "--port", str(port))
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def peer(folder: Path) -> Iterator[Server]:
    copy = folder / "minimal.db"
    shutil.copy(folder / "labels.db", copy)
    server = Server(sys.executable, PEER, copy, str(PORTS[MINIMAL]))
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def chromium() -> Iterator[Browser]:
    executable = shutil.which("chromium")
    if executable is None:
        raise SystemExit("this needs Chromium: install it, or run make test, which does")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


# Milliseconds from the event that submits to the next text painted.
_CLOCK = """
([selector, event]) => {
  window.step = new Promise((done) => {
    let start = 0;
    const text = () => document.querySelector(selector)?.textContent;
    const before = text();
    addEventListener(event, (e) => { start ||= e.timeStamp; }, { capture: true });
    const observer = new MutationObserver(() => {
      if (!start || !text() || text() === before) return;
      observer.disconnect();
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => done(performance.now() - start);
        port2.postMessage(null); // is handled after the paint
      });
    });
    observer.observe(document.body, { childList: true, subtree: true, characterData: true });
  });
}
"""


def submits(page: Page, which: str, count: int) -> list[float]:
    """Milliseconds of each submit to the next item visible."""
    found = []
    for _ in range(count):
        if which == OURS:
            page.keyboard.press("1")
            page.evaluate(_CLOCK, [".part.turn .text", "keydown"])
            page.keyboard.press("Enter")
        else:
            page.get_by_role("radio").first.check()
            page.evaluate(_CLOCK, [".item", "click"])
            page.get_by_role("button", name="Submit").click()
        found.append(page.evaluate("step"))
    return found


def opened(browser: Browser, which: str, url: str) -> Page:
    page = browser.new_context().new_page()
    page.goto(f"{url}/?annotator=ann" if which == OURS else url)
    page.locator(".part.turn .text" if which == OURS else ".item").wait_for()
    return page


def cold_load(browser: Browser, which: str, url: str) -> tuple[float, int]:
    """Milliseconds from an empty cache to the first item visible, and bytes on the wire."""
    context = browser.new_context()
    page = context.new_page()
    wire = context.new_cdp_session(page)
    wire.send("Network.enable")
    received: list[int] = []
    wire.on("Network.loadingFinished", lambda end: received.append(int(end["encodedDataLength"])))
    start = time.perf_counter()
    page.goto(f"{url}/?annotator=ann" if which == OURS else url, wait_until="commit")
    page.locator(".part.turn .text" if which == OURS else ".item").wait_for()
    took = (time.perf_counter() - start) * 1000
    page.wait_for_timeout(500)  # for what loads after the item, so that it is counted too
    context.close()
    return took, sum(received)


async def crowd_of_ours(url: str, people: int, saves: int) -> Crowd:
    async def work(name: str) -> list[float]:
        async with ActClient(url, name) as person:
            screen = (await person.call("open_screen"))["screen"]
            times = []
            for _ in range(saves // people):
                start = time.perf_counter()
                reply = await person.save(screen, CATEGORY)
                times.append(time.perf_counter() - start)
                if reply["refused"]:
                    raise SystemExit(f"a save was refused: {reply['message']}")
                screen = reply["screen"]
            return times

    start = time.perf_counter()
    found = await asyncio.gather(*(work(f"person {n}") for n in range(people)))
    times = [took for person in found for took in person]
    return Crowd(times, len(times) / (time.perf_counter() - start))


async def crowd_of_peer(url: str, people: int, saves: int) -> Crowd:
    """As Gradio's own front end does it: join the queue, then read the stream of the session."""

    async def work(number: int) -> list[float]:
        times = []
        async with httpx.AsyncClient(base_url=url, timeout=60, trust_env=False) as http:
            config = (await http.get("/config")).json()
            function = next(d["id"] for d in config["dependencies"] if d["api_name"] == "save")
            session = f"s{number}"
            for k in range(saves // people):
                start = time.perf_counter()
                joined = await http.post(
                    "/gradio_api/queue/join",
                    json={"data": [k, "1", None][:2], "fn_index": function,
                          "session_hash": session},
                )  # fmt: skip
                joined.raise_for_status()
                where = "/gradio_api/queue/data"
                async with http.stream("GET", where, params={"session_hash": session}) as stream:
                    async for line in stream.aiter_lines():
                        if "process_completed" in line:
                            if '"success":true' not in line.replace(" ", ""):
                                raise SystemExit(f"the peer refused a save: {line}")
                            break
                times.append(time.perf_counter() - start)
        return times

    start = time.perf_counter()
    found = await asyncio.gather(*(work(n) for n in range(people)))
    times = [took for person in found for took in person]
    return Crowd(times, len(times) / (time.perf_counter() - start))


def p95(values: Sequence[float]) -> float:
    return quantiles(values, n=20, method="inclusive")[-1]


def in_browser(folder: Path, sizes: Sizes) -> Iterator[Line]:
    took: dict[str, list[float]] = {OURS: [], MINIMAL: []}
    loads: dict[str, list[float]] = {OURS: [], MINIMAL: []}
    wire = {}
    with serving(folder) as ours, peer(folder) as minimal, chromium() as browser:
        servers = {OURS: ours.url, MINIMAL: minimal.url}
        for _ in range(3):
            for which, url in servers.items():
                load, wire[which] = cold_load(browser, which, url)
                loads[which].append(load)
        pages = {which: opened(browser, which, url) for which, url in servers.items()}
        for which, page in pages.items():
            submits(page, which, 2)  # the first ones compile
        for _ in range(sizes.rounds):
            for which, page in pages.items():
                page.bring_to_front()
                took[which] += submits(page, which, sizes.steps)
    ratio = median(took[OURS]) / median(took[MINIMAL])
    for which in (MINIMAL, OURS):
        found = f"{median(took[which]):.0f} ms, p95 {p95(took[which]):.0f} ms"
        met = which == MINIMAL or median(took[OURS]) <= 80
        yield Line(f"submit to next item, {which}", found, "<= 80 ms" * (which == OURS), met)
    yield Line("ours / minimal", f"{ratio:.2f}", "<= 1.6", ratio <= 1.6)
    for which in (MINIMAL, OURS):
        found = f"{median(loads[which]):.0f} ms, {wire[which] / 1000:.0f} kB"
        met = which == MINIMAL or (median(loads[which]) <= 1_200 and wire[which] < 1_000_000)
        yield Line(f"cold load, {which}", found, "<= 1,200 ms, < 1,000 kB" * (which == OURS), met)


def in_a_crowd(folder: Path, sizes: Sizes) -> Iterator[Line]:
    with peer(folder) as minimal:
        theirs = asyncio.run(crowd_of_peer(minimal.url, sizes.people, sizes.saves))
    with serving(folder) as server:
        before = saved(folder)
        crowd = asyncio.run(crowd_of_ours(server.url, sizes.people, sizes.saves))
        stored = saved(folder) - before
        memory = server.mib("VmHWM")
    for which, found in ((MINIMAL, theirs), (OURS, crowd)):
        text = f"p95 {p95(found.seconds) * 1000:.0f} ms, {found.per_second:.0f} per second"
        met = which == MINIMAL or p95(found.seconds) <= 0.25
        yield Line(f"{sizes.people} at once, {which}", text, "p95 <= 250 ms" * (which == OURS), met)
    ratio = crowd.per_second / theirs.per_second
    yield Line("throughput, ours / minimal", f"{ratio:.2f}", ">= 0.60", ratio >= 0.6)
    exact = stored == len(crowd.seconds)
    yield Line("saves stored", f"{stored:,}", f"{len(crowd.seconds):,}", exact)
    yield Line("memory, peak", f"{memory:.0f} MiB", "< 250 MiB", memory < 250)


def saved(folder: Path) -> int:
    with sqlite3.connect(folder / "labels.db") as store:
        return store.execute("SELECT count(DISTINCT nonce) FROM events").fetchone()[0]


def by_size(small: Path, large: Path, sizes: Sizes) -> Iterator[Line]:
    """Interleaved, so that whatever else the machine does falls on both."""
    folders = {"small": small, "large": large}
    took: dict[str, list[float]] = {"small": [], "large": []}
    loads: dict[str, list[float]] = {"small": [], "large": []}
    with (
        serving(small) as one,
        serving(large, PORTS[MINIMAL]) as two,
        chromium() as browser,
    ):
        urls = dict(zip(folders, (one.url, two.url), strict=True))
        pages = {}
        for size, url in urls.items():
            pages[size] = opened(browser, OURS, url)
            submits(pages[size], OURS, 2)
        for _ in range(5):
            for size, url in urls.items():
                loads[size].append(cold_load(browser, OURS, url)[0])
        for _ in range(sizes.rounds):
            for size, page in pages.items():
                page.bring_to_front()
                took[size] += submits(page, OURS, sizes.steps)
        memory = two.mib("VmHWM")
    for what, found in (("save and next", took), ("cold load", loads)):
        ratio = median(found["large"]) / median(found["small"])
        text = f"{median(found['small']):.0f} and {median(found['large']):.0f} ms, {ratio:.2f}"
        yield Line(f"{what}, {sizes.items:,} and {sizes.large:,}", text, "<= 1.20", ratio <= 1.2)
    yield Line("memory of the large, peak", f"{memory:.0f} MiB", "< 250 MiB", memory < 250)


def measured(root: Path, sizes: Sizes) -> Iterator[Line]:
    folders = {name: root / name for name in ("small", "crowd", "large")}
    shapes = {"small": sizes.items, "crowd": max(sizes.items, sizes.saves), "large": sizes.large}
    for name, folder in folders.items():
        folder.mkdir()
        # Five people per item and three labels given: all of them have work left, and leases.
        make_study(folder, shapes[name], 3, plan=Plan(labels_per_item=5))
    yield from in_browser(folders["small"], sizes)
    yield from in_a_crowd(folders["crowd"], sizes)
    yield from by_size(folders["small"], folders["large"], sizes)
    with open_labels(folders["large"] / "labels.db") as database:
        yield Line("events in the large study", f"{database['events'].count:,}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="small sizes, no targets: a try-out")
    options = parser.parse_args()
    sizes = SMALL if options.small else FULL
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        met = print_table(measured(Path(folder), sizes), judged=not options.small)
    print(f"load at the end {os.getloadavg()[0]:.1f}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
