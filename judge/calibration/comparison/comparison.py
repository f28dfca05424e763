"""Several contestants against one baseline: differences with all that their p values rest on."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotator.measures.coefficients import kappa_chance
from annotator.measures.confusion import Confusion, from_table
from annotator.measures.estimate import Estimate, Measure, estimates
from annotator.measures.multiplicity import holm
from annotator.measures.replicates import RESAMPLES
from annotator.measures.table_measures import coefficient
from annotator.measures.units import Units
from judge.calibration.comparison.difference import Difference, difference_of, kappa_difference
from judge.calibration.comparison.label_change import LabelChange, f1_difference, label_changes
from judge.calibration.comparison.ratings import Blocks, Ratings, rating_units
from judge.calibration.comparison.right_answers import (
    RightAnswers,
    right_answers,
    share_difference,
)

OTHER = "other"  # what is no common label: unreadable, or a category that the other rubric lacks


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

    `cross` counts what the two said: rows the baseline, columns the challenger. Right answers are
    None where several runs count, since an item is then neither right nor wrong; fixed is then what
    the baseline gets wrong in some run and the challenger right in all.
    """

    challenger: Contestant
    labels: Difference
    sigma: Difference
    right_labels: RightAnswers | None
    right_sigma: RightAnswers | None
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
        """For JSON. An estimate that is undefined has a null `value` and says why in `undefined`.

        `n` items, `n_labels` of them in the comparison of labels, `units` drawn, `runs` of every
        judge, `clustered` (turns share conversations), `seed`, `resamples`; `baseline` {name,
        kappa {labels, sigma}, confusion}; `challengers`, each with the same and
        * `difference` {labels, sigma}: challenger less baseline, an estimate with `large_sample`,
          `p` (two-sided) by `p_method`, `p_holm`, `above_zero`, `detectable`, `permutation` {p,
          discordant, exact} and `verdict` (better, worse, inconclusive);
        * `mcnemar` {labels, sigma}: {only_a, only_b, n, p, note, difference, share_right,
          clustered_permutation}, null where several runs count;
        * `by_label` [{category, support, before, after, difference, p, adjusted_p}], of F1;
        * `fixed`, `broken` (counts) and `cross` (rows: the baseline's labels).
        """
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
    found = estimates(units, _measures(ratings, blocks, len(categories)), seed=seed)
    contestants = [_contestant(ratings, found, j, name, categories) for j, name in enumerate(names)]
    challenges = [
        _challenge(ratings, units, blocks, found, j, contestants[j], categories, seed)
        for j in range(1, ratings.contestants)
    ]
    return Comparison(
        contestants[0],
        _adjusted(challenges),
        ratings.n,
        int((ratings.labels >= 0).sum()),
        units.count,
        ratings.runs,
        units.count < ratings.n,
        seed,
    )


def _measures(ratings: Ratings, blocks: Blocks, categories: int) -> list[Measure]:
    """Kappas of every contestant and, of each challenger, what it changes."""
    measures = []
    for j in range(ratings.contestants):
        for name, table in (("labels", blocks.labels(j)), ("sigma", blocks.sigma(j))):
            measures.append(coefficient(f"{name} {j}", table, kappa_chance, ratings.runs))
    for j in range(1, ratings.contestants):
        for name, tables in (("labels", blocks.labels), ("sigma", blocks.sigma)):
            measures.append(kappa_difference(f"{name} 0-{j}", tables(0), tables(j)))
            measures.append(share_difference(f"right {name} 0-{j}", tables(0), tables(j)))
        measures += [
            f1_difference(f"f1 {k} 0-{j}", blocks.labels(0), blocks.labels(j), k, support)
            for k, support in enumerate(_support(ratings, categories))
        ]
    return measures


def _support(ratings: Ratings, categories: int) -> list[int]:
    """How many items have each reference label."""
    return np.bincount(ratings.labels[ratings.labels >= 0], minlength=categories).tolist()


def _contestant(
    ratings: Ratings,
    found: dict[str, Estimate],
    j: int,
    name: str,
    categories: Sequence[str],
) -> Contestant:
    table = np.zeros((len(categories), len(categories) + 1), dtype=np.int64)
    kept = ratings.labels >= 0
    for run in range(ratings.runs):
        np.add.at(table, (ratings.labels[kept], ratings.label_outcomes[kept, j, run]), 1)
    confusion = from_table(table, categories, (OTHER,))
    return Contestant(name, found[f"labels {j}"], found[f"sigma {j}"], confusion)


def _challenge(
    ratings: Ratings,
    units: Units,
    blocks: Blocks,
    found: dict[str, Estimate],
    j: int,
    challenger: Contestant,
    categories: Sequence[str],
    seed: int,
) -> Challenge:
    clustered = units.count < ratings.n
    rated = {
        "labels": (ratings.labels, ratings.label_outcomes, blocks.labels(0), blocks.labels(j)),
        "sigma": (ratings.sigmas, ratings.sigma_outcomes, blocks.sigma(0), blocks.sigma(j)),
    }
    differences = {
        name: difference_of(
            units, first, second, found[f"{name} 0-{j}"], clustered=clustered, seed=seed
        )
        for name, (_, _, first, second) in rated.items()
    }
    right = {
        name: right_answers(
            references,
            outcomes[:, 0],
            outcomes[:, j],
            found[f"right {name} 0-{j}"],
            units,
            first,
            second,
            clustered=clustered,
            seed=seed,
        )
        for name, (references, outcomes, first, second) in rated.items()
    }
    hits = ratings.label_outcomes == ratings.labels[:, np.newaxis, np.newaxis]
    kept, before, after = ratings.labels >= 0, hits[:, 0].all(axis=1), hits[:, j].all(axis=1)
    return Challenge(
        challenger=challenger,
        labels=differences["labels"],
        sigma=differences["sigma"],
        right_labels=right["labels"],
        right_sigma=right["sigma"],
        by_label=label_changes(
            categories,
            _support(ratings, len(categories)),
            blocks.labels(0)(units.total),
            blocks.labels(j)(units.total),
            [found[f"f1 {k} 0-{j}"] for k in range(len(categories))],
        ),
        fixed=tuple(np.flatnonzero(kept & ~before & after).tolist()),
        broken=tuple(np.flatnonzero(kept & before & ~after).tolist()),
        cross=_cross(ratings, j, categories),
    )


def _cross(ratings: Ratings, j: int, categories: Sequence[str]) -> Confusion:
    size = len(categories) + 1
    table = np.zeros((size, size), dtype=np.int64)
    for run in range(ratings.runs):
        said = ratings.label_outcomes[:, :, run]
        np.add.at(table, (said[:, 0], said[:, j]), 1)
    return from_table(table, (*categories, OTHER))


def _adjusted(challenges: Sequence[Challenge]) -> tuple[Challenge, ...]:
    """Holm's p over the challengers, for labels and for sigma."""
    labels = _holm([challenge.labels for challenge in challenges])
    sigmas = _holm([challenge.sigma for challenge in challenges])
    return tuple(
        replace(challenge, labels=label, sigma=sigma)
        for challenge, label, sigma in zip(challenges, labels, sigmas, strict=True)
    )


def _holm(differences: Sequence[Difference]) -> list[Difference]:
    adjusted = list(differences)
    tested = [k for k, each in enumerate(adjusted) if each.p is not None]
    p_values = holm([adjusted[k].p for k in tested])
    for k, p in zip(tested, p_values, strict=True):
        adjusted[k] = replace(adjusted[k], adjusted_p=p)
    return adjusted
