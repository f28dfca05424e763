"""Generation against its targets, on this machine: `make bench-generation`, or --quick a try-out.

With --model FOLDER, in the environment of vLLM: the overhead over bare vLLM, and a sweep against
separate runs. Without: resuming and planning, which need no engine (where torch is installed,
importing it comes on top). Prints one table; ends with 1 at a miss.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1]
sys.path.insert(0, str(TESTS / "support"))

from byte_model import write_folder  # noqa: E402
from chat_templates import QWEN25  # noqa: E402
from generation_study import fill_study, write_paper_data  # noqa: E402
from target_table import Line, print_table  # noqa: E402

OF_BARE = 0.95  # tokens per second, of bare LLM.generate
SWEEP = 1.05  # times the bare engine time of the same rows
RESUME_SECONDS, RESUME_MIB = 5.0, 1024
PLAN_SECONDS = 10.0
DATE = "2026-11-30"


@dataclass(frozen=True)
class Sizes:
    questions: int  # of the comparison with bare vLLM
    sweep_questions: int
    max_tokens: int
    rounds: int
    stored: int  # rows of the study that is resumed


FULL = Sizes(questions=192, sweep_questions=8, max_tokens=32, rounds=3, stored=1_000_000)
QUICK = Sizes(questions=4, sweep_questions=1, max_tokens=4, rounds=1, stored=2_000)


def questions(count: int) -> list[str]:
    return [
        f"Natalia sold {n + 3} clips in April and {2 * n + 5} in May, at {n % 7 + 1} dollars "
        "each. How much did she earn in all?"
        for n in range(count)
    ]


class Recorded:
    """An engine that is loaded already, with a note of all that it is asked."""

    def __init__(self, engine: Any) -> None:
        self._engine, self.requests = engine, []
        self.context_length = engine.context_length

    def generate(self, requests: Iterable[Any]) -> Iterator[Any]:
        return self._engine.generate(self._noted(requests))

    def _noted(self, requests: Iterable[Any]) -> Iterator[Any]:
        for request in requests:
            self.requests.append(request)
            yield request

    def provenance(self) -> dict[str, Any]:
        return self._engine.provenance()

    def close(self) -> None:
        """It is used again."""


def probed(model, engine, plan, texts: list[str], folder: Path) -> Recorded:
    """One probe of these questions by the product's own stages, into a study of its own."""
    from generation.datasets.dataset import Dataset, Rows
    from generation.item import Message
    from generation.probe.maker import Maker
    from generation.probe.model_probe import ModelProbe
    from generation.probe.row_store import open_rows
    from generation.probe.run_plan import ALL
    from generation.probe.start import first_starts
    from generation.probe.turn_stage import TurnStage
    from generation.turn import Conversation, Run

    rows = tuple(
        Conversation("bench", str(number), (Message("user", text),))
        for number, text in enumerate(texts)
    )
    recorded = Recorded(engine)
    store = open_rows(folder / "pipeline.db")
    maker = Maker(store, Run("probe", {"bench": str(folder)}), "small", lambda: recorded, {})
    probe = ModelProbe(maker, TurnStage(store, model, plan))
    data = Dataset("bench", "f", "sha256:0", Rows(rows), "none")
    tally = probe.probe(first_starts(plan, [data], ALL))
    assert not tally.answers.failed + tally.turns.failed
    store.close()
    return recorded


def bare(engine, requests: list[Any]) -> tuple[float, int]:
    """Seconds and output tokens of the very same prompts and parameters in one LLM.generate."""
    from vllm import SamplingParams

    from generation.engines.vllm_arguments import sampling_arguments

    prompts = [{"prompt_token_ids": list(request.prompt)} for request in requests]
    parameters = [SamplingParams(**sampling_arguments(r.sampling)) for r in requests]
    begun = time.perf_counter()
    outputs = engine._llm.generate(prompts, parameters, use_tqdm=False)
    seconds = time.perf_counter() - begun
    return seconds, sum(len(output.outputs[0].token_ids) for output in outputs)


def plan_of(sizes: Sizes, *sweeps):
    from generation.plan.plan import AnswerPlan, DatasetPlan, ModelPlan, Plan

    return Plan(
        "bench",
        (ModelPlan("small", "small"),),
        (DatasetPlan("chat", "bench"),),
        sweeps,
        DATE,
        AnswerPlan(max_tokens=sizes.max_tokens),
        max_turn_tokens=sizes.max_tokens,
    )


