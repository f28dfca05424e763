"""Intervals: what the textbooks give, and where there is none."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from annotator.measures.estimate import Measure, estimates
from annotator.measures.interval import (
    BCA,
    PERCENTILE,
    Interval,
    acceleration,
    bootstrap_interval,
    expanded_reach,
    large_sample_interval,
    wilson,
)
from annotator.measures.replicates import replicate
from annotator.measures.units import gather

# Efron and Tibshirani 1993 (An Introduction to the Bootstrap), table 3.1: fifteen law schools.
LSAT = np.array([576, 635, 558, 578, 666, 580, 555, 661, 651, 605, 653, 575, 545, 572, 594])
GPA = np.array([3.39, 3.30, 2.81, 3.03, 3.44, 3.07, 3.00, 3.43, 3.36, 3.13, 3.12, 2.74, 2.76,
                2.88, 2.96])  # fmt: skip


def correlation(sums):
    """Of features (1, x, y, x², xy, y²)."""
    n, x, y, xx, xy, yy = np.moveaxis(sums, -1, 0)
    spread = (n * xx - x * x) * (n * yy - y * y)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(spread > 1e-9, (n * xy - x * y) / spread**0.5, np.nan)


def law_schools():
    x, y = LSAT - 600.0, GPA - 3.0
    return gather(np.column_stack([x**0, x, y, x * x, x * y, y * y]), np.arange(15))


class TestBCa:
    def test_the_law_schools(self):
        """Correlation .776, jackknife standard error .143; bootstrap .13 (Efron and Tibshirani).

        The acceleration -.0757 is recomputed from the fifteen jackknife values by its formula.
        """
        (found,) = replicate(law_schools(), [correlation], seed=1)
        assert found.value == pytest.approx(0.776, abs=5e-4)
        assert found.standard_error == pytest.approx(0.143, abs=5e-4)
        assert np.nanstd(found.resampled) == pytest.approx(0.13, abs=0.005)
        assert acceleration(found.left_out, found.times) == pytest.approx(-0.0757, abs=5e-5)

    def test_is_scipys_of_the_same_resamples(self):
        (found,) = replicate(law_schools(), [correlation], seed=1)
        drawn = found.resampled[~np.isnan(found.resampled)]

        class Drawn:
            bootstrap_distribution = drawn

        expected = scipy.stats.bootstrap(
            (LSAT, GPA),
            lambda x, y: np.corrcoef(x, y)[0, 1],
            paired=True,
            vectorized=False,
            n_resamples=0,
            bootstrap_result=Drawn,
            method="BCa",
        ).confidence_interval
        ours = bootstrap_interval(
            found.value, found.resampled, acceleration(found.left_out, found.times)
        )
        assert ours.method == BCA
        assert (ours.low, ours.high) == pytest.approx(tuple(expected), abs=1e-9)

    def test_moves_both_ends_towards_the_long_tail(self):
        x = np.random.default_rng(4).exponential(size=60)
        units = gather(np.column_stack([x, np.ones(60)]), np.arange(60))
        (found,) = replicate(units, [lambda sums: sums[..., 0] / sums[..., 1]], seed=1)
        factor = acceleration(found.left_out, found.times)
        ours = bootstrap_interval(found.value, found.resampled, factor)
        low, high = np.quantile(found.resampled, [0.025, 0.975])
        assert ours.low > low + 0.01
        assert ours.high > high + 0.01

    def test_counts_half_of_the_resamples_that_equal_the_estimate(self):
        """A lumpy symmetric spread has no bias: the percentiles themselves."""
        drawn = np.repeat([0.0, 0.25, 0.5, 0.75, 1.0], [20, 200, 600, 200, 20])
        fine = drawn + np.random.default_rng(1).uniform(-0.1, 0.1, len(drawn)) * (drawn != 0.5)
        found = bootstrap_interval(0.5, fine, 0.0)
        percentiles = np.quantile(fine, [0.025, 0.975])
        assert found.method == BCA
        assert (found.low, found.high) == pytest.approx(tuple(percentiles), abs=0.01)

    def test_of_symmetric_data_has_no_acceleration(self):
        away = np.array([-3.0, -1, 0, 1, 3])
        assert acceleration(5 - away, np.array([1, 4, 2, 4, 1])) == pytest.approx(0, abs=1e-15)
        one_far_out = -np.array([0.0, 0, 0, 9])  # Σd³ = 273.375 and Σd² = 60.75, by hand
        assert acceleration(one_far_out, np.ones(4, dtype=int)) == pytest.approx(
            273.375 / (6 * 60.75**1.5)
        )

    def test_weighs_a_unit_by_its_times(self):
        left_out, times = np.array([0.2, 0.5, 0.6]), np.array([2, 3, 1])
        one_by_one = np.repeat(left_out, times)
        assert acceleration(left_out, times) == pytest.approx(
            acceleration(one_by_one, np.ones(6, dtype=int))
        )

    def test_gives_way_to_percentiles_where_it_is_not_defined(self):
        drawn = np.linspace(0, 1, 1001)
        without = acceleration(np.array([0.1, np.nan]), np.array([1, 1]))
        assert without is None
        assert acceleration(np.full(4, 0.3), np.ones(4, dtype=int)) is None
        for estimate, factor in ((0.5, without), (1.2, 0.0), (-0.1, 0.0)):
            assert bootstrap_interval(estimate, drawn, factor).method == PERCENTILE
        assert bootstrap_interval(0.5, drawn, 0.0).method == BCA

    def test_counts_undefined_resamples_and_leaves_them_out(self):
        drawn = np.random.default_rng(2).normal(size=999)
        holes = np.insert(drawn, [0, 40, 999], np.nan)
        found = bootstrap_interval(0.0, holes, 0.01)
        assert found.undefined == 3
        whole = bootstrap_interval(0.0, drawn, 0.01)
        assert (found.low, found.high) == (whole.low, whole.high)

    @pytest.mark.parametrize("drawn", [[0.4] * 9, [np.nan] * 9, [np.nan, 0.4, 0.4]])
    def test_there_is_none_where_resamples_do_not_differ(self, drawn):
        found = bootstrap_interval(0.4, np.array(drawn), 0.0)
        assert (found.low, found.high, found.half_width) == (None, None, None)
        assert found.method == "none: every resample gives the same value"
        assert found.undefined == np.isnan(drawn).sum()

    @given(
        st.floats(-1, 1),
        st.lists(st.floats(-1, 1) | st.just(np.nan), min_size=1, max_size=40),
        st.none() | st.floats(-2, 2),
    )
    def test_contains_the_estimate_and_never_nan(self, estimate, drawn, factor):
        found = bootstrap_interval(estimate, np.array(drawn), factor)
        if found.low is None:
            assert len({*drawn} - {np.nan}) <= 1
        else:
            assert -1 <= found.low <= estimate <= found.high <= 1

    @pytest.mark.parametrize("factor", [-2.0, 2.0])
    def test_beyond_the_pole_the_end_is_the_last_resample(self, factor):
        drawn = np.linspace(0, 1, 101)
        found = bootstrap_interval(0.5, drawn, factor)
        assert (found.low, found.high)[factor > 0] == (0.0, 1.0)[factor > 0]


class TestExpandedReach:
    @pytest.mark.parametrize(
        ("units", "strata", "reach"),
        [
            (10, 1, (10 / 9) ** 0.5 * 2.262),  # Hesterberg 2015: of ten, t is 2.262
            (40, 1, (40 / 39) ** 0.5 * 2.023),
            (105, 7, (15 / 14) ** 0.5 * 1.984),  # each stratum's variance is short by 14/15
            (10**8, 1, 1.960),
        ],
    )
    def test_makes_up_for_what_few_units_lack(self, units, strata, reach):
        assert expanded_reach(units, strata, units - strata) == pytest.approx(reach, abs=6e-4)

    def test_of_two_units_the_ends_are_the_last_resamples(self):
        found = bootstrap_interval(0.5, np.linspace(0, 1, 101), 0.0, expanded_reach(2, 1, 1))
        assert (found.low, found.high) == (0, 1)
        assert expanded_reach(5, 5, 1) > 10  # every stratum of a single unit

    def test_of_the_mean_of_a_normal_sample_is_students_interval(self):
        x = np.random.default_rng(4).normal(size=12)
        units = gather(np.column_stack([x, np.ones(12)]), np.arange(12))
        measure = Measure("mean", lambda sums: sums[..., 0] / sums[..., 1])
        found = estimates(units, [measure], seed=1, resamples=40_000)["mean"].interval
        error = x.std(ddof=1) / 12**0.5
        assert found.half_width == pytest.approx(2.201 * error, rel=0.03)


class TestWilson:
    @pytest.mark.parametrize(
        ("hits", "n", "low", "high"),
        [
            (10, 10, 0.7225, 1.0),
            (0, 10, 0.0, 0.2775),
            (81, 263, 0.2553, 0.3662),  # Newcombe 1998 (Stat Med 17:857), table I
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ],
    )
    def test_known_values(self, hits, n, low, high):
        assert wilson(hits, n) == pytest.approx((low, high), abs=5e-5)

    @given(st.integers(0, 50), st.integers(1, 50))
    def test_mirrors_and_contains_its_share(self, hits, n):
        hits = min(hits, n)
        low, high = wilson(hits, n)
        assert 0 <= low <= hits / n <= high <= 1
        assert wilson(n - hits, n) == pytest.approx((1 - high, 1 - low))


class TestLargeSample:
    @pytest.mark.parametrize(
        ("units", "t"), [(2, 12.706), (5, 2.776), (31, 2.042), (121, 1.980), (10**7, 1.960)]
    )
    def test_takes_students_t(self, units, t):
        """Quantiles of 1, 4, 30, 120 and many degrees of freedom, of any table."""
        found = large_sample_interval(0.5, 0.1, units)
        assert found.half_width == pytest.approx(0.1 * t, abs=5e-5)
        assert (found.low + found.high) / 2 == pytest.approx(0.5)
        assert found.method == f"large-sample, t({units - 1})"

    def test_is_cut_at_the_limits(self):
        found = large_sample_interval(0.95, 0.1, 10**7, (-1.0, 1.0))
        assert (found.low, found.high) == (pytest.approx(0.754004), 1.0)
        assert Interval(None, None, "none: x").within((0, 1)).low is None

    @pytest.mark.parametrize(
        ("error", "reason"), [(None, "no standard error"), (0.0, "standard error 0")]
    )
    def test_there_is_none_without_an_error(self, error, reason):
        assert large_sample_interval(0.5, error, 100).method == f"none: {reason}"
