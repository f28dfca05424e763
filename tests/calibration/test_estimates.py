"""Estimates: every number with its interval or the reason why it has none."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.measures.agreement import table_agreement
from annotator.measures.coefficients import kappa_chance, kappas, share
from annotator.measures.estimate import ONE_UNIT, Measure, estimates
from annotator.measures.interval import BCA, FEW_NOTE, Interval
from annotator.measures.kappa import cluster_numbers
from annotator.measures.layout import Layout, pair_tables
from annotator.measures.table_measures import coefficient, table_measures
from annotator.measures.units import gather, patterns

LABELS = 3
SOME = 1_000


def table(sums):
    return sums.reshape(*sums.shape[:-1], LABELS, LABELS)


KAPPA = coefficient("kappa", table, kappa_chance)
MEAN = Measure("mean", lambda sums: share(sums[..., 0], sums[..., 1]), lambda _sums: "no items")


def kappa_units(pairs, **design):
    found = patterns(np.asarray(pairs))
    tables = pair_tables(*found.rows.T, LABELS, LABELS).reshape(len(found.rows), LABELS**2)
    return gather(tables, found.of_item, **design)


def kappa(pairs, seed=1, resamples=SOME, **design):
    units = kappa_units(pairs, **design)
    return estimates(units, [KAPPA], seed=seed, resamples=resamples)["kappa"]


def mean(x, seed=1, resamples=SOME, **design):
    x = np.asarray(x, dtype=float)
    units = gather(np.column_stack([x, np.ones(len(x))]), np.arange(len(x)), **design)
    return estimates(units, [MEAN], seed=seed, resamples=resamples)["mean"]


def some_pairs(n=90, seed=6):
    generator = np.random.default_rng(seed)
    first = generator.integers(LABELS, size=n)
    return np.column_stack(
        [first, np.where(generator.random(n) < 0.6, first, generator.integers(LABELS, size=n))]
    )


CLUSTERS = np.repeat(np.arange(30), 3)


def test_the_order_of_rows_and_the_names_of_clusters_do_not_matter():
    pairs = some_pairs()
    order = np.random.default_rng(1).permutation(len(pairs))
    assert kappa(pairs[order]) == kappa(pairs)
    renamed = np.random.default_rng(2).permutation(1_000)[CLUSTERS]
    assert kappa(pairs[order], clusters=renamed[order]) == kappa(pairs, clusters=CLUSTERS)
    named = cluster_numbers([f"conversation {9_999 - 7 * k}" for k in CLUSTERS[order]])
    assert kappa(pairs[order], clusters=named) == kappa(pairs, clusters=CLUSTERS)


def test_items_twice_in_their_clusters_tell_nothing_new():
    pairs, own = some_pairs(), np.arange(90)
    twice = kappa(np.repeat(pairs, 2, axis=0), clusters=np.repeat(own, 2))
    once = kappa(pairs)
    assert twice == once
    assert once.units == 90
    # Taken for independent, the doubles narrow it.
    assert kappa(np.repeat(pairs, 2, axis=0)).interval.half_width < 0.8 * once.interval.half_width


def test_a_cluster_each_is_no_clustering():
    assert kappa(some_pairs(), clusters=np.arange(90)[::-1]).interval.low == pytest.approx(
        kappa(some_pairs()).interval.low, abs=0.01
    )


def test_the_standard_error_is_that_of_fleiss_cohen_everitt():
    pairs = np.repeat(some_pairs(), 20, axis=0)
    counts = np.zeros((LABELS, LABELS))
    np.add.at(counts, tuple(pairs.T), 1)
    assert kappa(pairs).standard_error == pytest.approx(
        table_agreement(counts).standard_error, rel=1e-3
    )


@pytest.mark.parametrize("weight", [1.0, 0.5, 4.0])
def test_equal_weights_are_none(weight):
    """Powers of two, which multiply without rounding: the same to the last bit."""
    pairs = some_pairs()
    weighted = kappa(pairs, weights=np.full(90, weight))
    assert weighted.interval == kappa(pairs).interval
    assert weighted.standard_error == pytest.approx(kappa(pairs).standard_error, rel=1e-12)


def test_equal_weights_that_round_change_next_to_nothing():
    weighted, plain = kappa(some_pairs(), weights=np.full(90, 1 / 3)), kappa(some_pairs())
    assert weighted.value == pytest.approx(plain.value, abs=1e-12)
    ends = (weighted.interval.low, weighted.interval.high)
    assert ends == pytest.approx((plain.interval.low, plain.interval.high), abs=1e-3)


def test_weights_count_an_item_as_so_many():
    pairs = some_pairs()
    weights = np.where(np.arange(90) < 30, 3.0, 1.0)
    assert kappa(pairs, weights=weights).value == pytest.approx(
        kappa(np.concatenate([pairs, pairs[:30], pairs[:30]])).value
    )


def test_a_difference_of_what_is_drawn_together_is_paired():
    """Of two judges that err alike the difference is surer than their own errors would say."""
    generator = np.random.default_rng(3)
    people = generator.integers(LABELS, size=300)
    one = np.where(generator.random(300) < 0.6, people, generator.integers(LABELS, size=300))
    other = np.where(generator.random(300) < 0.9, one, people)
    layout = Layout({"one": (LABELS, LABELS), "other": (LABELS, LABELS)})
    found = patterns(np.column_stack([people, one, other]))
    units = gather(
        layout.pack(
            {
                name: pair_tables(found.rows[:, 0], found.rows[:, column], LABELS, LABELS)
                for column, name in enumerate(("one", "other"), start=1)
            }
        ),
        found.of_item,
    )

    def of(name):
        return coefficient(name, lambda sums: layout.pick(sums, name), kappa_chance)

    def difference(sums):
        return kappas(layout.pick(sums, "other")) - kappas(layout.pick(sums, "one"))

    of_all = estimates(
        units, [of("one"), of("other"), Measure("difference", difference)], seed=1, resamples=SOME
    )
    paired = of_all["difference"]
    assert paired.value == pytest.approx(of_all["other"].value - of_all["one"].value)
    apart = np.hypot(of_all["one"].standard_error, of_all["other"].standard_error)
    assert paired.standard_error < 0.6 * apart
    # Asked for alone, from the same seed, it is the same.
    alone = estimates(units, [Measure("difference", difference)], seed=1, resamples=SOME)
    assert alone["difference"] == paired


class TestP:
    @pytest.mark.parametrize("shift", [0.0, 0.1, 0.25])
    def test_is_that_of_the_normal_for_a_mean(self, shift):
        from scipy.stats import norm

        x = np.random.default_rng(1).normal(size=200)
        x = (x - x.mean()) / x.std() + shift
        found = mean(x, resamples=10_000)
        assert found.two_sided_p == pytest.approx(2 * norm.sf(shift * 200**0.5), abs=0.02)

    def test_is_never_0(self):
        assert mean(np.arange(40) + 100).two_sided_p == 1 / SOME

    def test_there_is_none_without_an_interval(self):
        assert mean([2.0, 2.0, 2.0]).two_sided_p is None


class TestNoValue:
    @pytest.mark.parametrize("options", [{}, {"clusters"}, {"weights"}, {"strata"}])
    def test_of_no_items_has_a_reason(self, options):
        none = np.zeros(0, dtype=np.int64)
        found = mean([], **{name: none for name in options})
        assert (found.value, found.undefined, found.units) == (None, "no items", 0)
        assert found.interval.method == found.large_sample.method == "none: no items"
        json.dumps(found.as_dict(), allow_nan=False)

    def test_of_no_items_every_coefficient_has_a_reason(self):
        units = kappa_units(np.zeros((0, 2), dtype=np.int64))
        found = estimates(units, table_measures(table), seed=1, resamples=100)
        assert {estimate.value for estimate in found.values()} == {None}
        assert {estimate.undefined for estimate in found.values()} == {"no items"}

    def test_a_single_unit_has_a_value_and_no_interval(self):
        found = mean([3.0, 5.0], clusters=np.array([4, 4]))
        assert (found.value, found.units, found.standard_error) == (4.0, 1, None)
        assert found.interval.method == found.large_sample.method == f"none: {ONE_UNIT}"
        assert found.undefined is None

    def test_where_all_units_are_alike_there_is_no_interval(self):
        found = mean([2.0, 2.0, 2.0])
        assert (found.value, found.standard_error) == (2.0, 0.0)
        assert found.interval.method == "none: every resample gives the same value"
        assert found.large_sample.method == "none: standard error 0"

    def test_without_a_unit_that_all_hangs_on_there_is_no_standard_error(self):
        """The share of one label among two items: undefined in resamples without the one."""
        units = gather(np.array([[1.0, 1.0], [0.0, 0.0]]), np.array([0, 1, 1]))
        found = estimates(units, [MEAN], seed=1, resamples=SOME)["mean"]
        assert (found.value, found.standard_error) == (1.0, None)
        assert found.interval.undefined == pytest.approx(SOME * (2 / 3) ** 3, rel=0.15)


def test_a_bound_stands_in_for_what_resampling_cannot_tell():
    bound = Interval(0.2, 1.0, "known")
    measure = Measure("share", MEAN.of, bound=lambda _sums, units: bound if units == 4 else None)
    for n, expected in ((4, "known"), (5, BCA)):
        units = gather(np.column_stack([np.arange(n) % 2, np.ones(n)]), np.arange(n))
        assert estimates(units, [measure], seed=1)["share"].interval.method == expected


def test_intervals_stay_within_the_statistics_limits():
    """What runs add to the spread is normal and knows of none."""
    hits = np.ones((60, 3))
    hits[:12, 0] = hits[:2, 1] = 0
    features = np.stack([hits, np.ones((60, 3))], axis=2)
    units = gather(features, np.arange(60))
    found = estimates(
        units, [MEAN, Measure("share", MEAN.of, limits=(0.0, 1.0))], seed=1, resamples=SOME
    )
    assert found["mean"].interval.high > 1 < found["mean"].large_sample.high
    assert found["share"].interval.high == 1.0 == found["share"].large_sample.high
    assert found["share"].interval.low == found["mean"].interval.low


def test_few_units_are_named():
    assert mean(np.arange(29)).notes == (FEW_NOTE,)
    assert mean(np.arange(30)).notes == ()


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 4)), max_size=30),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_an_interval_contains_its_estimate_and_nothing_is_nan(
    rows, clustered, weighted, stratified
):
    rows = np.array(rows, dtype=np.int64).reshape(-1, 3)
    design = {"clusters": rows[:, 2]} if clustered else {}
    if weighted:
        design["weights"] = 1.0 + rows[:, 2] / 3
    if stratified:
        design["strata"] = rows[:, 2] // 2
    units = kappa_units(rows[:, :2], **design)
    found = estimates(units, table_measures(table), seed=1, resamples=60)
    for estimate in found.values():
        json.dumps(estimate.as_dict(), allow_nan=False)
        assert (estimate.value is None) == (estimate.undefined is not None)
        for interval in (estimate.interval, estimate.large_sample):
            if interval.low is None:
                assert interval.method.startswith("none: ")
            else:
                assert interval.low <= estimate.value <= interval.high
