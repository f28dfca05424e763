"""Rows of a CSV or JSONL file, as they stand in the file, each with its line."""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rubrics import InputError

MAX_FIELD_CHARACTERS = 1_000_000  # far above any turn; longer ones are a broken file
LINES = (".jsonl", ".ndjson")


@dataclass(frozen=True)
class Row:
    """One row. `all_text` says that the format knows no numbers, only text (CSV)."""

    path: Path
    line: int
    values: Mapping[str, Any]
    all_text: bool

    @property
    def where(self) -> str:
        return f"{self.path}:{self.line}"


def read_rows(path: Path) -> Iterator[Row]:
    """The rows of a `.csv`, `.jsonl` or `.ndjson` file, with their texts checked.

    Raises InputError, naming file and line, for bytes that are not UTF-8, broken rows, and texts
    that no store keeps: NUL, lone surrogates, fields beyond MAX_FIELD_CHARACTERS.
    """
    suffix = path.suffix.lower()
    if suffix != ".csv" and suffix not in LINES:
        raise InputError(
            f"{path}: the name ends in {suffix or 'nothing'!r}; expected .csv or .jsonl"
        )
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    text = _decoded(path, content)
    if not text.strip():
        raise InputError(f"{path}: the file is empty; expected rows with q, a and u")
    rows = _csv_rows(path, text) if suffix == ".csv" else _json_rows(path, text)
    for row in rows:
        for column, value in row.values.items():
            _check_texts(row, column, [column, value])
        yield row


def _decoded(path: Path, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{path}:{line}: not UTF-8 (byte 0x{content[error.start]:02x}); save the file as UTF-8"
        ) from error


def _json_rows(path: Path, text: str) -> Iterator[Row]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            values = json.loads(
                line, object_pairs_hook=_unique_keys, parse_constant=_refuse_constant
            )
        except json.JSONDecodeError as error:
            raise InputError(
                f"{where}: not JSON: {error.msg} at character {error.pos + 1}; "
                "expected one JSON object per line"
            ) from error
        except (ValueError, RecursionError) as error:
            raise InputError(f"{where}: not JSON that can be kept: {error}") from error
        if not isinstance(values, dict):
            raise InputError(
                f"{where}: expected a JSON object with q, a and u, found {type(values).__name__}"
            )
        yield Row(path, number, values, all_text=False)


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) < len(pairs):
        keys = [key for key, _ in pairs]
        doubled = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {doubled!r} stands twice")
    return row


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON value")


def _csv_rows(path: Path, text: str) -> Iterator[Row]:
    limit = csv.field_size_limit(max(len(text), 1))  # ours is checked later, with a better message
    try:
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
        header = _csv_header(path, next(reader, []))
        line = reader.line_num + 1
        for cells in reader:
            if cells:
                yield _csv_row(path, line, header, cells)
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"{path}:{reader.line_num}: not CSV: {error}") from error
    finally:
        csv.field_size_limit(limit)


def _csv_header(path: Path, header: list[str]) -> list[str]:
    doubled = sorted({name for name in header if header.count(name) > 1})
    if doubled:
        raise InputError(f"{path}:1: the column {doubled[0]!r} stands twice")
    return header


def _csv_row(path: Path, line: int, header: list[str], cells: list[str]) -> Row:
    if len(cells) != len(header):
        raise InputError(
            f"{path}:{line}: {len(cells)} cells, expected {len(header)}: {', '.join(header)}; "
            "a text with a comma, a quote or a line break needs quotes around it"
        )
    values: dict[str, Any] = dict(zip(header, cells, strict=True))
    if "messages" in values:
        try:
            values["messages"] = json.loads(values["messages"])
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path}:{line}: messages is not JSON: {error}") from error
    return Row(path, line, values, all_text=True)


def _check_texts(row: Row, column: str, value: Any) -> None:
    for text in _texts(value):
        if len(text) > MAX_FIELD_CHARACTERS:
            raise InputError(
                f"{row.where}: {column[:60]} has {len(text)} characters; "
                f"expected {MAX_FIELD_CHARACTERS} at most"
            )
        if "\0" in text:
            raise InputError(f"{row.where}: {column[:60]!r} holds a NUL character; remove it")
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InputError(
                f"{row.where}: {column[:60]!r} holds half of a surrogate pair "
                f"(\\u{ord(text[error.start]):04x}), which is no character; remove it"
            ) from error


def _texts(value: Any) -> Iterator[str]:
    """Every text in a JSON value, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _texts(list(value))
        yield from _texts(list(value.values()))
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)
