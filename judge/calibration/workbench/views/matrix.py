"""Who said what: the confusion matrix of a judge, of two beside each other, or of two people."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from judge.calibration.workbench.bench import Bench, LabelCounts
from judge.calibration.workbench.command_line import calibrate_command, judge_options
from judge.calibration.workbench.place import Place
from judge.calibration.workbench.readout import Readout
from judge.calibration.workbench.results import Result
from judge.calibration.workbench.roster import Contender, named
from judge.calibration.workbench.stores import Stores
from judge.calibration.workbench.view import View
from judge.calibration.workbench.views.overview import COMPUTING


@dataclass(frozen=True)
class Cell:
    """A count with its share of the row; `change` is from the first matrix to the second."""

    column: str
    count: int
    share: float
    agrees: bool
    change: int | None = None


@dataclass(frozen=True)
class MatrixRow:
    name: str
    cells: tuple[Cell, ...]
    total: int


def matrix(bench: Bench, stores: Stores, place: Place) -> View:
    roster = bench.roster(stores)
    labels = bench.labels(stores)
    people = _people(labels, place)
    chosen = named(roster, place.judge)
    if chosen is None:
        values = {"roster": roster, "chosen": None, "people": people}
        return View("matrix.html", "Who said what", values, (calibrate_command(bench.study, ""),))
    other = named(roster, place.other) if place.other else None
    found = bench.readout(stores, chosen, place)
    beside = bench.readout(stores, other, place) if other else None
    waiting = not (found.fresh and labels.fresh and (beside is None or beside.fresh))
    return View(
        "matrix.html",
        "Who said what",
        {
            "roster": roster,
            "chosen": chosen,
            "other": other,
            "found": found,
            "beside": beside,
            "rows": _judge_rows(found),
            "beside_rows": _judge_rows(beside, found) if beside else None,
            "people": people,
            "waiting": waiting,
        },
        _commands(bench, place, chosen, other),
        poll=COMPUTING if waiting else 0,
    )


def _commands(
    bench: Bench, place: Place, chosen: Contender, other: Contender | None
) -> tuple[str, ...]:
    return tuple(
        calibrate_command(bench.study, "", *judge_options(each, place))
        for each in (chosen, other)
        if each
    )


def matrix_rows(
    table: dict[str, Any], before: dict[str, Any] | None = None
) -> tuple[MatrixRow, ...]:
    """A confusion as `--json` has it, by row; changes from `before` if it has the same names."""
    known = before is not None and (before["rows"], before["columns"]) == (
        table["rows"],
        table["columns"],
    )
    rows = []
    for i, (name, counts) in enumerate(zip(table["rows"], table["counts"], strict=True)):
        total = sum(counts)
        cells = (
            Cell(
                column,
                count,
                count / total if total else 0.0,
                column == name,
                count - before["counts"][i][j] if known else None,
            )
            for j, (column, count) in enumerate(zip(table["columns"], counts, strict=True))
        )
        rows.append(MatrixRow(name, tuple(cells), total))
    return tuple(rows)


def _judge_rows(
    found: Result[Readout], before: Result[Readout] | None = None
) -> tuple[MatrixRow, ...] | None:
    if found.value is None:
        return None
    first = before.value.result["confusion"]["labels"] if before and before.value else None
    return matrix_rows(found.value.result["confusion"]["labels"], first)


@dataclass(frozen=True)
class PeopleMatrix:
    """What two annotators said of the items that both labelled under a rubric."""

    rubric_version: str
    names: tuple[str, ...]
    first: str
    second: str
    items: int
    rows: tuple[MatrixRow, ...]


def _people(labels: Result[tuple[LabelCounts, ...]], place: Place) -> PeopleMatrix | None:
    """The last rubric under which two people labelled; None where there is none."""
    several = [each for each in labels.value or () if len(each.annotators) > 1]
    if not several:
        return None
    counts = several[-1]
    names = tuple(counts.annotators)
    first = place.first if place.first in names else names[0]
    rest = [name for name in names if name != first]
    second = place.second if place.second in rest else rest[0]
    return people_matrix(counts, names, first, second)


def people_matrix(
    counts: LabelCounts, names: Sequence[str], first: str, second: str
) -> PeopleMatrix:
    one, two = counts.annotators[first], counts.annotators[second]
    both = Counter((one[item_id], two[item_id]) for item_id in one.keys() & two.keys())
    categories = list(counts.category_ids)
    table = {
        "rows": categories,
        "columns": categories,
        "counts": [[both[row, column] for column in categories] for row in categories],
    }
    return PeopleMatrix(
        counts.rubric_version, tuple(names), first, second, both.total(), matrix_rows(table)
    )
