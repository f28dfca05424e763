"""Replicates: drawn as they should be, from what the seed and the units alone decide."""

import numpy as np
import pytest

from annotator.measures.agreement import influence
from annotator.measures.coefficients import kappas, share
from annotator.measures.replicates import SPARSE, replicate, resampled_sums, run_variances
from annotator.measures.units import gather

MANY = 3_000


def mean(sums):
    """Of features (x, 1)."""
    return share(sums[..., 0], sums[..., 1])


def values_of(x, **design):
    """Units of one value each."""
    different, of_item = np.unique(x, return_inverse=True)
    return gather(np.column_stack([different, np.ones(len(different))]), of_item, **design)


def all_sums(units, **options):
    return np.concatenate(list(resampled_sums(units, **options)))


def studies():
    """One of every way in which units are drawn."""
    generator = np.random.default_rng(5)
    x = generator.integers(4, size=60)
    return {
        "counted by cell": values_of(x),
        "drawn singly": values_of(np.arange(60)),
        "fractions": values_of(generator.random(60)),
        "clusters": values_of(x, clusters=np.repeat(np.arange(12), 5)),
        "unequal clusters": values_of(x, clusters=(np.arange(60) ** 0.5).astype(int)),
        "weights": values_of(x, weights=generator.choice([0.1, 0.7, 2.3], size=60)),
        "strata": values_of(x, strata=np.repeat([0, 1, 2], 20)),
    }


@pytest.mark.parametrize("name", studies())
def test_the_size_of_chunks_does_not_matter(name):
    """Bit for bit where features are whole; elsewhere a sum may be rounded another way."""
    units = studies()[name]
    whole = all_sums(units, seed=3, resamples=100)
    for chunk in (1, 70, 130):
        parts = list(resampled_sums(units, seed=3, resamples=100, chunk=chunk))
        assert len(parts) > 1
        if name in ("fractions", "weights"):
            assert np.concatenate(parts) == pytest.approx(whole, rel=1e-12)
        else:
            assert (np.concatenate(parts) == whole).all()


def test_a_chunk_holds_no_more_numbers_than_it_may():
    """Whichever is widest: different units, units drawn singly, or features."""
    singly = values_of(np.arange(50))
    by_cell = values_of(np.arange(400) % 4)
    wide = gather(np.eye(2, 90), np.arange(400) % 2)
    for units, width in ((singly, 50), (by_cell, 4), (wide, 90)):
        parts = list(resampled_sums(units, seed=1, resamples=100, chunk=10 * width + 1))
        assert [len(part) for part in parts] == [10] * 10
    assert len(list(resampled_sums(singly, seed=1, resamples=3, chunk=1))) == 3


def test_the_seed_decides_and_the_order_of_items_does_not():
    x = np.random.default_rng(1).integers(20, size=60)
    once = all_sums(values_of(x), seed=4, resamples=50)
    assert (once == all_sums(values_of(x[::-1]), seed=4, resamples=50)).all()
    assert (once != all_sums(values_of(x), seed=5, resamples=50)).any()


@pytest.mark.parametrize("name", studies())
def test_every_resample_has_as_many_units_of_every_stratum(name):
    units = studies()[name]
    for stratum in np.unique(units.strata):
        inside = units.strata == stratum
        size = int(units.times[inside].sum())
        counted = gather(
            np.column_stack([units.rows[:, 0], units.strata == stratum]),
            np.repeat(np.arange(len(units.rows)), units.times),
            strata=np.repeat(units.strata, units.times),
        )
        assert (all_sums(counted, seed=2, resamples=40)[:, -1] == size).all()


