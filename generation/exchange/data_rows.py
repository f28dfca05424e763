"""Rows of a data file of any kind that data sets come in: JSON lines, a JSON list, CSV, Parquet."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from generation.exchange.import_file import (
    Row,
    SourceFile,
    checked,
    csv_rows_of,
    json_rows_of,
    json_value,
    text_of,
)
from rubrics import InputError


def data_rows_of(file: SourceFile) -> Iterator[Row]:
    """The file's rows, read by the end of its name; another name means JSON lines.

    A `.json` file may hold a list, one object or JSON lines. Raises InputError, naming the row,
    for what is broken and for values that no store keeps.
    """
    suffix = file.path.suffix.lower()
    if suffix == ".csv":
        return csv_rows_of(file)
    if suffix == ".parquet":
        return checked(_parquet_rows(file))
    if suffix == ".json":
        return _json_document_rows(file)
    return json_rows_of(file)


def _json_document_rows(file: SourceFile) -> Iterator[Row]:
    try:
        document = json_value(text_of(file))
    except json.JSONDecodeError as error:
        if error.msg == "Extra data":
            return json_rows_of(file)
        raise InputError(
            f"{file.path}:{error.lineno}: not JSON: {error.msg}; expected a list of objects, or "
            "one object per line"
        ) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file.path}: not JSON that can be kept: {error}") from error
    entries = document if isinstance(document, list) else [document]
    return checked(
        _object_row(Row(file.path, number, {}, all_text=False, unit="row"), entry)
        for number, entry in enumerate(entries, 1)
    )


def _object_row(row: Row, entry: Any) -> Row:
    if not isinstance(entry, dict):
        raise InputError(f"{row.where}: expected a JSON object, found {type(entry).__name__}")
    return replace(row, values=entry)


def _parquet_rows(file: SourceFile) -> Iterator[Row]:
    import pyarrow as pa
    import pyarrow.parquet

    try:
        parquet = pyarrow.parquet.ParquetFile(pa.BufferReader(file.content))
        batches = (batch.to_pylist() for batch in parquet.iter_batches())
        entries = [entry for batch in batches for entry in batch]
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{file.path}: not a Parquet file that can be read: {reason}") from error
    for number, entry in enumerate(entries, 1):
        values = {column: _without_nan(value) for column, value in entry.items()}
        yield Row(file.path, number, values, all_text=False, unit="row")


def _without_nan(value: Any) -> Any:
    """Parquet files made by pandas write NaN where nothing is; None says so."""
    if isinstance(value, float) and value != value:
        return None
    if isinstance(value, dict):
        return {key: _without_nan(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_without_nan(part) for part in value]
    return value
