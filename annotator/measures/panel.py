"""A panel: several annotators and one judge over the same items, each with any of them missing.

A pair's kappa is (po - pe) / (1 - pe) with po of the items that the two share, and pe from all
labels that each of them gave: a few shared items would not tell what somebody says by chance, and a
kappa from two or three of them is far too low. Where everybody labelled everything it is Cohen's,
and the mean over pairs Light's (1971, Psychol Bull 76:365).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.measures.agreement import ONE_CLASS
from annotator.measures.coefficients import ROUNDING, kappa_chance, share
from annotator.measures.confusion import collapsing
from annotator.measures.estimate import Measure
from annotator.measures.interval import WILSON, Interval, wilson
from annotator.measures.layout import Layout, pair_tables
from annotator.measures.replicates import Sums
from annotator.measures.table_measures import CORRELATION, coefficient

NO_PAIR = "no item that the judge judged has labels of two people"
PEOPLE, JUDGE, DIFFERENCE, REFERENCE = "people", "judge", "difference", "reference"


@dataclass(frozen=True)
class PairKappas:
    """Some pairs (..., M): how much each weighs, po, and pe as the counts `chance` of `possible`.

    Whole counts make a kappa of 1 exact, and the undefined case recognisable.
    """

    weights: NDArray[np.float64]
    observed: NDArray[np.float64]
    chance: NDArray[np.float64]
    possible: NDArray[np.float64]

    @property
    def kappas(self) -> NDArray[np.float64]:
        """NaN of a pair that both gave one and the same label only, or that shares nothing."""
        room = self.possible - self.chance
        room = np.where(room > ROUNDING * self.possible, room, 0.0)
        return share(self.observed * self.possible - self.chance, room)

    @property
    def undefined(self) -> NDArray[np.bool_]:
        """Pairs that share items and have no kappa."""
        return (self.weights > 0) & np.isnan(self.kappas)

    @property
    def mean(self) -> NDArray[np.float64]:
        """The weighted mean of the kappas that are defined (...,); NaN of none."""
        kappas = self.kappas
        none = np.isnan(kappas)
        kappas[none] = 0.0
        weighed = (self.weights * kappas).sum(axis=-1)
        return share(weighed, (self.weights * ~none).sum(axis=-1))


class Panel:
    """The features and statistics of `ratings` (n, A) over K `classes`, -1 marking none.

    `views` are groupings of the classes by name: a group's number for each class. A pair of
    annotators weighs by the items that the two share, and an annotator against the judge by the
    items shared with the others: on both sides each annotator weighs the same.
    """

    def __init__(
        self,
        ratings: NDArray[np.int64],
        classes: int,
        views: Mapping[str, Sequence[int]],
        *,
        runs: int = 1,
    ) -> None:
        given = (ratings >= 0).astype(np.float32)
        self._first, self._second = np.nonzero(np.triu(given.T @ given, 1))
        numbers, pairs = np.arange(ratings.shape[1]), len(self._first)
        members = [self._first[:, np.newaxis] == numbers, self._second[:, np.newaxis] == numbers]
        self._members = np.sum(members, axis=0, dtype=np.float64)  # (M, A): who is in which pair
        # An unreadable verdict, K, is a group of its own, and none, -1, stays none.
        self._groups = {
            name: np.array([*groups, max(groups) + 1, -1]) for name, groups in views.items()
        }
        self._classes, self._runs = classes, runs
        # What tells patterns apart comes first: equal rows are looked for from the left.
        shapes = {
            "labels": (len(numbers), classes),
            "judged": (len(numbers), classes),
            "reference": (classes, classes + 1),
            "shared": (pairs,),
        }
        for name in views:
            shapes |= {f"{name}agreed": (pairs,), f"{name}judge agreed": (len(numbers),)}
        self._layout = Layout(shapes)
        self._kept_of: Sums | None = None
        self._kept: dict[tuple[str, str], NDArray[np.float64]] = {}

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The annotators' numbers of every pair with a shared item."""
        return list(zip(self._first.tolist(), self._second.tolist(), strict=True))

    def features(
        self,
        ratings: NDArray[np.int64],
        outcome: NDArray[np.int64],
        reference: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        """(P, F) of patterns: `ratings` (P, A), the judge's `outcome` and the `reference` (P,).

        An outcome of K is an unreadable verdict, a reference of -1 none.
        """
        given, said = ratings >= 0, outcome[:, np.newaxis]
        shared = given[:, self._first] & given[:, self._second]
        classes = np.arange(self._classes)
        blocks = {
            "labels": ratings[..., np.newaxis] == classes,
            "judged": given[..., np.newaxis] & (said == classes)[:, np.newaxis, :],
            "reference": pair_tables(reference, outcome, self._classes, self._classes + 1),
            "shared": shared,
        }
        for name, groups in self._groups.items():
            seen = groups[ratings]
            agreed = shared & (seen[:, self._first] == seen[:, self._second])
            judge_agreed = given & (seen == groups[said])
            blocks |= {f"{name}agreed": agreed, f"{name}judge agreed": judge_agreed}
        return self._layout.pack(blocks)

    def people(self, sums: Sums, view: str) -> PairKappas:
        """Every pair of annotators."""
        shared = self._layout.pick(sums, "shared")
        labels = self._grouped(sums, "labels", view)
        n = labels.sum(axis=-1)
        return PairKappas(
            shared,
            share(self._layout.pick(sums, f"{view}agreed"), shared),
            (labels @ labels.swapaxes(-1, -2))[..., self._first, self._second],
            n[..., self._first] * n[..., self._second],
        )

    def judge(self, sums: Sums, view: str) -> PairKappas:
        """The judge and every annotator."""
        labels = self._grouped(sums, "labels", view)
        judged = self._grouped(sums, "judged", view)
        n = labels.sum(axis=-1)
        return PairKappas(
            self._layout.pick(sums, "shared") @ self._members,
            share(self._layout.pick(sums, f"{view}judge agreed"), n),
            (labels * judged).sum(axis=-1),
            n * n,
        )

    def measures(self, view: str) -> list[Measure]:
        """Means over people's pairs and over judge and people, their difference, the reference's.

        The difference is the judge's mean less people's. Names have the view's as their prefix.
        """

        def difference(sums: Sums) -> NDArray[np.float64]:
            return self._mean(sums, view, JUDGE) - self._mean(sums, view, PEOPLE)

        def undefined(total: Sums) -> str:
            return ONE_CLASS if self._layout.pick(total, "labels").any() else NO_PAIR

        def reference(sums: Sums) -> NDArray[np.float64]:
            return collapsing(self._groups[view][:-2])(self._layout.pick(sums, "reference"))

        return [
            *(
                Measure(
                    f"{view}{name}",
                    lambda sums, name=name: self._mean(sums, view, name),
                    undefined,
                    lambda total, units, of=of: _perfect(of(total, view), units),
                    CORRELATION,
                )
                for name, of in ((PEOPLE, self.people), (JUDGE, self.judge))
            ),
            Measure(f"{view}{DIFFERENCE}", difference, undefined),
            coefficient(f"{view}{REFERENCE}", reference, kappa_chance, self._runs),
        ]

    def _mean(self, sums: Sums, view: str, name: str) -> NDArray[np.float64]:
        """A mean of the view; those of the latest sums are kept, for the difference of the two."""
        if self._kept_of is not sums:
            self._kept_of, self._kept = sums, {}
        if (view, name) not in self._kept:
            kappas = self.people(sums, view) if name == PEOPLE else self.judge(sums, view)
            self._kept[view, name] = kappas.mean
        return self._kept[view, name]

    def _grouped(self, sums: Sums, name: str, view: str) -> NDArray[np.float64]:
        """How often each annotator, or the judge on their items, gave each group (..., A, G)."""
        groups = self._groups[view][:-2]
        return self._layout.pick(sums, name) @ np.eye(groups.max() + 1)[groups]


def _perfect(pairs: PairKappas, units: int) -> Interval | None:
    """Where all agree on everything: the Wilson bound of po, through each pair's kappa."""
    kappas = pairs.kappas
    defined = ~np.isnan(kappas) & (pairs.weights > 0)
    if not defined.any() or (kappas[defined] < 1 - ROUNDING).any():
        return None
    certain = pairs.chance[defined] / pairs.possible[defined]
    room = np.average(1 / (1 - certain), weights=pairs.weights[defined])
    return Interval(float(1 - (1 - wilson(units, units)[0]) * room), 1.0, WILSON)
