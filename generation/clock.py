"""The one clock of the stores."""

from datetime import UTC, datetime


def now() -> str:
    """The present moment in UTC, ISO 8601 with milliseconds, as every store writes it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
