"""The one clock of the stores."""

from datetime import UTC, datetime, timedelta


def now() -> str:
    """The present moment in UTC, ISO 8601 with milliseconds, as every store writes it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def later(at: str, seconds: float) -> str:
    """The moment so many seconds after another, or before it if they are negative.

    >>> later("2026-01-31T23:59:59.500+00:00", 1)
    '2026-02-01T00:00:00.500+00:00'
    """
    return (datetime.fromisoformat(at) + timedelta(seconds=seconds)).isoformat(
        timespec="milliseconds"
    )
