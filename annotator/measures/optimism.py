"""Selection optimism: how much too good the best of several prompts looks on what chose it."""

import math
from functools import cache

import numpy as np

from rubrics import InputError

_REACH = 9.0  # standard deviations; what lies beyond adds less than 1e-16 per prompt


def selection_optimism(standard_error: float, prompts: int, *, correlation: float = 0.0) -> float:
    """By how much the best kappa of `prompts` equally good ones exceeds the true one, expected.

    E[max of m standard normals] · SE · √(1 - correlation). The estimates are taken for normal with
    one `standard_error` and, in every two of them, one `correlation`: 0 takes the prompts' errors
    for independent, an upper bound, since prompts on the same items err together.

    Raises InputError for fewer than one prompt, a negative error or a correlation outside 0 to 1.

    >>> [round(selection_optimism(0.043, m), 3) for m in (1, 2, 10, 30)]
    [0.0, 0.024, 0.066, 0.088]
    """
    if prompts < 1 or standard_error < 0 or not 0 <= correlation <= 1:
        raise InputError(
            f"found {prompts} prompts, standard error {standard_error}, correlation {correlation}; "
            "expected 1 prompt or more, an error of 0 or more, a correlation from 0 to 1"
        )
    return expected_maximum(prompts) * standard_error * math.sqrt(1 - correlation)


@cache
def expected_maximum(m: int) -> float:
    """E[max of m independent standard normals], by numerical integration.

    ∫₀^∞ (1 - Φᵐ) - ∫₋∞⁰ Φᵐ, the mean of any distribution Φᵐ.

    >>> [round(expected_maximum(m), 5) for m in (1, 2, 3, 10)]
    [0.0, 0.56419, 0.84628, 1.53875]
    """
    from scipy.special import ndtr

    x = np.linspace(0, _REACH, 20_001)
    return max(0.0, float(np.trapezoid(1 - ndtr(x) ** m - ndtr(-x) ** m, x)))
