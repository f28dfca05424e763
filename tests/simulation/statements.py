"""How often statements on a main run are false, and how often they find what is there.

Draws runs from populations whose truth is known (drawn_runs.py), makes the statements that a report
makes, and prints a Markdown table: `make statement-simulation`, a few minutes. The same options
give the same table, however many processes share the work.
"""

import argparse
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

for library in ("OPENBLAS", "OMP", "MKL"):  # processes share the cores, threads would fight
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent))

import numpy as np  # noqa: E402
from drawn_runs import Population, draw_run  # noqa: E402

from generation.perturbation import UNPERTURBED  # noqa: E402
from judge.calibration.main_run.statements.all_statements import statements  # noqa: E402
from judge.calibration.main_run.statements.statement import ALPHA, Kind  # noqa: E402
from judge.calibration.rates.turn_verdicts import Cell  # noqa: E402

SEED = 20_261
UNDECIDED = "undecided"


def over(*rates: float, truncated: float = 0.0) -> Callable[[int, Cell], float]:
    """The same rates at T = 0, 0.3, 0.7 and 1 for every model; truncation adds to them."""
    by_temperature = dict(zip((0.0, 0.3, 0.7, 1.0), rates, strict=True))
    return lambda _, cell: (
        by_temperature[cell.temperature or 0.0] + truncated * (cell.perturbation != UNPERTURBED)
    )


def growing(number: int, cell: Cell) -> float:
    """From near 0 with T, the more so in larger models; truncation adds 25 points."""
    steps = {0.0: 0.002, 0.3: 0.02, 0.7: 0.04, 1.0: 0.06}
    plain = steps[cell.temperature or 0.0] * (number + 1)
    return plain + 0.25 * (cell.perturbation != UNPERTURBED)


def same(rate: float) -> Callable[[int, Cell], float]:
    return over(rate, rate, rate, rate)


@dataclass(frozen=True)
class Scenario:
    """`true` has the verdicts of each kind that are so; any other but "undecided" is false."""

    name: str
    population: Population
    true: Mapping[Kind, tuple[str, ...]] = field(default_factory=dict)


KINDS = tuple(of for of in Kind if of is not Kind.RUNS)  # of one run
TWO_TIED, ALL_TIED = (3, 3, 1, 1, 1, 0.5), (1,) * 6
RISES = ("rises at every step", "rises")
RESTATES = {Kind.LABEL: ("previous_turn_restate",)}
SCENARIOS = (
    Scenario("5% at every T; two labels tied", Population(same(0.05), TWO_TIED)),
    Scenario(
        "20% at every T; all labels tied",
        Population(same(0.2), ALL_TIED),
        {Kind.LATENCY: ("present",)},
    ),
    Scenario("1% at every T", Population(same(0.01)), {Kind.LATENCY: ("absent",)} | RESTATES),
    Scenario(
        "0.5% to 5% with T",
        Population(over(0.005, 0.02, 0.035, 0.05), TWO_TIED),
        {Kind.TEMPERATURE: RISES},
    ),
    Scenario(
        "2% at T = 0, 30% above",
        Population(over(0.02, 0.3, 0.3, 0.3), TWO_TIED),
        {Kind.LATENCY: ("latent",), Kind.TEMPERATURE: ("rises",)},
    ),
    Scenario(
        "13 / 12 / 35 / 12% with T",
        Population(over(0.13, 0.12, 0.35, 0.12), TWO_TIED),
        {Kind.LATENCY: ("present",), Kind.TEMPERATURE: ("not monotone", "rises")},
    ),
    Scenario(
        "rising with T and size, truncation +25 points",
        Population(growing),
        {
            Kind.LATENCY: ("latent",),
            Kind.TEMPERATURE: RISES,
            Kind.SIZE: ("rises with size",),
            Kind.PERTURBATION: ("raises",),
        }
        | RESTATES,
    ),
    Scenario(
        "5% at every T, nobody labelled, judge without errors",
        Population(same(0.05), TWO_TIED, sensitivity=1.0, specificity=1.0, labelled=0),
    ),
    Scenario(
        "5% at every T, 20 conversations, 200 labelled",
        Population(same(0.05), TWO_TIED, conversations=20, labelled=200),
    ),
    Scenario(
        "5% at every T, 1,500 of 3,600 turns labelled",
        Population(same(0.05), TWO_TIED, models=2, conversations=100, labelled=1500),
    ),
    Scenario(
        "0.2% at every T, truncation +60 points, 500 conversations, 400 labelled",
        Population(
            over(0.002, 0.002, 0.002, 0.002, truncated=0.6),
            TWO_TIED,
            models=4,
            conversations=500,
            labelled=400,
        ),
        {Kind.LATENCY: ("absent",), Kind.PERTURBATION: ("raises",)},
    ),
    Scenario(
        "0.2 to 30% with T, 500 conversations, 400 labelled",
        Population(over(0.002, 0.1, 0.2, 0.3), models=4, conversations=500, labelled=400),
        {Kind.LATENCY: ("latent",), Kind.TEMPERATURE: RISES} | RESTATES,
    ),
)


