"""Annotation events, or any rows of one shape, as a Parquet file."""

from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow
from pyarrow import parquet

from annotator.exchange.annotation_table import COLUMNS, table_row
from annotator.exchange.record import AnnotationRecord

BATCH = 5_000  # rows in memory at a time; a text can have 200 kB


def write_parquet(records: Iterable[AnnotationRecord], path: Path) -> None:
    write_rows(map(table_row, records), COLUMNS, path)


def write_rows(rows: Iterable[Mapping[str, Any]], columns: Mapping[str, str], path: Path) -> None:
    """Rows under `columns`, which gives the type of each: string, int64 or bool."""
    schema = pyarrow.schema(
        [(name, pyarrow.type_for_alias(kind)) for name, kind in columns.items()]
    )
    remaining = iter(rows)
    with parquet.ParquetWriter(path, schema) as file:
        while batch := list(islice(remaining, BATCH)):
            file.write_table(pyarrow.Table.from_pylist(batch, schema=schema))
