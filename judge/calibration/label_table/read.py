"""Reading a label table: which format a file is in, and its rows as that format says them."""

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judge.calibration.label_table.argilla import is_argilla, read_argilla
from judge.calibration.label_table.label_studio import (
    is_label_studio,
    is_minimal,
    read_label_studio,
)
from judge.calibration.label_table.long_format import (
    Row,
    is_long,
    read_long,
    refuse_columns,
)
from judge.calibration.label_table.potato import (
    is_record,
    is_state,
    is_table,
    read_records,
    read_states,
    read_table,
)
from judge.calibration.label_table.prodigy import is_prodigy, read_prodigy
from judge.calibration.label_table.raw_rating import RawTable
from rubrics import InputError

CSV, LINES, JSON, PARQUET = (".csv", ".tsv"), (".jsonl", ".ndjson"), (".json",), (".parquet", ".pq")
PARQUET_MAGIC = b"PAR1"
SHAPES = (
    "a long table (item, rater, label), Label Studio's JSON, Argilla's records, Prodigy's JSONL or "
    "Potato's annotation_output"
)


def read_ratings(path: Path, question: str | None = None) -> RawTable:
    """What `path` holds, in any format that is known: by suffix, then by content.

    `question` names the one to read where an export answers several. Raises InputError for a file
    that cannot be read, whose content is not what its suffix says, or whose shape is not known.
    """
    source = path.name
    try:
        if path.is_dir():
            return _folder(path, question)
        suffix = path.suffix.lower()
        if suffix not in (*CSV, *LINES, *JSON, *PARQUET):
            expected = ".csv, .tsv, .jsonl, .json or .parquet, or a Potato folder"
            raise InputError(f"{source}: unknown suffix {suffix!r}: expected {expected}")
        if suffix in PARQUET:
            return _table(*_parquet(path), question, source)
        text = _text(path)
        if suffix in CSV:
            return _table(*_csv(text, source), question, source)
        records = _lines(text, source) if suffix in LINES else _json(text, source)
        return _records(records, suffix in LINES, question, source)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; expected {SHAPES}") from None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        # An export of a known shape that breaks it further in.
        raise InputError(f"{source}: malformed: {error}; expected {SHAPES}") from None


def read_cells(path: Path) -> tuple[list[str], list[Row]]:
    """Columns and rows of a CSV or Parquet table as they are; none of a file of another kind.

    Raises InputError for one that cannot be read.
    """
    suffix = path.suffix.lower()
    if not path.is_file() or suffix not in (*CSV, *PARQUET):
        return [], []
    return _parquet(path) if suffix in PARQUET else _csv(_text(path), path.name)


def _table(columns: list[str], rows: list[Row], question: str | None, source: str) -> RawTable:
    if is_long(columns):
        return read_long(rows)
    if is_table(columns):
        return read_table(rows, question, source)
    raise refuse_columns(columns, source)


def _records(records: list[Any], lines: bool, question: str | None, source: str) -> RawTable:
    unit = "line" if lines else "record"
    if not records:
        raise InputError(f"{source}: nothing in it; expected {SHAPES}")
    for number, record in enumerate(records, start=1):
        if not isinstance(record, Mapping):
            raise InputError(
                f"{source}: {unit} {number} is {type(record).__name__}, expected an object"
            )
    first = records[0]
    if is_state(first):
        return read_states(records, question, source)
    if is_record(first):
        numbered = ((f"{unit} {n}", None, r) for n, r in enumerate(records, start=1))
        return read_records(numbered, question, source)
    if is_prodigy(first):
        return read_prodigy(records, source)
    if is_argilla(first):
        return read_argilla(records, question, source)
    if is_label_studio(first):
        return read_label_studio(records, question, source)
    if is_minimal(first):
        raise InputError(
            f"{source}: Label Studio's JSON_MIN does not say who chose what; export as JSON"
        )
    columns = list(dict.fromkeys(column for record in records for column in record))
    if not is_long(columns):
        raise refuse_columns(columns, source)
    # A key that a record leaves out is a missing value, as an empty cell is.
    whole = (dict.fromkeys(columns) | record for record in records)
    return read_long((f"{unit} {n}", record) for n, record in enumerate(whole, start=1))


def _folder(folder: Path, question: str | None) -> RawTable:
    """Potato's annotation_output: one folder per annotator."""
    states = sorted(folder.glob("*/user_state.json"))
    if states:
        loaded = [
            {"user_id": path.parent.name} | _json(_text(path), path.name)[0] for path in states
        ]
        return read_states(loaded, question, folder.name)
    written = sorted(folder.glob("*/annotated_instances.jsonl"))
    if not written:
        raise InputError(
            f"{folder.name}: a folder without annotators' user_state.json or "
            "annotated_instances.jsonl; expected Potato's annotation_output, or a file"
        )
    records = (
        (f"{path.parent.name} line {number}", path.parent.name, record)
        for path in written
        for number, record in enumerate(_lines(_text(path), path.name), start=1)
    )
    return read_records(records, question, folder.name)


def _csv(text: str, source: str) -> tuple[list[str], list[Row]]:
    """Cells as text; an empty one is None: CSV cannot tell "" from missing.

    The standard library's reader, as pandas takes words such as NA, null and nan for missing.
    """
    if text.lstrip()[:1] in ("{", "["):
        raise InputError(f"{source}: holds JSON; name it .json or .jsonl")
    head = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=head.count)
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[Row] = []
    columns: list[str] = []
    try:
        for cells in lines:
            where = f"row {lines.line_num}"
            if not cells:
                continue
            if not columns:
                columns = cells
                if len(set(columns)) < len(columns):
                    raise InputError(f"{source}: two columns share a name: {', '.join(columns)}")
                continue
            if len(cells) != len(columns):
                raise InputError(
                    f"{source}: {where} has {len(cells)} cells, expected {len(columns)} as in the "
                    "first row; quote cells that hold a comma"
                )
            rows.append((where, {c: v or None for c, v in zip(columns, cells, strict=True)}))
    except csv.Error as error:
        raise InputError(f"{source}: row {lines.line_num}: not CSV: {error}") from None
    return columns, rows


def _parquet(path: Path) -> tuple[list[str], list[Row]]:
    import pyarrow
    from pyarrow import parquet

    try:
        table = parquet.read_table(path)
    except pyarrow.ArrowException as error:
        raise InputError(f"{path.name}: not Parquet: {str(error).splitlines()[0]}") from None
    rows = enumerate(table.to_pylist(), start=1)
    return table.column_names, [(f"row {number}", row) for number, row in rows]


def _lines(text: str, source: str) -> list[Any]:
    records = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            records.append(_parsed(line, f"{source}: line {number}", "one JSON object per line"))
    return records


def _json(text: str, source: str) -> list[Any]:
    found = _parsed(text, source, "a JSON list of records; for one per line name it .jsonl")
    return found if isinstance(found, list) else [found]


def _parsed(text: str, where: str, expected: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{where}: not JSON ({error.msg}); expected {expected}") from None


def _text(path: Path) -> str:
    content = path.read_bytes()
    if content.startswith(PARQUET_MAGIC):
        raise InputError(f"{path.name}: holds Parquet; name it .parquet")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path.name}: not UTF-8; save it as UTF-8") from None
