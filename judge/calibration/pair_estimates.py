"""Every number of a calibration's pairs, from one set of resamples."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.measures.coefficients import kappa_chance
from annotator.measures.confusion import (
    INVALID,
    Confusion,
    collapsing,
    from_table,
    parseable,
    positions,
)
from annotator.measures.edge_bounds import TableOf, with_squares
from annotator.measures.estimate import Estimate, estimates
from annotator.measures.kappa import Kappa, cluster_numbers, reported_kappa
from annotator.measures.label_scores import LabelScores, label_scores
from annotator.measures.layout import Layout, pair_tables
from annotator.measures.replicates import Sums
from annotator.measures.table_measures import (
    binary_measures,
    coefficient,
    label_measures,
    table_measures,
)
from annotator.measures.units import Patterns, Units, gather, patterns
from judge.calibration.pairing import Pair
from judge.calibration.sampling.weights import DesignWeights
from rubrics import Rubric

SIGMAS = ("1", "0")  # a genuine follow-up, and every other category
LABELS, SIGMA, READABLE = "labels ", "sigma ", "readable "  # prefixes of what is estimated


@dataclass(frozen=True)
class Kappas:
    """Agreement three ways, from one set of resamples: paired, hence comparable.

    `labels` and `sigma` count an unreadable verdict as a disagreement; `parseable` leaves such
    items out and is only to be read beside the number of them.
    """

    labels: Kappa
    sigma: Kappa
    parseable: Kappa

    def as_dict(self) -> dict[str, object]:
        return {
            "labels": self.labels.as_dict(),
            "sigma": self.sigma.as_dict(),
            "parseable": self.parseable.as_dict(),
        }


@dataclass(frozen=True)
class Coefficients:
    """The other coefficients of agreement, by name: of the labels' table, and of sigma's."""

    labels: dict[str, Estimate]
    sigma: dict[str, Estimate]

    def as_dict(self) -> dict[str, object]:
        return {
            "labels": {name: estimate.as_dict() for name, estimate in self.labels.items()},
            "sigma": {name: estimate.as_dict() for name, estimate in self.sigma.items()},
        }


@dataclass(frozen=True)
class PairEstimates:
    """The tables, which count items, and the estimates, which weight them by the design.

    `effective_items` is (Σw)² / Σw² of the weights, None where items have none.
    """

    confusion: Confusion
    sigma_confusion: Confusion
    kappas: Kappas
    coefficients: Coefficients
    label_scores: tuple[LabelScores, ...]
    effective_items: float | None


def estimate_pairs(
    pairs: Sequence[Pair], rubric: Rubric, design: DesignWeights, *, seed: int
) -> PairEstimates:
    """Estimates of the agreement over `pairs`, each with as many verdicts that count as the others.

    Conversations are drawn, or items where no two share one; of three runs or more the runs too.
    """
    k, runs = len(rubric.categories), len(pairs[0].judgments) if pairs else 1
    by_sigma = collapsing([SIGMAS.index(str(category.sigma)) for category in rubric.categories])
    layout = Layout({LABELS: (k, k + 1), SIGMA: (2, 3)})
    found = patterns(outcome_codes(pairs, rubric.category_ids))
    tables = run_tables(found.rows, k)
    blocks = [layout.pack({LABELS: of_run, SIGMA: by_sigma(of_run)}) for of_run in tables]
    weights = design.of([pair.item_id for pair in pairs])
    units = pair_units(np.stack(blocks, axis=1), found, pairs, design)

    def labels(sums: Sums) -> NDArray[np.float64]:
        return layout.pick(sums, LABELS)

    def sigma(sums: Sums) -> NDArray[np.float64]:
        return layout.pick(sums, SIGMA)

    def readable(sums: Sums) -> NDArray[np.float64]:
        return parseable(labels(sums))

    def counts(table: TableOf) -> dict[str, int | TableOf | None]:
        return {"runs": runs, "squares": squares(table, layout.width, design)}

    measures = [
        *table_measures(labels, LABELS, **counts(labels)),
        *table_measures(sigma, SIGMA, **counts(sigma)),
        *binary_measures(sigma, SIGMA, **counts(sigma)),
        coefficient(f"{READABLE}kappa", readable, kappa_chance, **counts(readable)),
    ]
    for category in range(k):
        measures += label_measures(category, labels, f"{category} ", **counts(labels))
    estimated = estimates(units, measures, seed=seed)
    times = np.bincount(found.of_item, minlength=len(found.rows))
    counted = np.einsum("p,rpij->ij", times, tables, dtype=np.int64)
    n, plain = len(pairs), runs == 1 and weights is None
    legible = sum(any(verdict.valid for verdict in pair.judgments) for pair in pairs)
    confusion = from_table(counted, rubric.category_ids, (INVALID,))
    return PairEstimates(
        confusion,
        from_table(by_sigma(counted), SIGMAS, (INVALID,)),
        Kappas(
            *[
                reported_kappa(units, table, estimated[f"{name}kappa"], None if plain else items)
                for name, table, items in (
                    (LABELS, labels, n),
                    (SIGMA, sigma, n),
                    (READABLE, readable, legible),
                )
            ]
        ),
        Coefficients(_named(estimated, LABELS), _named(estimated, SIGMA)),
        label_scores(confusion, estimated),
        None if weights is None else float(weights.sum() ** 2 / (weights**2).sum()),
    )


def pair_units(
    features: NDArray[np.float64], found: Patterns, pairs: Sequence[Pair], design: DesignWeights
) -> Units:
    """Units of pairs whose patterns have these features (P, R, F); (…, 2F) `with_squares`.

    The latter where the design has weights.
    """
    ids = [pair.item_id for pair in pairs]
    weights, of_item = design.of(ids), found.of_item
    if weights is not None:
        features, of_item = with_squares(features, of_item, weights)
    return gather(
        features,
        of_item,
        clusters=cluster_numbers([pair.conversation for pair in pairs]),
        strata=design.strata_of(ids),
    )


def squares(table: TableOf, width: int, design: DesignWeights) -> TableOf | None:
    """`table` in the second half of what `pair_units` adds up; None where there is none."""
    return None if design.equal else lambda sums: table(sums[..., width:])


def outcome_codes(pairs: Sequence[Pair], categories: Sequence[str]) -> NDArray[np.int64]:
    """(n, 1 + R): the reference, and what each verdict that counts comes to."""
    row, column = positions(categories), positions(categories, (INVALID,))
    codes = [[row(pair.reference), *map(column, pair.outcomes)] for pair in pairs]
    return np.array(codes, dtype=np.int64).reshape(len(pairs), len(codes[0]) if codes else 2)


def run_tables(rows: NDArray[np.int64], k: int) -> NDArray[np.int8]:
    """(R, P, K, K + 1) of patterns (P, 1 + R)."""
    return np.stack([pair_tables(rows[:, 0], outcome, k, k + 1) for outcome in rows.T[1:]])


def _named(found: Mapping[str, Estimate], prefix: str) -> dict[str, Estimate]:
    return {
        name.removeprefix(prefix): estimate
        for name, estimate in found.items()
        if name.startswith(prefix) and name != f"{prefix}kappa"
    }
