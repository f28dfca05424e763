"""Rows of one shape as a Parquet file, written and read without holding all of them."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow
from pyarrow import parquet

from rubrics import InputError

BATCH = 5_000  # rows in memory at a time, a row group; a text can have 200 kB


def write_rows(rows: Iterable[Mapping[str, Any]], columns: Mapping[str, str], path: Path) -> None:
    """Rows under `columns`, which gives each one's type: string, int64, double, bool, or with
    [] behind it a list of those."""
    schema = pyarrow.schema([(name, _type(kind)) for name, kind in columns.items()])
    remaining = iter(rows)
    with parquet.ParquetWriter(path, schema) as file:
        while batch := list(islice(remaining, BATCH)):
            file.write_table(pyarrow.Table.from_pylist(batch, schema=schema))


def read_rows(content: bytes, path: Path) -> Iterator[dict[str, Any]]:
    """Each row of a Parquet file's bytes by its columns' names.

    Raises InputError, naming `path`, where they are no Parquet file.
    """
    try:
        with parquet.ParquetFile(pyarrow.BufferReader(content)) as file:
            for batch in file.iter_batches(BATCH):
                yield from batch.to_pylist()
    except (pyarrow.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{path}: not a Parquet file that can be read: {reason[:200]}") from error


def _type(kind: str) -> pyarrow.DataType:
    if kind.endswith("[]"):
        return pyarrow.list_(pyarrow.type_for_alias(kind[:-2]))
    return pyarrow.type_for_alias(kind)
