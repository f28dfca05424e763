"""How many more labels a tighter interval takes: a planning estimate, never a result."""

import math

from judge.calibration.measures.kappa import Kappa

TARGET_HALF_WIDTH = 0.10  # of the 95% interval of kappa

# Labels for ±0.10 at kappa 0.726 with skewed margins .30 .20 .15 .12 .10 .08 .05, by the standard
# error of Fleiss, Cohen and Everitt (1969): n = (1.96 · 0.5109 / 0.10)².
PLANNED = 101

# Below this many conversations the observed error is itself too uncertain to scale.
ENOUGH_TO_SCALE = 30


def labels_needed(kappa: Kappa) -> int | None:
    """How many more labels bring the 95% half-width of kappa down to ±0.10; 0 if it is there.

    Widths shrink with √n, so the observed one is scaled, taking further items to share their
    conversations as the present ones do; with few conversations or no interval the planning value
    stands in. None when there are as many as planned and still too little to tell.
    """
    n, half_width = kappa.agreement.n, kappa.interval.half_width
    if half_width is not None and half_width <= TARGET_HALF_WIDTH:
        return 0
    if half_width is not None and kappa.conversations >= ENOUGH_TO_SCALE:
        return math.ceil(n * (half_width / TARGET_HALF_WIDTH) ** 2) - n
    return PLANNED - n if n < PLANNED else None
