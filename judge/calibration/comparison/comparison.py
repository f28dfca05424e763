"""Several contestants against one baseline: differences with all that their p values rest on."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from judge.calibration.comparison.ratings import Blocks, Ratings, rating_units
from judge.calibration.measures.agreement import influence
from judge.calibration.measures.coefficients import kappa_chance, kappas, one_against_rest, share
from judge.calibration.measures.confusion import Confusion, from_table
from judge.calibration.measures.estimate import Estimate, Measure, estimates
from judge.calibration.measures.interval import Interval, large_sample_interval, no_interval
from judge.calibration.measures.mcnemar import McNemar, mcnemar
from judge.calibration.measures.multiplicity import benjamini_hochberg, holm
from judge.calibration.measures.permutation import Permutation, swap_permutation
from judge.calibration.measures.replicates import RESAMPLES, Sums
from judge.calibration.measures.table_measures import (
    FEW_POSITIVES,
    TableOf,
    coefficient,
    label_measures,
)
from judge.calibration.measures.units import Units

LEVEL = 0.05  # two-sided, of a verdict
# Standard errors of a true difference that is found with 80% power: z(1 - .05/2) + z(.80).
DETECTABLE = 1.959964 + 0.841621
OTHER = "other"  # what is no common label: unreadable, or a category that the other rubric lacks


@dataclass(frozen=True)
class Difference:
    """Of two kappas on the same items, the challenger's less the baseline's.

    `estimate` has the paired bootstrap interval; `standard_error` the paired large-sample one,
    √Σ_q(Σ(ψ_B - ψ_A))² / n, with its interval and p. `detectable` is the difference that as many
    items would have found with 80% power.
    """

    estimate: Estimate
    standard_error: float | None
    large_sample: Interval
    permutation: Permutation | None
    adjusted_p: float | None = None

    @property
    def detectable(self) -> float | None:
        return DETECTABLE * self.standard_error if self.standard_error else None

    @property
    def verdict(self) -> str:
        """`better`, `worse` or `inconclusive`, by the p adjusted for several challengers."""
        if self.adjusted_p is None or self.adjusted_p > LEVEL or not self.estimate.value:
            return "inconclusive"
        return "better" if self.estimate.value > 0 else "worse"

    def as_dict(self) -> dict[str, object]:
        return self.estimate.as_dict() | {
            "standard_error": self.standard_error,
            "large_sample": self.large_sample.as_dict(),
            "p": self.estimate.two_sided_p,
            "above_zero": self.estimate.above_zero,
            "p_holm": self.adjusted_p,
            "permutation": asdict(self.permutation) if self.permutation else None,
            "detectable": self.detectable,
            "verdict": self.verdict,
        }


@dataclass(frozen=True)
class LabelChange:
    """The F1 of one label: the baseline's, the challenger's, and the difference.

    `p` is the bootstrap's, `adjusted_p` Benjamini-Hochberg's over the labels of this challenger;
    both None for a label that too few items have.
    """

    category: str
    support: int
    before: float | None
    after: float | None
    difference: Estimate
    p: float | None
    adjusted_p: float | None = None

    def as_dict(self) -> dict[str, object]:
        return asdict(self) | {"difference": self.difference.as_dict()}


@dataclass(frozen=True)
class Contestant:
    name: str
    labels: Estimate
    sigma: Estimate
    confusion: Confusion

    def as_dict(self) -> dict[str, object]:
        return {
            "name": self.name,
            "kappa": {"labels": self.labels.as_dict(), "sigma": self.sigma.as_dict()},
            "confusion": self.confusion.as_dict(),
        }


@dataclass(frozen=True)
class Challenge:
    """One challenger against the baseline. `fixed` and `broken` are positions of items.

    `cross` counts what the two said: rows the baseline, columns the challenger. The exact tests are
    None where several runs count, since an item is then neither right nor wrong.
    """

    challenger: Contestant
    labels: Difference
    sigma: Difference
    right_labels: McNemar | None
    right_sigma: McNemar | None
    by_label: tuple[LabelChange, ...]
    fixed: tuple[int, ...]
    broken: tuple[int, ...]
    cross: Confusion

    def as_dict(self) -> dict[str, object]:
        return self.challenger.as_dict() | {
            "difference": {"labels": self.labels.as_dict(), "sigma": self.sigma.as_dict()},
            "mcnemar": {
                "labels": self.right_labels.as_dict() if self.right_labels else None,
                "sigma": self.right_sigma.as_dict() if self.right_sigma else None,
            },
            "by_label": [change.as_dict() for change in self.by_label],
            "fixed": len(self.fixed),
            "broken": len(self.broken),
            "cross": self.cross.as_dict(),
        }


@dataclass(frozen=True)
class Comparison:
    """All contestants on the same `n` items of `units` conversations, from one set of resamples.

    `compared` of them have a label that all rubrics mean alike.
    """

    baseline: Contestant
    challenges: tuple[Challenge, ...]
    n: int
    compared: int
    units: int
    runs: int
    clustered: bool
    seed: int

    def as_dict(self) -> dict[str, object]:
        return {
            "n": self.n,
            "n_labels": self.compared,
            "units": self.units,
            "runs": self.runs,
            "clustered": self.clustered,
            "baseline": self.baseline.as_dict(),
            "challengers": [challenge.as_dict() for challenge in self.challenges],
            "seed": self.seed,
            "resamples": RESAMPLES,
        }


def compare_ratings(
    ratings: Ratings, names: Sequence[str], categories: Sequence[str], *, seed: int
) -> Comparison:
    """Every contestant after the first against the first.

    Everything is from one set of resamples, so that differences are paired and challengers
    comparable; Holm's adjustment is over challengers, for labels and for sigma.
    """
    units, blocks = rating_units(ratings)
    challengers = range(1, ratings.contestants)
    measures = [
        measure
        for j in range(ratings.contestants)
        for measure in (
            coefficient(f"labels {j}", blocks.labels(j), kappa_chance, ratings.runs),
            coefficient(f"sigma {j}", blocks.sigma(j), kappa_chance, ratings.runs),
        )
    ]
    for j in challengers:
        measures.append(_kappa_difference(f"labels 0-{j}", blocks.labels(0), blocks.labels(j)))
        measures.append(_kappa_difference(f"sigma 0-{j}", blocks.sigma(0), blocks.sigma(j)))
        measures += [
            _f1_difference(f"f1 {k} 0-{j}", blocks.labels(0), blocks.labels(j), k)
            for k in range(len(categories))
        ]
    for j in range(ratings.contestants):
        for k in range(len(categories)):
            measures += label_measures(
                k, blocks.labels(j), f"{k} of {j} ", reference=False, runs=ratings.runs
            )[:1]
    found = estimates(units, measures, seed=seed)
    challenges = [_challenge(ratings, units, blocks, found, j, names, categories, seed)
                  for j in challengers]  # fmt: skip
    challenges = _adjusted(challenges)
    return Comparison(
        _contestant(ratings, found, 0, names, categories),
        tuple(challenges),
        ratings.n,
        int((ratings.labels >= 0).sum()),
        units.count,
        ratings.runs,
        units.count < ratings.n,
        seed,
    )


def paired_error(units: Units, first: TableOf, second: TableOf) -> float | None:
    """√Σ_q(Σ(ψ_B - ψ_A))² / n of a difference of kappas, ψ summed within each conversation.

    With Q/(Q - 1) where conversations hold several items (Vanbelle and Albert 2008). None where a
    kappa is undefined or there is a single unit.
    """
    total, rows = units.total, units.rows.sum(axis=1)
    one, other = first(total), second(total)
    if units.count < 2 or np.isnan(kappas(one)) or np.isnan(kappas(other)):
        return None
    of_one = (first(rows) * influence(one)).sum(axis=(-2, -1)) / one.sum()
    of_other = (second(rows) * influence(other)).sum(axis=(-2, -1)) / other.sum()
    return float(units.times @ (of_other - of_one) ** 2) ** 0.5


def _kappa_difference(name: str, first: TableOf, second: TableOf) -> Measure:
    def difference(sums: Sums) -> np.ndarray:
        return kappas(second(sums)) - kappas(first(sums))

    return Measure(name, difference, lambda _sums: "a kappa is undefined", limits=(-2.0, 2.0))


def _f1_difference(name: str, first: TableOf, second: TableOf, k: int) -> Measure:
    def f1(tables: np.ndarray) -> np.ndarray:
        cells = one_against_rest(tables, k)
        hits = cells[..., 0, 0]
        return share(2 * hits, 2 * hits + cells[..., 0, 1] + cells[..., 1, 0])

    def difference(sums: Sums) -> np.ndarray:
        return f1(second(sums)) - f1(first(sums))

    return Measure(name, difference, lambda _sums: "an F1 is undefined", limits=(-1.0, 1.0))


def _contestant(ratings, found, j, names, categories) -> Contestant:
    table = np.zeros((len(categories), len(categories) + 1), dtype=np.int64)
    kept = ratings.labels >= 0
    for run in range(ratings.runs):
        np.add.at(table, (ratings.labels[kept], ratings.label_outcomes[kept, j, run]), 1)
    confusion = from_table(table, categories, (OTHER,))
    return Contestant(names[j], found[f"labels {j}"], found[f"sigma {j}"], confusion)


def _challenge(
    ratings: Ratings,
    units: Units,
    blocks: Blocks,
    found: dict[str, Estimate],
    j: int,
    names: Sequence[str],
    categories: Sequence[str],
    seed: int,
) -> Challenge:
    kept = ratings.labels >= 0
    right = ratings.label_outcomes == ratings.labels[:, np.newaxis, np.newaxis]
    before, after = right[:, 0].all(axis=1), right[:, j].all(axis=1)
    return Challenge(
        challenger=_contestant(ratings, found, j, names, categories),
        labels=_difference(units, blocks.labels(0), blocks.labels(j), found[f"labels 0-{j}"], seed),
        sigma=_difference(units, blocks.sigma(0), blocks.sigma(j), found[f"sigma 0-{j}"], seed),
        right_labels=_exact_test(ratings.labels, ratings.label_outcomes, j),
        right_sigma=_exact_test(ratings.sigmas, ratings.sigma_outcomes, j),
        by_label=_label_changes(ratings, found, j, categories),
        fixed=tuple(np.flatnonzero(kept & ~before & after).tolist()),
        broken=tuple(np.flatnonzero(kept & before & ~after).tolist()),
        cross=_cross(ratings, j, categories),
    )


def _difference(
    units: Units, first: TableOf, second: TableOf, estimate: Estimate, seed: int
) -> Difference:
    error = paired_error(units, first, second)
    if error is not None:
        error = (error**2 + estimate.run_variance) ** 0.5
    large = no_interval(estimate.undefined or "no standard error")
    if estimate.value is not None:
        large = large_sample_interval(estimate.value, error, units.count)
    permutation = swap_permutation(units, first, second, kappas, seed=seed)
    return Difference(estimate, error, large, permutation)


def _exact_test(
    references: NDArray[np.int64], outcomes: NDArray[np.int64], j: int
) -> McNemar | None:
    """McNemar's over the items that have a reference; None of several runs, and without items."""
    kept = references >= 0
    if outcomes.shape[2] > 1 or not kept.any():
        return None
    right = outcomes[kept, :, 0] == references[kept, np.newaxis]
    only_a = int((right[:, 0] & ~right[:, j]).sum())
    only_b = int((~right[:, 0] & right[:, j]).sum())
    return mcnemar(only_a, only_b, int(kept.sum()))


