"""Who says what where another says what, label by label."""

from dataclasses import dataclass

from sqlite_utils import Database

from annotator.dashboard.fresh_figures import Shown
from annotator.dashboard.place import Place
from annotator.dashboard.view import View
from rubrics import Category, InputError


@dataclass(frozen=True)
class Cell:
    column: Category
    count: int
    share: float | None  # of its row; None of an empty one


@dataclass(frozen=True)
class Row:
    """A label, and what others say where somebody says it; `other` is the likeliest other one."""

    category: Category
    cells: tuple[Cell, ...]
    total: int
    given: int

    @property
    def agrees(self) -> float | None:
        return next(cell.share for cell in self.cells if cell.column == self.category)

    @property
    def other(self) -> Cell | None:
        others = [cell for cell in self.cells if cell.column != self.category and cell.count]
        return max(others, key=lambda cell: cell.count, default=None)


def disagreement(shown: Shown, place: Place, database: Database) -> View:
    """Raises InputError for an annotator who has no label here."""
    found, pairs = shown.figures, shown.figures.pairs
    if place.annotator and place.annotator not in pairs.annotators:
        known = ", ".join(pairs.annotators) or "nobody yet"
        raise InputError(f"{place.annotator!r:.80} has no label here; those who have: {known}")
    if place.annotator:
        table = pairs.of(place.annotator)
        given = pairs.given[pairs.annotators.index(place.annotator)]
    else:
        table, given = pairs.pooled, pairs.given.sum(axis=0)
    rows = _rows(found.reading.rubric.categories, table.tolist(), given.tolist())
    return View(
        "disagreement.html",
        "Who says what",
        {"rows": rows, "names": pairs.annotators, "total": int(table.sum())},
    )


def _rows(categories: tuple[Category, ...], table: list[list[int]], given: list[int]) -> list[Row]:
    return [
        Row(
            category,
            tuple(
                Cell(column, count, count / sum(counts) if sum(counts) else None)
                for column, count in zip(categories, counts, strict=True)
            ),
            sum(counts),
            labels,
        )
        for category, counts, labels in zip(categories, table, given, strict=True)
    ]
