"""Annotation events as CSV: UTF-8, a head of column names, one row per event.

An empty cell is a missing value or an empty text; only the canonical export tells them apart.
"""

import csv
from collections.abc import Iterable
from pathlib import Path

from annotator.exchange.annotation_table import COLUMNS, Cell, table_row
from annotator.exchange.record import AnnotationRecord


def write_csv(records: Iterable[AnnotationRecord], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        # With this line end a cell is quoted for a carriage return as for a line feed.
        table = csv.writer(file, lineterminator="\r\n")
        table.writerow(COLUMNS)
        table.writerows([_cell(cell) for cell in table_row(r).values()] for r in records)


def _cell(cell: Cell) -> Cell:
    return str(cell).lower() if isinstance(cell, bool) else cell