def _label_changes(ratings, found, j, categories) -> tuple[LabelChange, ...]:
    changes = []
    for k, category in enumerate(categories):
        support = int((ratings.labels == k).sum())
        difference = found[f"f1 {k} 0-{j}"]
        p = difference.two_sided_p if support >= FEW_POSITIVES else None
        before, after = found[f"{k} of 0 f1"].value, found[f"{k} of {j} f1"].value
        changes.append(LabelChange(category, support, before, after, difference, p))
    tested = [k for k, change in enumerate(changes) if change.p is not None]
    for k, p in zip(tested, benjamini_hochberg([changes[k].p for k in tested]), strict=True):
        changes[k] = LabelChange(**(vars(changes[k]) | {"adjusted_p": p}))
    return tuple(changes)


def _cross(ratings: Ratings, j: int, categories: Sequence[str]) -> Confusion:
    size = len(categories) + 1
    table = np.zeros((size, size), dtype=np.int64)
    for run in range(ratings.runs):
        said = ratings.label_outcomes[:, :, run]
        np.add.at(table, (said[:, 0], said[:, j]), 1)
    return from_table(table, (*categories, OTHER))


def _adjusted(challenges: list[Challenge]) -> list[Challenge]:
    """Holm's p over the challengers, for labels and for sigma."""
    for name in ("labels", "sigma"):
        tested = [
            k for k, c in enumerate(challenges) if getattr(c, name).estimate.two_sided_p is not None
        ]
        adjusted = holm([getattr(challenges[k], name).estimate.two_sided_p for k in tested])
        for k, p in zip(tested, adjusted, strict=True):
            difference = Difference(**(vars(getattr(challenges[k], name)) | {"adjusted_p": p}))
            challenges[k] = Challenge(**(vars(challenges[k]) | {name: difference}))
    return challenges