@dataclass(frozen=True)
class Row:
    """Of one kind in one scenario: shares of the verdicts, and of runs with any false one."""

    scenario: Scenario
    kind: Kind
    runs: int
    verdicts: Mapping[str, float]
    false: float

    @property
    def error(self) -> float:
        """Monte Carlo standard error of the share of runs."""
        return (max(self.false, 1 / self.runs) * (1 - self.false) / self.runs) ** 0.5

    @property
    def met(self) -> bool:
        """At most 5% and three standard errors of it, since the table has many rows."""
        return self.false <= ALPHA + 3 * (ALPHA * (1 - ALPHA) / self.runs) ** 0.5

    @property
    def power(self) -> float | None:
        """The share of statements that say what is so; None where nothing is."""
        true = self.scenario.true.get(self.kind, ())
        return sum(self.verdicts.get(verdict, 0.0) for verdict in true) if true else None


def simulated(job: tuple[int, range]) -> list[list[tuple[Kind, str]]]:
    """Kinds and verdicts of the statements on some runs of one scenario."""
    number, runs = job
    return [
        [
            (of.kind, of.verdict)
            for of in statements(
                draw_run(SCENARIOS[number].population, np.random.default_rng([SEED, number, k]))
            )
        ]
        for k in runs
    ]


def simulate(numbers: Sequence[int], sims: int, workers: int) -> Iterator[Row]:
    parts = [range(start, min(start + 10, sims)) for start in range(0, sims, 10)]
    with ProcessPoolExecutor(workers) as pool:
        done = pool.map(simulated, [(number, part) for number in numbers for part in parts])
        for number in numbers:
            yield from rows_of(SCENARIOS[number], [run for _ in parts for run in next(done)])


def rows_of(scenario: Scenario, runs: Sequence[Sequence[tuple[Kind, str]]]) -> Iterator[Row]:
    for kind in KINDS:
        allowed = {UNDECIDED, *scenario.true.get(kind, ())}
        of_kind = [[verdict for of, verdict in run if of is kind] for run in runs]
        counts = Counter(verdict for run in of_kind for verdict in run)
        total = sum(counts.values())
        verdicts = {verdict: n / total for verdict, n in counts.most_common()}
        false = sum(any(verdict not in allowed for verdict in run) for run in of_kind)
        yield Row(scenario, kind, len(runs), verdicts, false / len(runs))


def markdown(row: Row) -> str:
    true = " or ".join(row.scenario.true.get(row.kind, ())) or "–"
    verdicts = ", ".join(f"{name} {share:.3f}" for name, share in list(row.verdicts.items())[:4])
    power = f"{row.power:.2f}" if row.power is not None else ""
    met = "yes" if row.met else "**no**"
    return (
        f"| {row.scenario.name} | {row.kind} | {true} | {verdicts} | "
        f"{row.false:.3f} ± {row.error:.3f} | {met} | {power} |"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sims", type=int, default=300, help="runs per scenario")
    parser.add_argument("--only", default="", help="scenarios with this in their name")
    parser.add_argument("--quick", action="store_true", help="few: a try-out")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    options = parser.parse_args()
    sims = 10 if options.quick else options.sims
    numbers = [k for k, of in enumerate(SCENARIOS) if options.only in of.name]
    print(
        f"{sims:,} runs per scenario, seed {SEED}. False: share of runs with any false statement "
        f"of that kind, at most {ALPHA}. Power: share of statements that say what is so.\n"
    )
    print("| true rates | statements | true verdict | verdicts | false | met | power |")
    print("|---|---|---|---|---|---|---|")
    met = True
    for row in simulate(numbers, sims, options.workers):
        print(markdown(row), flush=True)
        met = met and row.met
    return 0 if met or options.quick else 1


if __name__ == "__main__":
    sys.exit(main())
