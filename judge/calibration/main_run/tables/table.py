"""A table: typed columns, rows, and notes; what it looks like is the business of its formats."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from math import isfinite

from annotator.measures.double_sample import Corrected
from annotator.measures.interval import Interval

BELOW = (
    "below 0 as estimated, since fewer are judged so than the judge's errors alone would give; "
    "moved to 0 with its interval"
)
ABOVE = (
    "above 100% as estimated, since more are judged so than the judge's errors would leave; moved "
    "to 100% with its interval"
)


class Kind(StrEnum):
    """What a column holds: a SHARE is 0 to 1 and shown in percent, a NUMBER to two decimals."""

    TEXT = "text"
    COUNT = "count"
    SHARE = "share"
    NUMBER = "number"


@dataclass(frozen=True)
class Estimate:
    """A value with its 95% interval. `gap` says why there is no value, or none of what it needs.

    Raises ValueError for NaN or infinity, and where neither value nor gap is there.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    gap: str | None = None

    def __post_init__(self) -> None:
        numbers = [of for of in (self.value, self.low, self.high) if of is not None]
        if not all(map(isfinite, numbers)) or (self.value is None and not self.gap):
            raise ValueError(f"{self} has no finite value, and no gap says why")


@dataclass(frozen=True)
class Column:
    """`key` names it for machines, `header` for people. Estimates stand in SHARE and NUMBER.

    The rest is for people: rows with the same `group` stand together under it; a column that is
    worth saying `once` is so where all rows have the same; `short` is written for long words, and
    a note says what it means. An `interval` is never to be had of, say, a reported number.
    """

    key: str
    header: str
    kind: Kind = Kind.TEXT
    interval: bool = True
    group: bool = False
    once: bool = False
    short: Mapping[str, str] = field(default_factory=dict)

    @property
    def holds_estimates(self) -> bool:
        return self.kind in (Kind.SHARE, Kind.NUMBER)


Value = str | int | Estimate


@dataclass(frozen=True)
class Table:
    """`name` is a file's stem; each row has one value per column, in their order, none empty."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        keys = [column.key for column in self.columns]
        if len(set(keys)) < len(keys):
            raise ValueError(f"two columns have one key: {keys}")

    def as_dict(self) -> dict[str, object]:
        keys = [column.key for column in self.columns]
        return {
            "name": self.name,
            "title": self.title,
            "columns": [
                {"key": of.key, "header": of.header, "kind": str(of.kind)} for of in self.columns
            ],
            "rows": [dict(zip(keys, map(_plain, row), strict=True)) for row in self.rows],
            "notes": list(self.notes),
        }


def share(value: float | None, interval: Interval, lone: str) -> Estimate:
    """A share with its interval; `lone` is the gap of one that has none for being alone."""
    if value is None:
        return Estimate(None, gap=_reason(interval))
    if interval.low is None or interval.high is None:
        return Estimate(value, gap=_no_interval(interval, lone))
    within = interval.within((0.0, 1.0))
    return Estimate(value, within.low, within.high)


def corrected_share(found: Corrected, lone: str) -> Estimate:
    """A corrected rate within 0 to 1, or why there is none; one that was beyond says so."""
    value, interval = found.clipped, found.clipped_interval
    if value is None or found.value is None:
        return Estimate(None, gap=f"not corrected: {found.undefined}")
    if interval.low is None or interval.high is None:
        return Estimate(value, gap=_no_interval(interval, lone))
    beyond = {-1: BELOW, 0: None, 1: ABOVE}[int(found.value > 1) - int(found.value < 0)]
    return Estimate(value, interval.low, interval.high, beyond)


def _no_interval(interval: Interval, lone: str) -> str:
    reason = _reason(interval)
    return lone if reason == "a single conversation" else f"no interval: {reason}"


def _reason(interval: Interval) -> str:
    return interval.method.removeprefix("none: ")


def _plain(value: Value) -> str | int | Mapping[str, object]:
    return asdict(value) if isinstance(value, Estimate) else value
