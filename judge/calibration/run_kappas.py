"""Run kappas: each run of a judge alone, and the ways of reading them all side by side."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import stdev

import numpy as np

from annotator.measures.coefficients import kappa_chance, kappas
from annotator.measures.estimate import Estimate, Measure, estimates
from annotator.measures.layout import Layout
from annotator.measures.replicates import Sums
from annotator.measures.table_measures import coefficient
from annotator.measures.units import patterns
from judge.calibration.pair_estimates import outcome_codes, pair_units, run_tables, squares
from judge.calibration.pairing import Pair
from judge.calibration.sampling.weights import DesignWeights
from judge.reading import majority
from rubrics import Rubric

MEAN, MAJORITY = "mean_of_runs", "majority_of_k"
DIFFERENCE = f"{MAJORITY} - {MEAN}"


@dataclass(frozen=True)
class RunKappas:
    """Kappa of the labels of each run alone, None where undefined, and of both readings of all.

    `spread` is the standard deviation between runs on these items: what a kappa changes by when the
    judge is run again, None where a run has no kappa. The readings are different instruments, so
    neither stands in for the other; their `difference`, majority-of-k less mean-of-runs, is from
    the same resamples.
    """

    each: tuple[float | None, ...]
    spread: float | None
    mean_of_runs: Estimate
    majority_of_k: Estimate
    difference: Estimate

    def as_dict(self) -> dict[str, object]:
        return {
            "kappa_of_each": list(self.each),
            "standard_deviation": self.spread,
            "mean_of_runs": self.mean_of_runs.as_dict(),
            "majority_of_k": self.majority_of_k.as_dict(),
            "difference": self.difference.as_dict(),
        }


def run_kappas(
    pairs: Sequence[Pair], rubric: Rubric, design: DesignWeights, *, seed: int
) -> RunKappas | None:
    """Those of pairs that several runs have judged; None of no pairs and of a single run."""
    runs = len(pairs[0].runs) if pairs else 0
    if runs < 2:
        return None
    k = len(rubric.categories)
    layout = Layout({MEAN: (k, k + 1), MAJORITY: (k, k + 1)})
    # One column per run, and at the end what most of them say.
    read = [replace(pair, judgments=(*pair.runs, majority(pair.runs))) for pair in pairs]
    found = patterns(outcome_codes(read, rubric.category_ids))
    *each, most = run_tables(found.rows, k)
    blocks = [layout.pack({MEAN: of_run, MAJORITY: most}) for of_run in each]
    units = pair_units(np.stack(blocks, axis=1), found, pairs, design)

    def mean_of_runs(sums: Sums):
        return layout.pick(sums, MEAN)

    def majority_of_k(sums: Sums):
        return layout.pick(sums, MAJORITY)

    def difference(sums: Sums):
        return kappas(majority_of_k(sums)) - kappas(mean_of_runs(sums))

    measures = [
        coefficient(name, table, kappa_chance, runs, squares(table, layout.width, design))
        for name, table in ((MEAN, mean_of_runs), (MAJORITY, majority_of_k))
    ]
    measures += [
        Measure(DIFFERENCE, difference, lambda _sums: "one of them is undefined"),
    ]
    estimated = estimates(units, measures, seed=seed)
    values = [float(kappas(mean_of_runs(units.of_run(run).total))) for run in range(runs)]
    of_each = tuple(None if np.isnan(value) else value for value in values)
    defined = [value for value in of_each if value is not None]
    return RunKappas(
        of_each,
        stdev(defined) if len(defined) == runs else None,
        *(estimated[name] for name in (MEAN, MAJORITY, DIFFERENCE)),
    )