def test_cells_and_single_draws_have_the_same_distribution():
    """A mean of 0 and 1 among n has variance p(1 - p)/n either way, and skewness to match."""
    p, n = 0.2, 80
    ones = (np.arange(n) < p * n).astype(float)
    cells = values_of(ones)
    singly = values_of(ones + np.arange(n) * 1e-9)
    assert len(cells.rows) * SPARSE <= n < len(singly.rows) * SPARSE
    for units in (cells, singly):
        drawn = mean(all_sums(units, seed=1))
        assert drawn.mean() == pytest.approx(p, abs=0.002)
        assert drawn.std() == pytest.approx((p * (1 - p) / n) ** 0.5, rel=0.03)
        skew = ((drawn - drawn.mean()) ** 3).mean() / drawn.std() ** 3
        assert skew == pytest.approx((1 - 2 * p) / (n * p * (1 - p)) ** 0.5, abs=0.08)


def test_whole_numbers_are_summed_exactly_where_halves_of_a_double_are_too_short():
    """Below 2²⁴ sums fit 32 bits; 2²⁴ + 1 does not, and is summed in 64."""
    for largest in (2**24 // 3 - 1, 2**24 // 3, 2**24 + 1, 2**40 + 1):
        sums = all_sums(values_of(np.array([largest, largest, largest])), seed=1, resamples=5)
        assert (sums[:, 0] == 3 * largest).all()


def test_clusters_spread_as_the_clustered_influence_says():
    """Kappa over clusters of unequal size with a common label each."""
    generator = np.random.default_rng(8)
    sizes = generator.integers(1, 6, size=300)
    clusters = np.repeat(np.arange(300), sizes)
    first = generator.integers(3, size=300)[clusters]
    guess = generator.integers(3, size=300)[clusters]
    second = np.where(generator.random(300)[clusters] < 0.7, first, guess)
    one_hot = np.eye(9)
    cells = first * 3 + second
    (found,) = replicate(
        gather(one_hot, cells, clusters=clusters),
        [lambda sums: kappas(sums.reshape(*sums.shape[:-1], 3, 3))],
        seed=1,
    )
    table = one_hot[cells].sum(axis=0).reshape(3, 3)
    summed = np.bincount(clusters, weights=influence(table).ravel()[cells])
    expected = (summed**2).sum() ** 0.5 / len(cells)
    assert found.resampled.std() == pytest.approx(expected, rel=0.03)
    assert found.standard_error == pytest.approx(expected, rel=0.03)


class TestStrata:
    X = np.array([1.0, 2, 4, 9, 10, 30, 31, 37, 38, 45])
    STRATA = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1])

    def test_the_variance_of_a_weighted_mean_is_the_stratified_formulas(self):
        """Σ W² s²/n of Cochran 1977 (Sampling Techniques, 5.3): jackknife exact, bootstrap
        with (n - 1)/n."""
        weights = np.where(self.STRATA == 0, 1.6, 0.4)  # shares .8 and .2 of the population
        units = values_of(self.X, weights=weights, strata=self.STRATA)
        (found,) = replicate(units, [mean], seed=1, resamples=5_000)
        parts = (self.X[:5], self.X[5:])
        variances = [
            share**2 * part.var(ddof=1) / 5 for share, part in zip((0.8, 0.2), parts, strict=True)
        ]
        assert found.value == pytest.approx(0.8 * parts[0].mean() + 0.2 * parts[1].mean())
        assert found.standard_error == pytest.approx(sum(variances) ** 0.5)
        assert found.resampled.var() == pytest.approx(0.8 * sum(variances), rel=0.06)

    def test_what_lies_between_strata_is_no_error(self):
        drawn = [
            replicate(values_of(self.X, **design), [mean], seed=1, resamples=2_000)[0].resampled
            for design in ({"strata": self.STRATA}, {})
        ]
        assert drawn[0].std() < 0.4 * drawn[1].std()

    def test_a_stratum_of_one_unit_adds_no_spread(self):
        units = values_of(np.append(self.X, 100.0), strata=np.append(self.STRATA, 2))
        (found,) = replicate(units, [mean], seed=1, resamples=500)
        assert not np.isnan(found.resampled).any()
        assert not np.isnan(found.left_out).any()
        without = values_of(self.X, strata=self.STRATA)
        (rest,) = replicate(without, [mean], seed=1, resamples=500)
        assert found.standard_error == pytest.approx(rest.standard_error * 10 / 11)
        assert found.left_out[found.strata == 2] == pytest.approx(found.value)


