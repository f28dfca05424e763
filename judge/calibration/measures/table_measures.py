"""What is measured of two raters' table: the coefficients, sigma's scores, and each label's."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from judge.calibration.measures.agreement import NO_ITEMS, ONE_CLASS
from judge.calibration.measures.coefficients import (
    ac1_chance,
    beyond,
    beyond_chance,
    kappa_chance,
    largest_kappa,
    observed,
    one_against_rest,
    pi_chance,
    share,
    total,
    uniform_chance,
)
from judge.calibration.measures.estimate import Measure
from judge.calibration.measures.interval import WILSON, Interval, no_interval, wilson
from judge.calibration.measures.replicates import Sums

FEW_POSITIVES = 10  # of a label, below which an interval says more of the method than of the label
TableOf = Callable[[Sums], NDArray[np.float64]]  # sums (..., F) to a table (..., K, K + E)
SHARE, CORRELATION = (0.0, 1.0), (-1.0, 1.0)

# Agreement beyond chance, by what each takes for chance.
CHANCE: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "kappa": kappa_chance,
    "pi": pi_chance,
    "ac1": ac1_chance,
    "brennan_prediger": uniform_chance,
}


def table_measures(table: TableOf, prefix: str = "", *, runs: int = 1) -> list[Measure]:
    """Raw agreement, kappa, pi, AC1, Brennan-Prediger, nominal alpha and the largest kappa.

    `table` picks a table out of the sums, in which every item counts `runs` times. Names are
    prefixed. What only the judge can say is a class of its own that never agrees.
    """

    def alpha(sums: Sums) -> NDArray[np.float64]:
        tables = table(sums)
        labels = 2 * total(tables) / runs
        correction = share(labels - 1, labels)  # Krippendorff's, for drawing without replacement
        return 1 - correction * (1 - beyond_chance(tables, pi_chance))

    def most(sums: Sums) -> NDArray[np.float64]:
        return largest_kappa(table(sums))

    found = [
        Measure(
            f"{prefix}agreement",
            lambda sums: observed(table(sums)),
            lambda _sums: NO_ITEMS,
            _agreement_bound(table, runs),
            SHARE,
        )
    ]
    found += [
        coefficient(f"{prefix}{name}", table, chance, runs) for name, chance in CHANCE.items()
    ]
    found.append(
        Measure(
            f"{prefix}alpha", alpha, _undefined(table), _bound(table, pi_chance, runs), CORRELATION
        )
    )
    found.append(Measure(f"{prefix}kappa_max", most, _undefined(table), limits=CORRELATION))
    return found


def binary_measures(table: TableOf, prefix: str = "", *, runs: int = 1) -> list[Measure]:
    """Of a 2 × (2 + E) table, positives first: sensitivity and specificity, prevalence and bias.

    An unreadable verdict counts against the judge in both. The prevalence index is the share that
    both call positive less the share that both call negative, the bias index the judge's positives
    less the people's, as shares of all (Byrt, Bishop and Carlin 1993, J Clin Epidemiol 46:423).
    """

    def row_share(k: int) -> Callable[[Sums], NDArray[np.float64]]:
        return lambda sums: share(table(sums)[..., k, k], table(sums)[..., k, :].sum(-1))

    def row_bound(k: int) -> Callable[[Sums, int], Interval | None]:
        def bound(sums: Sums, units: int) -> Interval | None:
            row = table(sums)[k]
            return edge_bound(float(row[k]), float(row.sum()), units, runs)

        return bound

    def prevalence(sums: Sums) -> NDArray[np.float64]:
        tables = table(sums)
        return share(tables[..., 0, 0] - tables[..., 1, 1], total(tables))

    def bias(sums: Sums) -> NDArray[np.float64]:
        tables = table(sums)
        return share(tables[..., :, 0].sum(-1) - tables[..., 0, :].sum(-1), total(tables))

    none = {0: "no item has sigma 1 by the reference", 1: "no item has sigma 0 by the reference"}
    return [
        *[
            Measure(
                f"{prefix}{name}",
                row_share(k),
                lambda _sums, reason=none[k]: reason,
                row_bound(k),
                SHARE,
            )
            for k, name in enumerate(("sensitivity", "specificity"))
        ],
        Measure(
            f"{prefix}prevalence_index", prevalence, lambda _sums: NO_ITEMS, limits=CORRELATION
        ),
        Measure(f"{prefix}bias_index", bias, lambda _sums: NO_ITEMS, limits=CORRELATION),
    ]


def label_measures(
    k: int, table: TableOf, prefix: str = "", *, reference: bool = True, runs: int = 1
) -> list[Measure]:
    """F1 and one-vs-rest kappa of category k; with `reference` precision and recall too.

    With `reference`, the rows are the labels that the columns are held against. Below 10 items
    with the label in the rows there are no intervals.
    """

    def two_by_two(sums: Sums) -> NDArray[np.float64]:
        return one_against_rest(table(sums), k)

    def hits(sums: Sums) -> NDArray[np.float64]:
        return two_by_two(sums)[..., 0, 0]

    def support(sums: Sums) -> NDArray[np.float64]:
        return two_by_two(sums)[..., 0, :].sum(-1)

    def judged(sums: Sums) -> NDArray[np.float64]:
        return two_by_two(sums)[..., 0].sum(-1)

    def either(sums: Sums) -> NDArray[np.float64]:
        return support(sums) + judged(sums) - hits(sums)

    def f1(sums: Sums) -> NDArray[np.float64]:
        return share(2 * hits(sums), support(sums) + judged(sums))

    def few(sums: Sums) -> Interval | None:
        positives = float(support(sums)) / runs
        if positives >= FEW_POSITIVES:
            return None
        return no_interval(f"fewer than {FEW_POSITIVES} items with this label ({positives:g})")

    def share_bound(whole: Callable[[Sums], NDArray[np.float64]], through=lambda end: end):
        def bound(sums: Sums, units: int) -> Interval | None:
            return few(sums) or edge_bound(
                float(hits(sums)), float(whole(sums)), units, runs, through
            )

        return bound

    def kappa_bound(sums: Sums, units: int) -> Interval | None:
        return few(sums) or _bound(two_by_two, kappa_chance, runs)(sums, units)

    def doubled(jaccard: float) -> float:
        """F1 from the share of hits in what either called so."""
        return 2 * jaccard / (1 + jaccard)

    found = [
        Measure(f"{prefix}f1", f1, _reason("nobody used this label"), share_bound(either, doubled),
                SHARE),
        Measure(f"{prefix}kappa", lambda sums: beyond_chance(two_by_two(sums), kappa_chance),
                _undefined(two_by_two), kappa_bound, CORRELATION),
    ]  # fmt: skip
    if reference:
        never, none = "the judge never gave this label", "no item has this reference label"
        found += [
            Measure(f"{prefix}precision", lambda sums: share(hits(sums), judged(sums)),
                    _reason(never), share_bound(judged), SHARE),
            Measure(f"{prefix}recall", lambda sums: share(hits(sums), support(sums)),
                    _reason(none), share_bound(support), SHARE),
        ]  # fmt: skip
    return found


def coefficient(
    name: str,
    table: TableOf,
    chance: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    runs: int = 1,
) -> Measure:
    """Agreement of a table beyond `chance`."""
    return Measure(
        name,
        lambda sums: beyond_chance(table(sums), chance),
        _undefined(table),
        _bound(table, chance, runs),
        CORRELATION,
    )


def edge_bound(
    part: float,
    whole: float,
    units: int,
    runs: int = 1,
    through: Callable[[float], float] = lambda end: end,
) -> Interval | None:
    """Wilson's interval of a share that is 0 or 1, else None; `through` maps its ends.

    Items of one unit are taken for one item, which is conservative: they tell at least as much.
    """
    if not whole or 0 < part < whole:
        return None
    of = min(whole / runs, units)
    low, high = wilson(of if part else 0.0, of)
    return Interval(through(low), through(high), WILSON)


def _bound(table: TableOf, chance, runs: int) -> Callable[[Sums, int], Interval | None]:
    """At perfect agreement the Wilson bound of po, through the coefficient at its observed pe."""

    def bound(sums: Sums, units: int) -> Interval | None:
        tables = table(sums)
        n = total(tables)
        if not n or _disagreeing(tables):
            return None
        of = min(float(n) / runs, units)
        low = beyond(n * wilson(of, of)[0], chance(tables), n)
        return Interval(float(low), 1.0, WILSON)

    return bound


def _agreement_bound(table: TableOf, runs: int) -> Callable[[Sums, int], Interval | None]:
    def bound(sums: Sums, units: int) -> Interval | None:
        tables = table(sums)
        n = float(total(tables))
        agreeing = float(np.trace(tables)) if _disagreeing(tables) else n
        return edge_bound(agreeing, n, units, runs)

    return bound


def _disagreeing(table: NDArray[np.float64]) -> bool:
    """Whether anything is off the diagonal; sums of weights may differ from 1 by rounding."""
    return bool((table * (1 - np.eye(*table.shape))).any())


def _undefined(table: TableOf) -> Callable[[Sums], str]:
    return lambda sums: ONE_CLASS if table(sums).any() else NO_ITEMS


def _reason(text: str) -> Callable[[Sums], str]:
    return lambda _sums: text