def against_bare(folder: Path, sizes: Sizes) -> list[Line]:
    """The overhead of the probe, then of a sweep, in the same process as bare vLLM."""
    from datetime import date

    from generation.chat.chat_model import load_chat_model
    from generation.engines.vllm_engine import VllmEngine
    from generation.plan.plan import Sweep

    model = load_chat_model(folder, name="small", day=date.fromisoformat(DATE), template_kwargs={})
    begun = time.perf_counter()
    engine = VllmEngine(folder, context_length=1024, arguments={})
    load = time.perf_counter() - begun
    speeds, sweeps = [], []
    sweep = Sweep(
        temperatures=(0.25, 0.5, 0.75, 1.0), samples=4, perturbations=("none", "truncate", "ask")
    )
    single = plan_of(sizes, Sweep(temperatures=(0.7,)))
    with tempfile.TemporaryDirectory() as scratch:
        bare(engine, probed(model, engine, single, questions(2), new(scratch)).requests)  # warm up
        for _ in range(sizes.rounds):
            speeds.append(ratio(model, engine, single, questions(sizes.questions), new(scratch)))
            sweeps.append(
                ratio(model, engine, plan_of(sizes, sweep), questions(sizes.sweep_questions),
                      new(scratch))
            )  # fmt: skip
        rows = sweeps[-1].rows
        separate = separate_runs(model, engine, sizes, sweep, scratch)
    engine.close()
    speed = statistics.median(1 / each.times_bare for each in speeds)
    cost = statistics.median(each.times_bare for each in sweeps)
    seconds = statistics.median(each.seconds for each in sweeps)
    return [
        Line("tokens per second, of bare LLM.generate",
             f"{speed:.1%} of {speeds[-1].bare_speed:,.0f}", f">= {OF_BARE:.0%}", speed >= OF_BARE),
        Line(f"sweep of 4 T x k = 4 x 3 states, {rows} rows, of bare engine time", f"{cost:.3f} x",
             f"<= {SWEEP} x", cost <= SWEEP),
        Line("one load and that sweep", f"{load:.1f} + {seconds:.1f} s"),
        Line("sixteen separate runs of the same rows", f"16 x {load:.1f} + {separate:.1f} s"),
    ]  # fmt: skip


def new(scratch: str) -> Path:
    return Path(tempfile.mkdtemp(dir=scratch))


@dataclass(frozen=True)
class Ratio:
    seconds: float
    times_bare: float
    bare_speed: float  # tokens per second
    rows: int


def ratio(model, engine, plan, texts: list[str], folder: Path) -> Ratio:
    """The probe whole (prompts, engine, reading, storing) against the engine alone.

    Bare vLLM gets answers and turns in a call each, since turns need the answers. The prefix cache
    is emptied before either, or the second would have it easier.
    """
    empty_cache(engine)
    begun = time.perf_counter()
    recorded = probed(model, engine, plan, texts, folder)
    seconds = time.perf_counter() - begun
    empty_cache(engine)
    answers, turns = recorded.requests[: len(texts)], recorded.requests[len(texts) :]
    parts = [bare(engine, answers), bare(engine, turns)]
    bare_seconds, tokens = (sum(column) for column in zip(*parts, strict=True))
    return Ratio(seconds, seconds / bare_seconds, tokens / bare_seconds, len(recorded.requests))


def empty_cache(engine) -> None:
    engine._llm.reset_prefix_cache()


def separate_runs(model, engine, sizes: Sizes, sweep, scratch: str) -> float:
    """Engine seconds of the sweep's rows as sixteen runs, one per temperature and sample.

    The load of each is counted apart: it was measured once.
    """
    seconds = 0.0
    for temperature in sweep.temperatures:
        for seed in range(4):
            one = replace(sweep, temperatures=(temperature,), samples=1)
            plan = replace(plan_of(sizes, one), seed=seed)
            empty_cache(engine)
            begun = time.perf_counter()
            probed(model, engine, plan, questions(sizes.sweep_questions), new(scratch))
            seconds += time.perf_counter() - begun
    return seconds


def generate(*arguments: object) -> tuple[float, float, dict[str, Any]]:
    """The command in a process of its own: seconds, MiB at most, and its result."""
    code = (
        "import json, resource, sys, time; begun = time.perf_counter()\n"
        "from generation.cli import generate\n"
        "generate.main(sys.argv[1:], standalone_mode=False)\n"
        "mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024\n"
        "print(json.dumps([time.perf_counter() - begun, mib]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    result, measured = done.stdout.strip().splitlines()
    seconds, mib = json.loads(measured)
    return seconds, mib, json.loads(result)


def small_folder(folder: Path) -> Path:
    write_folder(folder / "small", QWEN25)
    return folder / "small"


def resuming(sizes: Sizes) -> Line:
    """A command whose rows are all there but for none: what it takes to know that."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        plan = fill_study(folder, small_folder(folder), sizes.stored)
        seconds, mib, result = generate("--plan", plan, "--study", folder / "study", "--json")
        assert (result["new"], result["known"]) == (0, sizes.stored), result
    return Line(
        f"start-up over {sizes.stored:,} stored rows", f"{seconds:.1f} s, {mib:,.0f} MiB",
        f"< {RESUME_SECONDS:g} s, < {RESUME_MIB:,} MiB",
        seconds < RESUME_SECONDS and mib < RESUME_MIB,
    )  # fmt: skip


def planning() -> Line:
    """paper.toml with files of the paper's sizes, made up."""
    with tempfile.TemporaryDirectory() as scratch:
        data = write_paper_data(Path(scratch) / "data")
        seconds, mib, result = generate(
            "plan", "--plan", "paper.toml", "--show", "--data-dir", data, "--json",
            "--study", Path(scratch) / "study",
        )  # fmt: skip
        assert result["missing"] == [], result["missing"]
        turns = sum(model["turns"] for model in result["models"])
    return Line(
        f"planning paper.toml, {turns:,} turns", f"{seconds:.1f} s, {mib:,.0f} MiB",
        f"< {PLAN_SECONDS:g} s", seconds < PLAN_SECONDS,
    )  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--model", type=Path, help="folder of the small model")
    options = parser.parse_args()
    sizes = QUICK if options.quick else FULL
    engine = options.model
    lines = against_bare(engine, sizes) if engine else [planning(), resuming(sizes)]
    return 0 if print_table(lines, judged=not options.quick) else 1


if __name__ == "__main__":
    sys.exit(main())