class TestRuns:
    """Hits of a judge in R runs over n items; features (hit, 1)."""

    @staticmethod
    def units(hits):
        n, runs = hits.shape
        features = np.stack([hits, np.ones((n, runs))], axis=2)
        return gather(features, np.arange(n))

    @staticmethod
    def hits(shifts, n=400, steady=0.5, seed=3):
        """Each run hits with its own chance; of `steady` items the luck is that of all runs."""
        generator = np.random.default_rng(seed)
        luck = generator.random((n, len(shifts)))
        luck[: int(steady * n)] = luck[: int(steady * n), :1]
        return (luck < 0.7 + np.asarray(shifts)).astype(float)

    def test_what_runs_have_in_common_widens_the_spread(self):
        shifts = [-0.2, -0.1, 0.1, 0.2]
        shifted, level = (self.units(self.hits(s)) for s in (shifts, [0, 0, 0, 0]))
        expected = np.var(shifts, ddof=1) / 4
        (variance,) = run_variances(shifted, [mean])
        assert variance == pytest.approx(expected, rel=0.3)
        assert run_variances(level, [mean])[0] < 0.05 * expected
        (found,) = replicate(shifted, [mean], seed=1, resamples=MANY)
        (alone,) = replicate(shifted.merged_runs, [mean], seed=1, resamples=MANY)
        assert alone.run_variance == 0
        assert found.resampled.var() == pytest.approx(alone.resampled.var() + variance, rel=0.1)
        assert found.standard_error**2 == pytest.approx(alone.standard_error**2 + variance)

    def test_runs_that_say_the_same_add_nothing(self):
        hits = np.repeat(self.hits([0]), 5, axis=1)
        assert run_variances(self.units(hits), [mean]) == [0]
        (often,) = replicate(self.units(hits), [mean], seed=1, resamples=100)
        (once,) = replicate(self.units(hits[:, :1]), [mean], seed=1, resamples=100)
        assert (often.resampled == once.resampled).all()
        assert often.standard_error == once.standard_error

    def test_of_fewer_than_three_runs_the_spread_is_unknown(self):
        shifts = [-0.3, 0.3]
        assert run_variances(self.units(self.hits(shifts)), [mean]) == [0]
        assert run_variances(self.units(self.hits([*shifts, 0])), [mean])[0] > 0

    def test_a_spread_from_few_runs_has_few_degrees_of_freedom(self):
        """Satterthwaite's, between R - 1 and n - 1."""
        apart = self.units(self.hits([-0.2, -0.1, 0.1, 0.2]))
        near = self.units(self.hits([-0.03, 0, 0, 0.03]))
        lone = self.units(self.hits([0]))
        degrees = [replicate(units, [mean], seed=1, resamples=9)[0].degrees
                   for units in (apart, near, lone)]  # fmt: skip
        assert 3 < degrees[0] < 6 < degrees[1] < degrees[2] == 399

    def test_whims_of_single_items_are_not_counted_twice(self):
        """Without a common shift, the mean of run_variance · R is far below that of runs' means."""
        levels = [self.units(self.hits([0] * 4, steady=0, seed=k)) for k in range(30)]
        shared = np.mean([4 * run_variances(units, [mean])[0] for units in levels])
        between = 0.7 * 0.3 / 400  # variance of a run's mean where all luck is the item's
        assert shared < 0.6 * between

    def test_a_single_run_is_drawn_as_if_there_were_no_runs(self):
        hits = self.hits([0])
        one = replicate(self.units(hits), [mean], seed=1, resamples=50)[0]
        flat = replicate(values_of(hits[:, 0]), [mean], seed=1, resamples=50)[0]
        assert (one.resampled == flat.resampled).all()
        assert one.run_variance == flat.run_variance == 0
