"""How often the intervals hold what they should: `make coverage-simulation`, a few minutes.

Draws studies from populations whose truth is known (populations.py) and prints a Markdown table.
The same options give the same table, however many processes share the work.
"""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

for library in ("OPENBLAS", "OMP", "MKL"):  # processes share the cores, threads would fight
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent))

import numpy as np  # noqa: E402
from studies import CHECK, COMPARED, CONDITIONS, Condition, Outcome  # noqa: E402

SEED = 20_260


@dataclass(frozen=True)
class Row:
    condition: str
    method: str
    sims: int
    share: float
    width: float | None
    target: tuple[float, float]

    @property
    def error(self) -> float:
        """Monte Carlo standard error of the share."""
        return (self.share * (1 - self.share) / self.sims) ** 0.5

    @property
    def met(self) -> bool | None:
        """Whether the share is within the target; None of what has none."""
        if self.method.endswith((COMPARED, CHECK)):
            return None
        return self.target[0] <= self.share <= self.target[1]


def simulated(job: tuple[int, range, int]) -> list[list[Outcome]]:
    """Outcomes of some studies of one condition."""
    number, studies, resamples = job
    return [
        CONDITIONS[number].study(np.random.default_rng([SEED, number, k]), k, resamples)
        for k in studies
    ]


def simulate(numbers: Sequence[int], sims: int, resamples: int, workers: int) -> Iterator[Row]:
    parts = [range(start, min(start + 25, sims)) for start in range(0, sims, 25)]
    with ProcessPoolExecutor(workers) as pool:
        jobs = [(number, part, resamples) for number in numbers for part in parts]
        done = pool.map(simulated, jobs)
        for number in numbers:
            studies = [study for _ in parts for study in next(done)]
            yield from rows_of(CONDITIONS[number], studies)


def rows_of(condition: Condition, studies: list[list[Outcome]]) -> Iterator[Row]:
    for outcomes in zip(*studies, strict=True):
        widths = [outcome.width for outcome in outcomes if outcome.width is not None]
        yield Row(
            condition.name,
            outcomes[0].method,
            len(outcomes),
            sum(outcome.hit for outcome in outcomes) / len(outcomes),
            sum(widths) / len(widths) if widths else None,
            condition.target,
        )


def markdown(row: Row) -> str:
    width = f"{row.width:.3f}" if row.width is not None else ""
    low, high = row.target
    target = f"{low:g} to {high:g}" if low else f"at most {high:g}"
    target = "" if row.met is None else target
    verdict = {True: "yes", False: "**no**", None: ""}[row.met]
    share = f"{row.share:.3f} ± {row.error:.3f}"
    return f"| {row.condition} | {row.method} | {share} | {width} | {target} | {verdict} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sims", type=int, default=1000, help="studies per condition")
    parser.add_argument("--resamples", type=int, default=1000, help="per interval and test")
    parser.add_argument("--only", default="", help="conditions with this in their name")
    parser.add_argument("--quick", action="store_true", help="few and small: a try-out")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    options = parser.parse_args()
    sims, resamples = (8, 100) if options.quick else (options.sims, options.resamples)
    numbers = [k for k, condition in enumerate(CONDITIONS) if options.only in condition.name]
    print(f"{sims:,} studies per condition, {resamples:,} resamples, seed {SEED}.\n")
    print("| study | method | share ± its error | mean width | target | met |")
    print("|---|---|---|---|---|---|")
    met = True
    for row in simulate(numbers, sims, resamples, options.workers):
        print(markdown(row), flush=True)
        met = met and row.met is not False
    return 0 if met or options.quick else 1


if __name__ == "__main__":
    sys.exit(main())
