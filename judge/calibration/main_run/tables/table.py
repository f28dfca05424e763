"""A table: typed columns, rows, and notes; what it looks like is the business of its formats."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum

from annotator.measures.double_sample import Corrected
from annotator.measures.interval import Interval


class Kind(StrEnum):
    """What a column holds: a SHARE is 0 to 1 and shown in percent, a NUMBER as it is."""

    TEXT = "text"
    COUNT = "count"
    SHARE = "share"
    NUMBER = "number"


@dataclass(frozen=True)
class Estimate:
    """A value with its 95% interval. `gap` says why there is no value, or no interval."""

    value: float | None
    low: float | None = None
    high: float | None = None
    gap: str | None = None


@dataclass(frozen=True)
class Column:
    """`key` names it for machines, `header` for people. Estimates stand in SHARE and NUMBER."""

    key: str
    header: str
    kind: Kind = Kind.TEXT


Value = str | int | Estimate


@dataclass(frozen=True)
class Table:
    """`name` is a file's stem; each row has one value per column, in their order, none empty."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, object]:
        keys = [column.key for column in self.columns]
        return {
            "name": self.name,
            "title": self.title,
            "columns": [asdict(column) for column in self.columns],
            "rows": [dict(zip(keys, map(_plain, row), strict=True)) for row in self.rows],
            "notes": list(self.notes),
        }


def share(value: float | None, interval: Interval, lone: str) -> Estimate:
    """A share with its interval; `lone` is the gap of one that has none."""
    if value is None:
        return Estimate(None, gap=interval.method.removeprefix("none: "))
    if interval.low is None or interval.high is None:
        return Estimate(value, gap=lone)
    within = interval.within((0.0, 1.0))
    return Estimate(value, within.low, within.high)


def corrected_share(found: Corrected, lone: str) -> Estimate:
    """A corrected rate within 0 to 1, or why there is none."""
    if found.value is None:
        return Estimate(None, gap=f"not corrected: {found.undefined}")
    if found.interval.low is None or found.interval.high is None:
        return Estimate(found.clipped, gap=lone)
    low, high = (min(1.0, max(0.0, end)) for end in (found.interval.low, found.interval.high))
    return Estimate(found.clipped, low, high)


def _plain(value: Value) -> str | int | Mapping[str, object]:
    return asdict(value) if isinstance(value, Estimate) else value
