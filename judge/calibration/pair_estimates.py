"""Every number of a calibration's pairs, from one set of resamples."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judge.calibration.calibration import Coefficients, Kappas
from judge.calibration.measures.confusion import (
    INVALID,
    Confusion,
    collapsing,
    from_table,
    parseable,
    positions,
)
from judge.calibration.measures.estimate import Estimate, estimates
from judge.calibration.measures.kappa import cluster_numbers, reported_kappa
from judge.calibration.measures.label_scores import LabelScores, label_scores
from judge.calibration.measures.layout import pair_tables
from judge.calibration.measures.replicates import Sums
from judge.calibration.measures.table_measures import (
    binary_measures,
    label_measures,
    table_measures,
)
from judge.calibration.measures.units import Units, gather, patterns
from judge.calibration.pairing import Pair
from judge.calibration.sampling.weights import DesignWeights
from rubrics import Rubric

SIGMAS = ("1", "0")  # a genuine follow-up, and every other category
LABELS, SIGMA, READABLE = "labels ", "sigma ", "readable "  # prefixes of what is estimated


@dataclass(frozen=True)
class PairEstimates:
    """The tables, which count items, and the estimates, which weight them by the design."""

    confusion: Confusion
    sigma_confusion: Confusion
    kappas: Kappas
    coefficients: Coefficients
    label_scores: tuple[LabelScores, ...]


def estimate_pairs(
    pairs: Sequence[Pair], rubric: Rubric, design: DesignWeights, *, seed: int
) -> PairEstimates:
    """Estimates of the agreement over `pairs`, each with as many verdicts that count as the others.

    Conversations are drawn, or items where no two share one; of three runs or more the runs too.
    """
    k = len(rubric.categories)
    by_sigma = collapsing([SIGMAS.index(str(category.sigma)) for category in rubric.categories])

    def labels(sums: Sums) -> NDArray[np.float64]:
        return sums.reshape(*sums.shape[:-1], k, k + 1)

    def sigma(sums: Sums) -> NDArray[np.float64]:
        return by_sigma(labels(sums))

    def readable(sums: Sums) -> NDArray[np.float64]:
        return parseable(labels(sums))

    runs = len(pairs[0].judgments) if pairs else 1
    units = pair_units(pairs, rubric.category_ids, design)
    measures = [
        *table_measures(labels, LABELS, runs=runs),
        *table_measures(sigma, SIGMA, runs=runs),
        *binary_measures(sigma, SIGMA, runs=runs),
        *table_measures(readable, READABLE, runs=runs),
    ]
    for category in range(k):
        measures += label_measures(category, labels, f"{category} ", runs=runs)
    found = estimates(units, measures, seed=seed)
    counted = labels(_counts(pairs, rubric.category_ids)).astype(np.int64)
    n, plain = len(pairs), runs == 1 and design.equal
    legible = sum(any(verdict.valid for verdict in pair.judgments) for pair in pairs)
    confusion = from_table(counted, rubric.category_ids, (INVALID,))
    return PairEstimates(
        confusion,
        from_table(by_sigma(counted), SIGMAS, (INVALID,)),
        Kappas(
            reported_kappa(units, labels, found[f"{LABELS}kappa"], None if plain else n),
            reported_kappa(units, sigma, found[f"{SIGMA}kappa"], None if plain else n),
            reported_kappa(units, readable, found[f"{READABLE}kappa"], None if plain else legible),
        ),
        Coefficients(_named(found, LABELS), _named(found, SIGMA)),
        label_scores(confusion, found),
    )


def pair_units(pairs: Sequence[Pair], categories: Sequence[str], design: DesignWeights) -> Units:
    """Units whose features are a table (K, K + 1) per run of the judge."""
    found = patterns(_codes(pairs, categories))
    return gather(
        _run_tables(found.rows, len(categories)),
        found.of_item,
        clusters=cluster_numbers([pair.conversation for pair in pairs]),
        weights=design.of([pair.item_id for pair in pairs]),
        strata=design.strata_of([pair.item_id for pair in pairs]),
    )


def _codes(pairs: Sequence[Pair], categories: Sequence[str]) -> NDArray[np.int64]:
    """(n, 1 + R): the reference, and what each verdict that counts comes to."""
    row, column = positions(categories), positions(categories, (INVALID,))
    codes = [[row(pair.reference), *map(column, pair.outcomes)] for pair in pairs]
    return np.array(codes, dtype=np.int64).reshape(len(pairs), len(codes[0]) if codes else 2)


def _run_tables(rows: NDArray[np.int64], k: int) -> NDArray[np.int8]:
    """(P, R, K · (K + 1)) of patterns (P, 1 + R)."""
    tables = [pair_tables(rows[:, 0], outcome, k, k + 1) for outcome in rows.T[1:]]
    return np.stack(tables, axis=1).reshape(len(rows), len(tables), k * (k + 1))


def _counts(pairs: Sequence[Pair], categories: Sequence[str]) -> Sums:
    """The table of all pairs, every verdict that counts once."""
    found = patterns(_codes(pairs, categories))
    times = np.bincount(found.of_item, minlength=len(found.rows)).astype(np.float64)
    return np.einsum("p,prf->f", times, _run_tables(found.rows, len(categories)))


def _named(found: Mapping[str, Estimate], prefix: str) -> dict[str, Estimate]:
    return {
        name.removeprefix(prefix): estimate
        for name, estimate in found.items()
        if name.startswith(prefix) and name != f"{prefix}kappa"
    }
