"""Bound test: is a cell's rate, as the tables have it, shown to lie below or above a bound?"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.measures.double_sample import Judged, Labelled
from annotator.measures.paired_rates import tail_p
from annotator.measures.rate_bound import (
    Share,
    Side,
    bound_p,
    corrected_bound_p,
    judged_of_label,
    observed_share,
)
from judge.calibration.main_run.tables.estimates import lone
from judge.calibration.main_run.tables.table import Estimate, corrected_share, share
from judge.calibration.rates.rate import INVERTED, Rate


@dataclass(frozen=True)
class BoundTest:
    """The rate that was tested, and one-sided p values: small `below` shows it below the bound.

    Never against the rate's interval: `is_below` and `is_above` say that the bound lies outside.
    """

    rate: Estimate
    below: float
    above: float
    is_below: bool
    is_above: bool


@dataclass(frozen=True)
class ErrorShares:
    """What labelled items tell of the judge's sigma: how often it is 1 by what people say."""

    sensitivity: Share
    false_alarms: Share


def error_shares(labelled: Labelled | None, sigmas: NDArray[np.int64]) -> ErrorShares | None:
    """From labels and outcomes of all kinds; None where no item has one of the two sigmas."""
    if labelled is None:
        return None
    binary = labelled.regrouped(sigmas, sigmas[:-1])
    if len(np.unique(binary.people)) < 2:
        return None
    genuine, others = (judged_of_label(binary, sigma) for sigma in (1, 0))
    said = np.array([0, 1])
    return ErrorShares(observed_share(genuine, said), observed_share(others, said))


def bound_test(
    rate: Rate,
    judged: Judged,
    sigmas: NDArray[np.int64],
    errors: ErrorShares | None,
    bound: float,
    *,
    corrected: bool,
) -> BoundTest:
    """Of the corrected rate, or of the judge's own; `judged` are the verdicts behind it."""
    if not corrected:
        estimate = share(rate.raw.value, rate.raw.interval, lone(rate))
        found = observed_share(judged, sigmas)
        sides = [bound_p(found, bound, side) for side in Side]
    elif rate.method == INVERTED and errors is not None:
        estimate = corrected_share(rate.sigma, lone(rate))
        found = observed_share(judged, sigmas)
        sides = [
            corrected_bound_p(found, errors.sensitivity, errors.false_alarms, bound, side)
            for side in Side
        ]
    else:
        estimate = corrected_share(rate.sigma, lone(rate))
        sides = [_post_stratified_p(rate, bound, side) for side in Side]
    low, high = estimate.low, estimate.high
    return BoundTest(
        estimate,
        *sides,
        is_below=high is not None and high < bound,
        is_above=low is not None and low > bound,
    )


def _post_stratified_p(rate: Rate, bound: float, side: Side) -> float:
    """By the number of independent items with its variance, on which its interval rests too."""
    value, error = rate.sigma.clipped, rate.sigma.standard_error
    if value is None or not error:
        return 1.0
    if 0 < value < 1:
        return bound_p(Share(value, value * (1 - value) / error**2), bound, side)
    z = (value - bound) / (2**0.5 * error)  # as far as its interval reaches there
    return tail_p(z if side is Side.BELOW else -z, min(rate.conversations, rate.labelled))
