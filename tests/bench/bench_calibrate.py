"""The calibration against its targets, on this machine: `make bench-calibrate`, or --quick.

Ratios are of one run on one machine. What others take for all resamples is extrapolated from the
few that are timed. Prints one table; ends with 1 at a miss.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "bench"), str(TESTS / "simulation")]

import numpy as np  # noqa: E402
import rates_study  # noqa: E402
from populations import MARGINS, K, independent, two_judges  # noqa: E402
from target_table import Line, print_table  # noqa: E402

from annotator.measures.alpha import alpha_of_counts  # noqa: E402
from annotator.measures.coefficients import kappas  # noqa: E402
from annotator.measures.estimate import Measure, estimates  # noqa: E402
from annotator.measures.kappa import kappa_of  # noqa: E402
from annotator.measures.layout import Layout, pair_tables  # noqa: E402
from annotator.measures.replicates import RESAMPLES  # noqa: E402
from annotator.measures.units import Units, gather, patterns  # noqa: E402
from generation.study import Study  # noqa: E402

EACH = 5  # items per conversation, and raters per item
MISSING = 0.3  # of the ratings
MANY_TURNS = 1_000_000
MAX_RATES_SECONDS, MAX_RATES_MIB = 20, 1536


@dataclass(frozen=True)
class Sizes:
    items: int
    timed: int  # resamples of what is extrapolated to RESAMPLES
    study: int  # items of the study that the whole command reads
    rates: rates_study.Shape
    times: int = 5  # that ours is measured; the median counts


FULL = Sizes(100_000, 10, 1_000, rates_study.Shape())
QUICK = Sizes(300, 2, 30, rates_study.Shape(models=2, datasets=1, queries=3, labelled=20), times=1)


def seconds(work: Callable[[], object], times: int) -> float:
    def once() -> float:
        started = time.perf_counter()
        work()
        return time.perf_counter() - started

    return median(once() for _ in range(times))


def of_all(resample: Callable[[np.random.Generator], object], timed: int) -> float:
    """Seconds that RESAMPLES would take, from the median of some."""
    generator = np.random.default_rng(1)
    return seconds(lambda: resample(generator), timed) * RESAMPLES


def compared(what: str, ours: float, theirs: float, least: float) -> Iterator[Line]:
    yield Line(f"{what}, ours", f"{ours:.3g} s")
    yield Line(f"{what}, theirs, extrapolated", f"{theirs:.3g} s")
    ratio = theirs / ours
    yield Line(f"{what}, ratio", f"{ratio:,.0f}×", f"≥ {least:,.0f}×", ratio >= least)


def label_units(people: np.ndarray, judge: np.ndarray, clusters: np.ndarray | None) -> Units:
    """As `calibrate` makes them: a column for what cannot be read is there, if empty."""
    found = patterns(np.column_stack([people, judge]))
    tables = pair_tables(*found.rows.T, K, K + 1)
    return gather(tables.reshape(len(tables), K * (K + 1)), found.of_item, clusters=clusters)


def kappa(sizes: Sizes) -> Iterator[Line]:
    from sklearn.metrics import cohen_kappa_score

    n = sizes.items
    study = independent(np.random.default_rng(1), n)
    people, judge = study.people, study.judge

    def ours() -> object:
        return kappa_of(label_units(people, judge, None), (K, K + 1), seed=1)

    def loop(generator: np.random.Generator) -> float:
        drawn = generator.integers(n, size=n)
        return cohen_kappa_score(people[drawn], judge[drawn])

    def bare() -> object:
        """Percentiles and nothing else, with no more than numpy."""
        table = np.bincount(people * K + judge, minlength=K * K)
        generator = np.random.default_rng(1)
        drawn = generator.multinomial(n, table / n, size=RESAMPLES).reshape(-1, K, K) / n
        po = np.trace(drawn, axis1=1, axis2=2)
        pe = (drawn.sum(axis=1) * drawn.sum(axis=2)).sum(axis=1)
        return np.quantile((po - pe) / (1 - pe), [0.025, 0.975])

    mine, least = seconds(ours, sizes.times), seconds(bare, sizes.times)
    yield from compared("kappa, sklearn", mine, of_all(loop, sizes.timed), 1000)
    yield Line("kappa, ours / bare numpy", f"{mine / least:.2f}×", "≤ 2×", mine <= 2 * least)


def paired_difference(sizes: Sizes) -> Iterator[Line]:
    from sklearn.metrics import cohen_kappa_score

    n = sizes.items
    people, one, other = two_judges(np.random.default_rng(2), n)
    layout = Layout({"one": (K, K + 1), "other": (K, K + 1)})

    def difference(sums: np.ndarray) -> np.ndarray:
        return kappas(layout.pick(sums, "other")) - kappas(layout.pick(sums, "one"))

    def ours() -> object:
        found = patterns(np.column_stack([people, one, other]))
        reference, first, second = found.rows.T
        tables = {"one": pair_tables(reference, first, K, K + 1),
                  "other": pair_tables(reference, second, K, K + 1)}  # fmt: skip
        units = gather(layout.pack(tables), found.of_item)
        return estimates(units, [Measure("difference", difference)], seed=1)

    def loop(generator: np.random.Generator) -> float:
        drawn = generator.integers(n, size=n)
        sample = people[drawn]
        return cohen_kappa_score(sample, other[drawn]) - cohen_kappa_score(sample, one[drawn])

    mine = seconds(ours, sizes.times)
    yield from compared("two judges, sklearn", mine, of_all(loop, sizes.timed), 500)


def clustered(sizes: Sizes) -> Iterator[Line]:
    from sklearn.metrics import cohen_kappa_score

    q = sizes.items // EACH
    study = independent(np.random.default_rng(3), q * EACH)
    people, judge = study.people, study.judge
    clusters = np.repeat(np.arange(q), EACH)
    items = list(np.arange(q * EACH).reshape(q, EACH))

    def ours() -> object:
        return kappa_of(label_units(people, judge, clusters), (K, K + 1), seed=1)

    def loop(generator: np.random.Generator) -> float:
        drawn = np.concatenate([items[k] for k in generator.integers(q, size=q)])
        return cohen_kappa_score(people[drawn], judge[drawn])

    mine = seconds(ours, sizes.times)
    yield from compared(f"{q:,} × {EACH}, sklearn", mine, of_all(loop, sizes.timed), 100)


def alpha(sizes: Sizes) -> Iterator[Line]:
    import krippendorff

    generator = np.random.default_rng(4)
    n = sizes.items
    truth = generator.choice(K, size=(n, 1), p=MARGINS)
    guess = generator.choice(K, size=(n, EACH), p=MARGINS)
    labels = np.where(generator.random((n, EACH)) < 0.8, truth, guess)
    said = generator.random((n, EACH)) >= MISSING
    counts = ((labels[..., np.newaxis] == np.arange(K)) & said[..., np.newaxis]).sum(axis=1)
    counts = counts[counts.sum(axis=1) >= 2]
    own = range(len(counts))

    def loop(generator: np.random.Generator) -> float:
        drawn = counts[generator.integers(len(counts), size=len(counts))]
        return krippendorff.alpha(value_counts=drawn, level_of_measurement="nominal")

    mine = seconds(lambda: alpha_of_counts(counts, own, seed=1), sizes.times)
    yield from compared("alpha of 5, krippendorff", mine, of_all(loop, sizes.timed), 500)


def child(*arguments: str) -> tuple[float, float]:
    """Seconds and peak MiB of `calibrate` with these arguments, which must succeed."""
    command = [sys.executable, "-c", "from judge.calibration.cli import calibrate; calibrate()"]
    started = time.perf_counter()
    process = subprocess.Popen([*command, *arguments], stdout=subprocess.DEVNULL)
    _pid, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"failed: calibrate {' '.join(arguments)}")
    return time.perf_counter() - started, used.ru_maxrss / 1024


def commands(sizes: Sizes) -> Iterator[Line]:
    """A fresh process each time, as people start it."""
    with tempfile.TemporaryDirectory() as folder:
        study = Study(Path(folder))
        three_annotators(study, sizes.study)
        whole = ("--rubric", "v3", "--study", folder)
        for what, arguments, most in (
            (f"calibrate, {sizes.study:,} items × 3", whole, 3.0),
            ("calibrate --help", ("--help",), 0.4),
        ):
            took = median(child(*arguments)[0] for _ in range(sizes.times))
            yield Line(what, f"{took:.2f} s", f"< {most:g} s", took < most)


def three_annotators(study: Study, n: int) -> None:
    """A study of made-up labels: three annotators who err as the judge does."""
    sys.path.append(str(TESTS / "calibration"))
    from conftest import LABELS, StudyBuilder

    from judge.calibration.sampling.sample_store import sampled_items

    generator = np.random.default_rng(5)
    first = independent(generator, n)
    others = [np.where(generator.random(n) < 0.8, first.people, first.judge) for _ in range(2)]
    builder = StudyBuilder(study)
    builder.turns(n)
    builder.sample(n)
    sampled = sampled_items(builder.pipeline)
    items = [item for item in builder.items if item in sampled]  # not the silent repeats
    said = {"ann": first.people, "bob": others[0], "eve": others[1], "judge": first.judge}
    labels = {
        who: {item: LABELS[k] for item, k in zip(items, of, strict=True)}
        for who, of in said.items()
    }
    builder.judge(labels.pop("judge"))
    for who, of_person in labels.items():
        builder.label(who, of_person)


def rates(sizes: Sizes) -> Iterator[Line]:
    with tempfile.TemporaryDirectory() as folder:
        shape = sizes.rates
        rates_study.make_study(Study(Path(folder)), shape)
        turns = shape.models * shape.datasets * shape.queries * (1 + 3 * shape.samples)
        took, peak = child("rates", "--study", folder)
    assert turns >= MANY_TURNS or sizes is not FULL
    what = f"rates of {turns:,} judgments"
    most, mib = MAX_RATES_SECONDS, MAX_RATES_MIB
    yield Line(what, f"{took:.1f} s", f"< {most} s", took < most)
    yield Line(f"{what}, peak memory", f"{peak:.0f} MiB", f"< {mib} MiB", peak < mib)


PARTS = {"kappa": kappa, "paired": paired_difference, "clustered": clustered, "alpha": alpha,
         "commands": commands, "rates": rates}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, no targets: a try-out")
    parser.add_argument("--only", choices=PARTS, action="append", help="this part; may be repeated")
    options = parser.parse_args()
    sizes = QUICK if options.quick else FULL
    print(f"numpy {np.__version__}, n = {sizes.items:,}, {RESAMPLES:,} resamples; theirs from "
          f"{sizes.timed} timed")  # fmt: skip
    lines = (line for part in options.only or PARTS for line in PARTS[part](sizes))
    return 0 if print_table(lines, judged=not options.quick) else 1


if __name__ == "__main__":
    sys.exit(main())
