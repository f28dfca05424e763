"""What the terminal and the page say of a calibration, in the same words."""

from collections.abc import Iterable

from judge.calibration.calibration import Calibration
from judge.calibration.resampling import PERCENTILE, Interval, Kappa


def number(value: float | None, digits: int = 3) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def interval_text(interval: Interval) -> str:
    if interval.low is None or interval.high is None:
        return "no CI"
    to = "–" if interval.low >= 0 else " to "
    return f"95% CI {interval.low:.2f}{to}{interval.high:.2f}"


def band_text(kappa: Kappa) -> str:
    """The band, and that of the interval's low end where it is another one."""
    if kappa.band is None:
        return ""
    if kappa.lower_band in (None, kappa.band):
        return kappa.band
    return f"{kappa.band} (low end: {kappa.lower_band})"


def kappa_rows(calibration: Calibration) -> list[tuple[str, Kappa]]:
    """The kappas in the order of a report, with their names."""
    kappas = calibration.kappas
    rows = [
        (f"kappa ({len(calibration.rubric.categories)} labels)", kappas.labels),
        ("kappa (sigma)", kappas.sigma),
    ]
    if calibration.invalid:
        rows.append(("kappa (readable)", kappas.parseable))
    return rows


def chance(calibration: Calibration) -> str:
    """What kappa sets the raw agreement against; a high share is why kappa can be low."""
    labels, sigma = calibration.kappas.labels.agreement, calibration.kappas.sigma.agreement
    return (
        f"by chance alone they would agree on {number(labels.expected, 2)} of the labels and "
        f"{number(sigma.expected, 2)} of sigma; kappa is what lies beyond"
    )


def caveats(name: str, kappa: Kappa) -> Iterable[str]:
    """Why a kappa or its interval is missing or unusual; nothing for an ordinary one."""
    if kappa.agreement.undefined:
        yield f"{name} is undefined: {kappa.agreement.undefined}"
        return
    for note in kappa.agreement.notes:
        yield f"{name}: {note}"
    interval = kappa.interval
    if interval.method != PERCENTILE:
        yield f"{name}, interval: {interval.method}"
    if interval.undefined:
        yield f"{name}: undefined in {interval.undefined} resamples, which the interval leaves out"


def hint(calibration: Calibration) -> str:
    """How many labels there are, and an estimate of how many more would do."""
    more = calibration.more_labels
    have = f"{calibration.n} items compared"
    if more is None:
        return f"{have}; how many more would give an interval cannot be estimated"
    if more == 0:
        return f"{have}; enough for a 95% interval of kappa within ±0.10"
    return f"{have}; an estimated {more} more bring the 95% interval of kappa within ±0.10"
