"""The difference of two kappas on the same items, and how sure of it the items make us."""

from dataclasses import asdict, dataclass

import numpy as np

from annotator.measures.agreement import influence
from annotator.measures.coefficients import kappas
from annotator.measures.estimate import Estimate, Measure
from annotator.measures.interval import Interval, large_sample_interval, no_interval
from annotator.measures.permutation import Permutation, swap_permutation
from annotator.measures.replicates import Sums
from annotator.measures.table_measures import TableOf
from annotator.measures.units import Units

LEVEL = 0.05  # two-sided, of a verdict
# Standard errors of a true difference that is found with 80% power: z(1 - .05/2) + z(.80).
DETECTABLE = 1.959964 + 0.841621
ROUNDING = 1e-9  # a standard error below this is 0


@dataclass(frozen=True)
class Difference:
    """Of two kappas on the same items, the challenger's less the baseline's.

    `estimate` has the paired bootstrap interval; `standard_error` the paired large-sample one,
    √Σ_q(Σ(ψ_B - ψ_A))² / n, with its interval. `adjusted_p` is Holm's over the challengers.
    `detectable` is the difference that as many items would have found with 80% power.
    """

    estimate: Estimate
    standard_error: float | None
    large_sample: Interval
    permutation: Permutation | None
    adjusted_p: float | None = None

    @property
    def p(self) -> float | None:
        """Two-sided, by the bootstrap; by the swap permutation where all resamples are the same."""
        if self.estimate.two_sided_p is not None or self.permutation is None:
            return self.estimate.two_sided_p
        return self.permutation.p

    @property
    def p_method(self) -> str | None:
        if self.p is None:
            return None
        return "bootstrap" if self.estimate.two_sided_p is not None else "swap permutation"

    @property
    def detectable(self) -> float | None:
        return DETECTABLE * self.standard_error if self.standard_error else None

    @property
    def verdict(self) -> str:
        """`better`, `worse` or `inconclusive`.

        Decided by the p adjusted for several challengers, and never against the interval: of few
        items, p can pass 5% while the interval still holds 0.
        """
        value, interval = self.estimate.value, self.estimate.interval
        if not value or self.adjusted_p is None or self.adjusted_p > LEVEL:
            return "inconclusive"
        if interval.low is not None and interval.low <= 0 <= interval.high:
            return "inconclusive"
        return "better" if value > 0 else "worse"

    def as_dict(self) -> dict[str, object]:
        return self.estimate.as_dict() | {
            "standard_error": self.standard_error,
            "large_sample": self.large_sample.as_dict(),
            "p": self.p,
            "p_method": self.p_method,
            "above_zero": self.estimate.above_zero,
            "p_holm": self.adjusted_p,
            "permutation": asdict(self.permutation) if self.permutation else None,
            "detectable": self.detectable,
            "verdict": self.verdict,
        }


def kappa_difference(name: str, first: TableOf, second: TableOf) -> Measure:
    """Kappa of the `second` table less that of the `first`."""

    def difference(sums: Sums) -> np.ndarray:
        return kappas(second(sums)) - kappas(first(sums))

    return Measure(name, difference, lambda _sums: "a kappa is undefined", limits=(-2.0, 2.0))


def difference_of(
    units: Units,
    first: TableOf,
    second: TableOf,
    estimate: Estimate,
    *,
    clustered: bool,
    seed: int,
) -> Difference:
    """The `estimate` of `kappa_difference` with its large-sample twin and the swap permutation."""
    error = paired_error(units, first, second, clustered=clustered)
    if error is not None:
        error = (error**2 + estimate.run_variance) ** 0.5
    large = no_interval(estimate.undefined or "no standard error")
    if estimate.value is not None:
        large = large_sample_interval(estimate.value, error, units.count)
    permutation = swap_permutation(units, first, second, kappas, seed=seed)
    return Difference(estimate, error, large, permutation)


def paired_error(
    units: Units, first: TableOf, second: TableOf, *, clustered: bool = False
) -> float | None:
    """√Σ_q(Σ(ψ_B - ψ_A))² / n of a difference of kappas, ψ summed within each conversation.

    With Q/(Q - 1) where conversations hold several items (`clustered`; Vanbelle and Albert 2008,
    JSCS 78:1009). None where a kappa is undefined or there is a single unit.
    """
    total, rows = units.total, units.rows.sum(axis=1)
    one, other = first(total), second(total)
    if units.count < 2 or np.isnan(kappas(one)) or np.isnan(kappas(other)):
        return None
    of_one = (first(rows) * influence(one)).sum(axis=(-2, -1)) / one.sum()
    of_other = (second(rows) * influence(other)).sum(axis=(-2, -1)) / other.sum()
    error = units.influence_variance(of_other - of_one, corrected=clustered) ** 0.5
    return error if error > ROUNDING else 0.0
