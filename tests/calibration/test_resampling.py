"""The bootstrap: its spread is the known one, its seed is all it depends on."""

import numpy as np
import pytest

from judge.calibration.agreement import kappas, table_agreement
from judge.calibration.resampling import kappa_with_interval, resample

COHEN = np.array([[88, 14, 18], [10, 40, 10], [2, 6, 12]])


@pytest.mark.parametrize("scale", [1, 5, 500])
def test_spread_is_that_of_fleiss_cohen_everitt(scale):
    table = COHEN * scale
    spread = kappas(resample(table, seed=7)).std()
    assert spread == pytest.approx(table_agreement(table).standard_error, rel=0.03)


def test_interval_of_a_large_table_is_nearly_walds():
    table = COHEN * 50
    found = kappa_with_interval(table, resample(table, seed=7))
    reach = 1.96 * found.agreement.standard_error
    assert found.interval.low == pytest.approx(found.value - reach, abs=0.0005)
    assert found.interval.high == pytest.approx(found.value + reach, abs=0.0005)


def test_covers_the_true_kappa_about_as_often_as_it_says():
    """Seven classes, true kappa .726, n = 100; published simulation: .944 for this method."""
    margins = np.array([0.30, 0.20, 0.15, 0.12, 0.10, 0.08, 0.05])
    truth = np.outer(margins, margins) * 0.274 + np.diag(margins) * 0.726
    generator = np.random.default_rng(11)
    studies = generator.multinomial(100, truth.ravel() / truth.sum(), size=600).reshape(-1, 7, 7)
    covered = 0
    for k, table in enumerate(studies):
        found = kappa_with_interval(table, resample(table, seed=k, resamples=800)).interval
        covered += found.low <= 0.726 <= found.high
    assert 0.915 <= covered / 600 <= 0.975


def test_resamples_have_the_shape_and_size_of_the_table():
    table = np.array([[5, 0, 2], [1, 3, 0]])
    draws = resample(table, seed=1, resamples=50)
    assert draws.shape == (50, 2, 3)
    assert (draws.sum(axis=(1, 2)) == 11).all()
    assert (draws[:, table == 0] == 0).all()


def test_the_seed_decides_and_nothing_else():
    assert (resample(COHEN, seed=5) == resample(COHEN.copy(), seed=5)).all()
    assert (resample(COHEN, seed=5) != resample(COHEN, seed=6)).any()


def test_perfect_agreement_gets_a_bound_instead_of_a_point():
    """Wilson's lower bound for 50 of 50 is .92865; through kappa at pe = .5 it is .8573."""
    table = np.diag([25, 25])
    found = kappa_with_interval(table, resample(table, seed=1))
    assert found.value == 1
    assert found.interval.low == pytest.approx((0.928652 - 0.5) / 0.5, abs=1e-5)
    assert found.interval.high == 1
    assert "Wilson" in found.interval.method
    assert (found.band, found.lower_band) == ("almost perfect", "almost perfect")


def test_undefined_resamples_are_counted():
    """Eight of ten items share a cell: .8 ** 10 of the resamples draw nothing else, one class."""
    table = np.array([[8, 1], [0, 1]])
    found = kappa_with_interval(table, resample(table, seed=1)).interval
    share = found.undefined / 10_000
    assert share == pytest.approx(0.8**10, abs=0.01)
    assert found.low is not None
