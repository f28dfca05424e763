"""What is measured of two raters' table: the coefficients, sigma's scores, and each label's."""

from collections.abc import Callable

import numpy as np

from annotator.measures.agreement import NO_ITEMS, ONE_CLASS
from annotator.measures.coefficients import (
    Shares,
    Tables,
    ac1_chance,
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
from annotator.measures.edge_bounds import (
    Counted,
    Part,
    TableOf,
    agreement_bound,
    perfect_bound,
    share_bound,
)
from annotator.measures.estimate import Measure
from annotator.measures.interval import Interval, no_interval
from annotator.measures.replicates import Sums

FEW_POSITIVES = 10  # of a label, below which an interval says more of the method than of the label
SHARE, CORRELATION = (0.0, 1.0), (-1.0, 1.0)

# Agreement beyond chance, by what each takes for chance.
CHANCE: dict[str, Callable[[Tables], Shares]] = {
    "kappa": kappa_chance,
    "pi": pi_chance,
    "ac1": ac1_chance,
    "brennan_prediger": uniform_chance,
}


def table_measures(
    table: TableOf, prefix: str = "", *, runs: int = 1, squares: TableOf | None = None
) -> list[Measure]:
    """Raw agreement, kappa, pi, AC1, Brennan-Prediger, nominal alpha and the largest kappa.

    `table` picks a table out of the sums, in which every item counts `runs` times; where items
    have weights `squares` picks the table of their squares (see `Counted`), without which bounds
    take a weight for so many items. Names are prefixed. What only the judge can say is a class of
    its own that never agrees.
    """
    counted = Counted(table, runs, squares)

    def alpha(sums: Sums) -> Shares:
        tables = table(sums)
        labels = 2 * total(tables) / runs
        correction = share(labels - 1, labels)  # Krippendorff's, for drawing without replacement
        return 1 - correction * (1 - beyond_chance(tables, pi_chance))

    def perfect(chance: Callable[[Tables], Shares]) -> Callable[[Sums, int], Interval | None]:
        return lambda sums, units: perfect_bound(counted, chance, sums, units)

    return [
        Measure(
            f"{prefix}agreement",
            lambda sums: observed(table(sums)),
            _reason(NO_ITEMS),
            lambda sums, units: agreement_bound(counted, sums, units),
            SHARE,
        ),
        *[
            coefficient(f"{prefix}{name}", table, chance, runs, squares)
            for name, chance in CHANCE.items()
        ],
        Measure(f"{prefix}alpha", alpha, _undefined(table), perfect(pi_chance), CORRELATION),
        Measure(
            f"{prefix}kappa_max",
            lambda sums: largest_kappa(table(sums)),
            _undefined(table),
            limits=CORRELATION,
        ),
    ]


def binary_measures(
    table: TableOf, prefix: str = "", *, runs: int = 1, squares: TableOf | None = None
) -> list[Measure]:
    """Of a 2 × (2 + E) table, positives first: sensitivity and specificity, prevalence and bias.

    An unreadable verdict counts against the judge in both. The prevalence index is the share that
    both call positive less the share that both call negative, the bias index the judge's positives
    less the people's, as shares of all (Byrt, Bishop and Carlin 1993, J Clin Epidemiol 46:423).
    """
    counted = Counted(table, runs, squares)

    def row_share(name: str, k: int, reason: str) -> Measure:
        def hits(tables: Tables) -> Shares:
            return tables[..., k, k]

        def row(tables: Tables) -> Shares:
            return tables[..., k, :].sum(-1)

        return Measure(
            f"{prefix}{name}",
            lambda sums: share(hits(table(sums)), row(table(sums))),
            _reason(reason),
            lambda sums, units: share_bound(counted, hits, row, sums, units),
            SHARE,
        )

    def prevalence(sums: Sums) -> Shares:
        tables = table(sums)
        return share(tables[..., 0, 0] - tables[..., 1, 1], total(tables))

    def bias(sums: Sums) -> Shares:
        tables = table(sums)
        return share(tables[..., :, 0].sum(-1) - tables[..., 0, :].sum(-1), total(tables))

    return [
        row_share("sensitivity", 0, "no item has sigma 1 by the reference"),
        row_share("specificity", 1, "no item has sigma 0 by the reference"),
        Measure(f"{prefix}prevalence_index", prevalence, _reason(NO_ITEMS), limits=CORRELATION),
        Measure(f"{prefix}bias_index", bias, _reason(NO_ITEMS), limits=CORRELATION),
    ]


def label_measures(
    k: int,
    table: TableOf,
    prefix: str = "",
    *,
    reference: bool = True,
    runs: int = 1,
    squares: TableOf | None = None,
) -> list[Measure]:
    """F1 and one-vs-rest kappa of category k; with `reference` precision and recall too.

    With `reference`, the rows are the labels that the columns are held against. Below 10 items
    with the label in the rows there are no intervals (of weighted items, below 10 effective ones).
    F1 is 2J/(1 + J) of the share J of hits in what either called so, and so are its bounds.
    """
    counted = Counted(table, runs, squares).seen(lambda tables: one_against_rest(tables, k))

    def kept(bound: Callable[[Sums, int], Interval | None]):
        """`bound`, and no interval at all where there are few items with the label."""

        def checked(sums: Sums, units: int) -> Interval | None:
            positives = counted.items(sums, _support)
            if positives >= FEW_POSITIVES:
                return bound(sums, units)
            effective = "" if squares is None else " effective"
            return no_interval(
                f"fewer than {FEW_POSITIVES}{effective} items with this label ({positives:.3g})"
            )

        return checked

    def scored(name: str, whole: Part, reason: str) -> Measure:
        def ratio(sums: Sums) -> Shares:
            tables = counted.table(sums)
            return share(_hits(tables), whole(tables))

        return Measure(
            f"{prefix}{name}",
            ratio,
            _reason(reason),
            kept(lambda sums, units: share_bound(counted, _hits, whole, sums, units)),
            SHARE,
        )

    def f1(sums: Sums) -> Shares:
        tables = counted.table(sums)
        return share(2 * _hits(tables), _support(tables) + _judged(tables))

    found = [
        Measure(
            f"{prefix}f1",
            f1,
            _reason("nobody used this label"),
            kept(
                lambda sums, units: share_bound(
                    counted,
                    _hits,
                    _either,
                    sums,
                    units,
                    _doubled,
                )
            ),
            SHARE,
        ),
        Measure(
            f"{prefix}kappa",
            lambda sums: beyond_chance(counted.table(sums), kappa_chance),
            _undefined(counted.table),
            kept(lambda sums, units: perfect_bound(counted, kappa_chance, sums, units)),
            CORRELATION,
        ),
    ]
    if reference:
        found += [
            scored("precision", _judged, "the judge never gave this label"),
            scored("recall", _support, "no item has this reference label"),
        ]
    return found


def coefficient(
    name: str,
    table: TableOf,
    chance: Callable[[Tables], Shares],
    runs: int = 1,
    squares: TableOf | None = None,
) -> Measure:
    """Agreement of a table beyond `chance`."""
    counted = Counted(table, runs, squares)
    return Measure(
        name,
        lambda sums: beyond_chance(table(sums), chance),
        _undefined(table),
        lambda sums, units: perfect_bound(counted, chance, sums, units),
        CORRELATION,
    )


# Parts of a table (..., 2, 2) of a label and all others.
def _hits(tables: Tables) -> Shares:
    return tables[..., 0, 0]


def _support(tables: Tables) -> Shares:
    return tables[..., 0, :].sum(-1)


def _judged(tables: Tables) -> Shares:
    return tables[..., 0].sum(-1)


def _either(tables: Tables) -> Shares:
    return _support(tables) + _judged(tables) - _hits(tables)


def _doubled(jaccard: float) -> float:
    """F1 from the share of hits in what either called so."""
    return 2 * jaccard / (1 + jaccard)


def _undefined(table: TableOf) -> Callable[[Sums], str]:
    return lambda sums: ONE_CLASS if np.any(table(sums)) else NO_ITEMS


def _reason(text: str) -> Callable[[Sums], str]:
    return lambda _sums: text
