"""Annotation events as a Parquet file."""

from collections.abc import Iterable
from pathlib import Path

from annotator.exchange.annotation_table import COLUMNS, table_row
from annotator.exchange.record import AnnotationRecord
from generation.exchange.parquet_file import write_rows


def write_parquet(records: Iterable[AnnotationRecord], path: Path) -> None:
    write_rows(map(table_row, records), COLUMNS, path)
