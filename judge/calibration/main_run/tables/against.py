"""Reported numbers as columns of a table, beside what was measured."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from judge.calibration.main_run.main_run import CellRate
from judge.calibration.main_run.reported.reported import Numbers, Place, Reported
from judge.calibration.main_run.tables.fields import Field
from judge.calibration.main_run.tables.table import Column, Estimate, Kind
from judge.plural import counted

NOT_REPORTED = "not reported"


@dataclass(frozen=True)
class Against:
    """The reported numbers that stand beside one table; without any, no columns and no notes.

    `place` says of which reported number a row is.
    """

    reported: Reported | None
    table: str
    place: Callable[[CellRate], Place]

    def field(self, key: str, header: str, of: Callable[[Numbers], float | None]) -> list[Field]:
        """A column of the numbers that `of` picks."""
        if self.reported is None:
            return []
        reported = self.reported

        def value(cell: CellRate) -> Estimate:
            found = of(reported.at(self.place(cell)))
            return Estimate(found, gap=NOT_REPORTED if found is None else None)

        column = Column(f"reported_{key}", f"{header} reported %", Kind.SHARE, interval=False)
        return [Field(column, value)]

    def notes(self, cells: Sequence[CellRate]) -> Iterable[str]:
        if self.reported is None:
            return
        yield f"reported: by {self.reported.source}, not measured here"
        here = {self.place(of).bare for of in cells}
        left = [place for place in self.reported.places(self.table) if place.bare not in here]
        if left:
            by_set = sorted(Counter(place.dataset for place in left).items())
            listed = ", ".join(f"{dataset} {times}" for dataset, times in by_set)
            yield f"also reported, without a row here: {counted(len(left), 'setting')} ({listed})"


def place_of(table: str, of: CellRate) -> Place:
    """What is reported of a cell would stand there."""
    cell = of.cell
    return Place(
        table, cell.dataset, cell.model or "", cell.setting, cell.temperature, cell.perturbation
    )
