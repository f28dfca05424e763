"""How numbers are written on the page of a main run."""

from judge.calibration.main_run.tables.shown import shown_value
from judge.calibration.main_run.tables.table import Column, Estimate, Kind

_RATE = Column("rate", "rate %", Kind.SHARE)


def rate_text(estimate: Estimate) -> str:
    """In percent as the tables have it, or in full why there is none.

    >>> rate_text(Estimate(0.1234, 0.1, 0.15)), rate_text(Estimate(0.1, gap="n = 1"))
    ('12.3 [10.0–15.0]', '10.0 (n = 1)')
    """
    if estimate.value is None:
        return estimate.gap or ""
    found = shown_value(estimate, _RATE, {})
    return (
        f"{found.text} [{found.interval}]" if found.interval else f"{found.text} ({estimate.gap})"
    )
