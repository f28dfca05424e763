"""The judge against its targets, on this machine: `make bench-judge`, or with --quick a try-out.

Every run that is measured is a process of its own. Prints one table; ends with 1 at a miss.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path.insert(0, str(TESTS / "support"))

from judged_study import make_study, rows  # noqa: E402
from stub_http import Reply, StubRequest  # noqa: E402
from stub_server import StubServer, any_verdict  # noqa: E402
from target_table import Line, print_table  # noqa: E402

from generation.study import Study  # noqa: E402
from judge.store import open_pipeline  # noqa: E402

LATENCY, IN_FLIGHT = 0.5, 256  # seconds, requests
IDEAL = IN_FLIGHT / LATENCY  # requests per second
OF_IDEAL, OF_BARE = 0.90, 0.95
MAX_MIB, MAX_GROWTH_MIB = 500, 20
MAX_START_SECONDS = 3.0
SENTENCE = "The probe asked about the clips sold in April and in May, and what they cost in all. "


@dataclass(frozen=True)
class Sizes:
    requests: int  # of one throughput run
    rounds: int
    few: int  # turns of the memory runs
    many: int
    turns: int  # of the run with duplicates
    copies: tuple[int, ...] = (1, 1, 2, 6)  # of each text in turn: 10 turns hold 4 items


FULL = Sizes(requests=3_072, rounds=2, few=20_000, many=100_000, turns=10_000)
QUICK = Sizes(requests=300, rounds=1, few=50, many=150, turns=500)


def texts(count: int) -> Iterator[str]:
    return (f"Turn {number}: {SENTENCE * (1 + number % 3)}" for number in range(count))


@contextmanager
def stub(latency: float) -> Iterator[str]:
    command = [sys.executable, TESTS / "support" / "stub_server.py", "--latency", str(latency)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()


def counts(url: str) -> dict[str, int]:
    with urllib.request.urlopen(f"{url.removesuffix('/v1')}/counts") as answer:
        return json.load(answer)


def judge_command(study: Study, url: str, *options: object) -> list[str]:
    return [
        *(sys.executable, "-c", "from judge.cli import judge; judge()"),
        *("--study", str(study.folder), "--model", "m", "--base-url", url),
        *map(str, options),
    ]


def child(command: list[str]) -> tuple[float, float]:
    """Seconds and peak MiB of a command that must succeed."""
    started = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _pid, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"failed: {command}")
    return time.monotonic() - started, used.ru_maxrss / 1024


def ours(folder: Path, url: str) -> float:
    """Requests per second of `judge` between the first verdict, asked for alone, and the last."""
    from judge.config import JudgeConfig
    from judge.instrument import choose_instrument
    from judge.runs.ledger import StudyLedger
    from judge.runs.run import run_judge

    kept: list[float] = []
    keep = StudyLedger.keep

    def noted(self: StudyLedger, *arguments: object, **options: object) -> None:
        keep(self, *arguments, **options)
        kept.append(time.monotonic())

    StudyLedger.keep = noted
    config = JudgeConfig(model="m", base_url=url, concurrency=IN_FLIGHT)
    run_judge(Study(folder), choose_instrument(config, Study(folder)), print)
    return (len(kept) - 1) / (kept[-1] - kept[0])


def bare(folder: Path, url: str) -> float:
    """Requests per second of nothing but the openai package, with the same messages."""
    import openai

    from generation.store import TurnStore
    from judge.prompts.prompt import judge_messages, render_prompt
    from rubrics import load_rubric

    database = open_pipeline(Study(folder).pipeline)
    prompt = render_prompt(load_rubric("v3"))
    messages = [judge_messages(prompt, item) for _hash, item in TurnStore(database).items()]
    waiting = iter(messages)

    async def worker(client: openai.AsyncOpenAI) -> None:
        for asked in waiting:
            reply = await client.chat.completions.create(
                model="m", messages=asked, temperature=0, seed=0, max_completion_tokens=1024
            )
            assert reply.choices[0].message.content

    async def work() -> float:
        async with openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:
            started = time.monotonic()
            await asyncio.gather(*(worker(client) for _ in range(IN_FLIGHT)))
            return len(messages) / (time.monotonic() - started)

    return asyncio.run(work())


def throughput(sizes: Sizes, folder: Path) -> Iterator[Line]:
    rates: dict[str, list[float]] = {"ours": [], "bare": []}
    with stub(LATENCY) as url:
        for number in range(sizes.rounds):
            for name in rates:
                study = make_study(folder / f"rate-{name}-{number}", texts(sizes.requests))
                command = [sys.executable, __file__, "--rate", name, str(study.folder), url]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                rates[name].append(float(done.stdout.split()[-1]))
    rate = {name: max(found) for name, found in rates.items()}
    of_ideal, of_bare = rate["ours"] / IDEAL, rate["ours"] / rate["bare"]
    met = of_ideal >= OF_IDEAL or of_bare >= OF_BARE
    for name, found in rates.items():
        yield Line(f"requests/s, {name}, each round", "  ".join(f"{value:.0f}" for value in found))
    yield Line("requests/s, ideal", f"{IDEAL:.0f}")
    yield Line("best of ours / ideal", f"{of_ideal:.2f}", f"≥ {OF_IDEAL:.2f} or …", met)
    yield Line("best of ours / best of bare", f"{of_bare:.2f}", f"… ≥ {OF_BARE:.2f}", met)


def memory(sizes: Sizes, folder: Path) -> Iterator[Line]:
    peaks = []
    for count in (sizes.few, sizes.many):
        study = make_study(folder / f"memory-{count}", texts(count))
        with stub(0) as url:
            seconds, peak = child(judge_command(study, url, "--concurrency", 64))
            assert counts(url)["requests"] == count
        peaks.append(peak)
        what = f"peak memory, {count:,} turns in {seconds:.0f} s"
        yield Line(what, f"{peak:.0f} MiB", f"< {MAX_MIB} MiB", peak < MAX_MIB)
    growth = peaks[1] - peaks[0]
    met = growth < MAX_GROWTH_MIB
    yield Line("growth of the peak", f"{growth:.1f} MiB", f"< {MAX_GROWTH_MIB} MiB", met)


def resume(sizes: Sizes, folder: Path) -> Iterator[Line]:
    """Over the study of the memory run: all judged, then all but the last item; best of three."""
    study = Study(folder / f"memory-{sizes.many}")
    asked: list[float] = []

    def behave(request: StubRequest) -> Reply:
        asked.append(time.monotonic())
        return any_verdict(request)

    def to_first_request() -> float:
        with open_pipeline(study.pipeline).conn as connection:
            last = "SELECT max(item_hash) FROM judgments"
            connection.execute(f"DELETE FROM judgments WHERE item_hash = ({last})")
        started = time.monotonic()
        child(judge_command(study, server.url))
        return asked.pop() - started

    with StubServer(behave) as server:
        whole = min(child(judge_command(study, server.url))[0] for _ in range(3))
        assert not asked
        first = min(to_first_request() for _ in range(3))
        assert not asked
    what, target = f"judge, {sizes.many:,} items judged", f"< {MAX_START_SECONDS:.0f} s"
    yield Line(f"{what}, whole", f"{whole:.2f} s", target, whole < MAX_START_SECONDS)
    what = f"{what} but 1, first request"
    yield Line(what, f"{first:.2f} s", target, first < MAX_START_SECONDS)


def duplicates(sizes: Sizes, folder: Path) -> Iterator[Line]:
    """Of 10 turns 4 are distinct: 60 % of them are copies of another."""
    distinct = sizes.turns * 4 // 10
    study = make_study(folder / "duplicates", ())
    for part, copies in enumerate(sizes.copies):
        chosen = (text for n, text in enumerate(texts(distinct)) if n % len(sizes.copies) == part)
        make_study(study.folder, chosen, copies=copies)
    with stub(0) as url:
        child(judge_command(study, url, "--concurrency", 64))
        found = counts(url)
    turns = rows(study, "SELECT count(*) AS n FROM turns")[0]["n"]
    exact = (turns, found["requests"], found["by_body"]) == (sizes.turns, distinct, distinct)
    yield Line(f"calls for {turns:,} turns", f"{found['requests']:,}", f"{distinct:,}", exact)


PARTS = (throughput, memory, resume, duplicates)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes: a try-out")
    parser.add_argument("--rate", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.environ["NO_PROXY"] = "127.0.0.1"
    if options.rate:
        name, folder, url = options.rate
        print({"ours": ours, "bare": bare}[name](Path(folder), url))
        return 0
    sizes = QUICK if options.quick else FULL
    with tempfile.TemporaryDirectory() as folder:
        lines = (line for part in PARTS for line in part(sizes, Path(folder)))
        return 0 if print_table(lines) else 1


if __name__ == "__main__":
    sys.exit(main())
