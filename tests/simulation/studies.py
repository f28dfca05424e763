"""Studies of every kind that the intervals are for, each drawn from a population that is known."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import populations as population
from populations import KAPPA, MARGINS, SIGMA, Judged, K

from annotator.measures import double_sample
from annotator.measures.coefficients import kappa_chance, kappas
from annotator.measures.estimate import Estimate, Measure, estimates
from annotator.measures.interval import Interval, large_sample_interval
from annotator.measures.layout import Layout, pair_tables
from annotator.measures.misclassification import rogan_gladen
from annotator.measures.permutation import swap_permutation
from annotator.measures.poststratification import poststratify
from annotator.measures.table_measures import (
    binary_measures,
    coefficient,
    label_measures,
)
from annotator.measures.units import Units, gather, patterns

COVERAGE, FALSE_ALARMS = (0.93, 0.97), (0.0, 0.065)
COMPARED, CHECK = "(for comparison)", "(cross-check)"  # methods that no target is for


@dataclass(frozen=True)
class Outcome:
    """One method on one study: whether its interval held the truth, or its test was rejected."""

    method: str
    hit: bool
    width: float | None = None


@dataclass(frozen=True)
class Condition:
    """`study` draws one study and gives the outcomes of every method, in a fixed order."""

    name: str
    study: Callable[[np.random.Generator, int, int], list[Outcome]]
    target: tuple[float, float] = COVERAGE


def labels(sums):
    return sums.reshape(*sums.shape[:-1], K, K)


def sigma(sums):
    """The 2 × 2 table of genuine follow-ups and the rest."""
    tables = labels(sums)
    halves = [tables[..., :SIGMA, :].sum(-2), tables[..., SIGMA:, :].sum(-2)]
    rows = np.stack(halves, axis=-2)
    return np.stack([rows[..., :SIGMA].sum(-1), rows[..., SIGMA:].sum(-1)], axis=-1)


def units_of(judged: Judged, **design) -> Units:
    found = patterns(np.column_stack([judged.people, judged.judge]))
    tables = pair_tables(*found.rows.T, K, K).reshape(len(found.rows), K * K)
    return gather(tables, found.of_item, clusters=judged.conversations, **design)


KAPPA_MEASURE = coefficient("kappa", labels, kappa_chance)


def held(method: str, interval: Interval, truth: float) -> Outcome:
    if interval.low is None:
        return Outcome(method, False)
    return Outcome(method, interval.low <= truth <= interval.high, 2 * interval.half_width)


def both(estimate: Estimate, truth: float) -> list[Outcome]:
    return [
        held("bootstrap", estimate.interval, truth),
        held(f"large-sample {CHECK}", estimate.large_sample, truth),
    ]


def kappa_of_items(n: int, kappa: float = KAPPA):
    def study(random, seed, resamples):
        units = units_of(population.independent(random, n, kappa))
        return both(estimates(units, [KAPPA_MEASURE], seed=seed, resamples=resamples)["kappa"],
                    kappa)  # fmt: skip

    return study


def kappa_of_conversations(conversations: int, each: int = 5):
    def study(random, seed, resamples):
        judged = population.clustered(random, conversations, each)
        found = estimates(units_of(judged), [KAPPA_MEASURE], seed=seed, resamples=resamples)
        alone = units_of(Judged(judged.people, judged.judge))
        naive = estimates(alone, [KAPPA_MEASURE], seed=seed, resamples=50)["kappa"]
        return [
            *both(found["kappa"], KAPPA),
            held(f"items as if independent {COMPARED}", naive.large_sample, KAPPA),
        ]

    return study


def kappa_of_strata(each: int):
    def study(random, seed, resamples):
        drawn = population.stratified(random, each)
        units = units_of(drawn.judged, weights=drawn.weights, strata=drawn.strata)
        return both(estimates(units, [KAPPA_MEASURE], seed=seed, resamples=resamples)["kappa"],
                    KAPPA)  # fmt: skip

    return study


def kappa_of_runs(n: int, runs: int, shift: float):
    def study(random, seed, resamples):
        people, judge = population.several_runs(random, n, runs, shift)
        found = patterns(np.column_stack([people, judge]))
        tables = [pair_tables(found.rows[:, 0], said, K, K) for said in found.rows.T[1:]]
        rows = np.stack(tables, axis=1).reshape(len(found.rows), runs, K * K)
        measure = coefficient("kappa", labels, kappa_chance, runs)
        units = gather(rows, found.of_item)
        return both(estimates(units, [measure], seed=seed, resamples=resamples)["kappa"], KAPPA)

    return study


def scores_of_items(n: int, kappa: float = KAPPA):
    """F1 of the first and of the fourth label, sensitivity and specificity of sigma."""
    first, fourth = MARGINS[0], MARGINS[3]
    genuine = MARGINS[:SIGMA].sum()
    measures = [
        *label_measures(0, labels, "0 ")[:1],
        *label_measures(3, labels, "3 ")[:1],
        *binary_measures(sigma)[:2],
    ]
    truths = {
        "0 f1": kappa + (1 - kappa) * first,
        "3 f1": kappa + (1 - kappa) * fourth,
        "sensitivity": kappa + (1 - kappa) * genuine,
        "specificity": kappa + (1 - kappa) * (1 - genuine),
    }
    names = {"0 f1": "F1, label of 30%", "3 f1": "F1, label of 12%"}

    def study(random, seed, resamples):
        units = units_of(population.independent(random, n, kappa))
        found = estimates(units, measures, seed=seed, resamples=resamples)
        return [
            held(names.get(name, name), found[name].interval, truth)
            for name, truth in truths.items()
        ]

    return study


TWO = Layout({"first": (K, K), "second": (K, K)})


def no_difference(n: int):
    """Share of studies in which two judges of the same true kappa are told apart at 5%."""

    def first(sums):
        return TWO.pick(sums, "first")

    def second(sums):
        return TWO.pick(sums, "second")

    def difference(sums):
        return kappas(second(sums)) - kappas(first(sums))

    measures = [Measure("difference", difference), *(coefficient(name, table, kappa_chance)
                for name, table in (("first", first), ("second", second)))]  # fmt: skip

    def study(random, seed, resamples):
        people, one, other = population.two_judges(random, n)
        found = patterns(np.column_stack([people, one, other]))
        tables = {"first": pair_tables(*found.rows[:, [0, 1]].T, K, K),
                  "second": pair_tables(*found.rows[:, [0, 2]].T, K, K)}  # fmt: skip
        units = gather(TWO.pack(tables), found.of_item)
        of = estimates(units, measures, seed=seed, resamples=resamples)
        paired = of["difference"]
        swapped = swap_permutation(units, first, second, kappas, seed=seed, permutations=resamples)
        error = np.hypot(of["first"].standard_error, of["second"].standard_error)
        apart = large_sample_interval(paired.value, error, n)
        return [
            Outcome("paired bootstrap", paired.two_sided_p <= 0.05, 2 * paired.interval.half_width),
            Outcome("swap permutation", swapped.p <= 0.05),
            Outcome(f"as if unpaired {COMPARED}", not apart.low <= 0 <= apart.high,
                    2 * apart.half_width),
        ]  # fmt: skip

    return study


def rate_of_turns(rate: float, sensitivity: float, specificity: float, labelled: int, turns: int):
    """The rate of genuine follow-ups of `turns`, with `labelled` others labelled by people too."""

    def study(random, _seed, _resamples):
        def judged(people):
            return np.where(random.random(len(people)) < np.where(people, sensitivity,
                            1 - specificity), 1, 0)  # fmt: skip

        people = (random.random(labelled) < rate).astype(np.int64)
        one_hot = np.eye(2)
        items = double_sample.Labelled(
            people, one_hot[judged(people)], np.ones(labelled), np.arange(labelled)
        )
        said = judged(random.random(turns) < rate)
        judgments = double_sample.Judged(one_hot[said], labelled + np.arange(turns))
        (post,) = poststratify(items, judgments, people[:, np.newaxis].astype(np.float64))
        p = said.mean()
        reach = 1.96 * (p * (1 - p) / turns) ** 0.5
        raw = Interval(p - reach, p + reach, "Wald")
        return [
            held("post-stratified", post.interval, rate),
            held("judge's errors inverted (Rogan-Gladen)", rogan_gladen(items, judgments).interval,
                 rate),
            held(f"judge uncorrected {COMPARED}", raw, rate),
        ]  # fmt: skip

    return study


CONDITIONS = (
    *(Condition(f"kappa, {n} items", kappa_of_items(n)) for n in (100, 200, 400)),
    *(
        Condition(f"kappa, {q} conversations of 5 items", kappa_of_conversations(q))
        for q in (20, 40, 100)
    ),
    *(Condition(f"kappa, {7 * n} items, {n} per stratum", kappa_of_strata(n)) for n in (15, 30)),
    Condition("kappa .98, 60 items: often perfect", kappa_of_items(60, 0.98), (0.93, 1.0)),
    *(
        Condition(
            f"kappa, mean of {runs} runs of 200 items, runs differ by ±{shift}",
            kappa_of_runs(200, runs, shift),
        )
        for runs, shift in ((3, 0.02), (4, 0.02), (4, 0.05))
    ),
    Condition("scores, 200 items", scores_of_items(200)),
    Condition("scores, 400 items", scores_of_items(400)),
    *(Condition(f"no difference, {n} items", no_difference(n), FALSE_ALARMS) for n in (150, 400)),
    *(
        Condition(
            f"rate {rate}, judge {se}/{sp}, {n} labelled, {turns:,} turns",
            rate_of_turns(rate, se, sp, n, turns),
        )
        for rate, se, sp, n, turns in (
            (0.3, 0.85, 0.90, 200, 300),
            (0.3, 0.85, 0.90, 200, 5000),
            (0.1, 0.80, 0.90, 150, 2000),
            (0.5, 0.75, 0.80, 100, 1000),
        )
    ),
)
