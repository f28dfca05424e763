"""Pace: how fast labels come, and how long the rest will take at that."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from statistics import median

from annotator.annotation import Annotation

RECENT = timedelta(days=7)  # who labelled since then is taken to go on as they did
DAY = timedelta(days=1)
HOUR_MS = 3_600_000
NOBODY_ACTIVE = "nobody labelled in the last 7 days"


@dataclass(frozen=True)
class Pace:
    """How fast `labels` came about.

    `active_hours` are of work alone: idle time and a hidden page are no part of it. Of `measured`
    labels it is known, of the others the page told nothing. `days` are those, by UTC, on which
    there was a label.
    """

    labels: int
    measured: int
    active_hours: float
    median_seconds: float | None
    days: int

    @property
    def per_active_hour(self) -> float | None:
        """None where no time was measured."""
        return self.measured / self.active_hours if self.measured and self.active_hours else None

    @property
    def per_day(self) -> float | None:
        """Per day on which there was a label; None of no label."""
        return self.labels / self.days if self.days else None

    def as_dict(self) -> dict[str, object]:
        rates = {"per_active_hour": self.per_active_hour, "per_day": self.per_day}
        return asdict(self) | rates


@dataclass(frozen=True)
class TimeLeft:
    """Until `missing` labels are there, if the last days' pace goes on.

    `recent` labels came from `people` within the last 7 days, `per_day` being their pace over that
    time, or since the first label where that is less. `days` is None where `undefined` says why;
    `active_hours` of work, all people's together, is None where no time was measured.
    """

    missing: int
    recent: int
    people: int
    per_day: float | None
    days: float | None
    active_hours: float | None
    undefined: str | None = None

    def as_dict(self) -> dict[str, object]:
        return asdict(self)


def pace(annotations: Iterable[Annotation], *, spent_ms: int | None = None) -> Pace:
    """Of standing annotations. `spent_ms` is the time on all that was done, what was superseded
    too; without it only these annotations' own time counts, skips' too."""
    annotations = list(annotations)
    labels = [said for said in annotations if said.kind == "label"]
    times = [said.active_ms for said in labels if said.active_ms is not None]
    if spent_ms is None:
        spent_ms = sum(said.active_ms or 0 for said in annotations)
    return Pace(
        labels=len(labels),
        measured=len(times),
        active_hours=spent_ms / HOUR_MS,
        median_seconds=median(times) / 1_000 if times else None,
        days=len({said.saved_at[:10] for said in labels}),
    )


def time_left(
    missing: int, annotations: Iterable[Annotation], so_far: Pace, *, at: str
) -> TimeLeft:
    """From the labels among standing annotations of items that count; `at` is the present."""
    since = (datetime.fromisoformat(at) - RECENT).isoformat(timespec="milliseconds")
    recent = [said for said in annotations if said.kind == "label" and said.saved_at >= since]
    people = len({said.annotator for said in recent})
    rate = so_far.per_active_hour
    hours = missing / rate if rate else None
    if not missing:
        return TimeLeft(0, len(recent), people, None, 0.0, 0.0)
    if not recent:
        return TimeLeft(missing, 0, 0, None, None, hours, NOBODY_ACTIVE)
    first = datetime.fromisoformat(min(said.saved_at for said in recent))
    # Of a study that began this morning nobody knows the nights: a day counts as one at least.
    span = max(DAY, datetime.fromisoformat(at) - first)
    per_day = len(recent) / (span / DAY)
    return TimeLeft(missing, len(recent), people, per_day, missing / per_day, hours)
