"""Rows of a CSV or JSONL file, as they stand in the file, each with its line."""

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten
from typing import Any

from generation.item import is_storable
from rubrics import InputError, bytes_fingerprint

MAX_FIELD_CHARACTERS = 1_000_000  # far above any turn; longer ones are a broken file
MAX_NESTING = 100  # lists and objects within each other; real metadata has three or four
LINES = (".jsonl", ".ndjson")


@dataclass(frozen=True)
class Row:
    """One row. `all_text` says that the format knows no numbers, only text (CSV).

    `line` counts what the file is made of, from 1: lines, or the `unit` that stands for them.
    """

    path: Path
    line: int
    values: Mapping[str, Any]
    all_text: bool
    unit: str = "line"

    @property
    def where(self) -> str:
        """
        >>> Row(Path("a.csv"), 3, {}, True).where, Row(Path("a.parquet"), 3, {}, False, "row").where
        ('a.csv:3', 'a.parquet, row 3')
        """
        return f"{self.path}{':' if self.unit == 'line' else f', {self.unit} '}{self.line}"


@dataclass(frozen=True)
class SourceFile:
    """A file's bytes, read once: its rows and its hash cannot differ, and it may be a pipe."""

    path: Path
    content: bytes

    @property
    def hash(self) -> str:
        return bytes_fingerprint(self.content)


def read_file(path: Path, *, expected: str) -> SourceFile:
    """The file; raises InputError saying what was looked for and what is `expected`."""
    try:
        return SourceFile(path, path.read_bytes())
    except ValueError as error:  # a NUL in the name
        raise InputError(f"{str(path)!r}: {error}; expected {expected}") from error
    except OSError as error:
        looked = "" if path.is_absolute() else f" (looked for {path.absolute()})"
        raise InputError(f"{path}: {error.strerror}{looked}; expected {expected}") from error


def rows_of(file: SourceFile) -> Iterator[Row]:
    """The rows of a `.csv`, `.jsonl` or `.ndjson` file, with their values checked.

    Raises InputError, naming file and line, for bytes that are not UTF-8, broken rows, and values
    that no store keeps: NUL, lone surrogates, infinities, fields beyond MAX_FIELD_CHARACTERS.
    """
    if file.path.suffix.lower() in LINES:
        return json_rows_of(file)
    return csv_rows_of(file)


def json_rows_of(file: SourceFile) -> Iterator[Row]:
    """The rows of a file with one JSON object per line, whatever its name, checked alike."""
    return checked(_json_rows(file.path, text_of(file)))


def csv_rows_of(file: SourceFile) -> Iterator[Row]:
    """The rows of a CSV file, whatever its name, checked alike."""
    return checked(_csv_rows(file.path, text_of(file)))


def check_name(path: Path) -> None:
    """Raises InputError unless the file's name says what is in it."""
    suffix = path.suffix.lower()
    if suffix != ".csv" and suffix not in LINES:
        raise InputError(
            f"{path}: the name ends in {suffix or 'nothing'!r}; expected .csv or .jsonl"
        )


def names_shown(names: Iterable[str]) -> str:
    """Column names out of a file on one short line."""
    return shorten(", ".join(names), 200, placeholder=" …") or "none"


def text_of(file: SourceFile) -> str:
    """The file's text; raises InputError unless it is UTF-8 and more than white space."""
    path, content = file.path, file.content
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{path}:{line}: not UTF-8 (byte 0x{content[error.start]:02x}); save the file as UTF-8"
        ) from error
    if not text.strip():
        raise InputError(f"{path}: the file is empty; expected rows")
    return text


def _json_rows(path: Path, text: str) -> Iterator[Row]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            values = json_value(line)
        except json.JSONDecodeError as error:
            raise InputError(
                f"{where}: not JSON: {error.msg} at character {error.pos + 1}; "
                "expected one JSON object per line"
            ) from error
        except (ValueError, RecursionError) as error:
            raise InputError(f"{where}: not JSON that can be kept: {error}") from error
        if not isinstance(values, dict):
            raise InputError(f"{where}: expected a JSON object, found {type(values).__name__}")
        yield Row(path, number, values, all_text=False)


def json_value(text: str) -> Any:
    """A JSON text's value; raises ValueError or RecursionError for what no store keeps."""
    return json.loads(
        text,
        object_pairs_hook=_unique_keys,
        parse_constant=_refuse_constant,
        parse_float=_finite,
    )


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"the number {digits[:20]} is too large")
    return number


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) < len(pairs):
        keys = [key for key, _ in pairs]
        doubled = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {doubled[:60]!r} stands twice")
    return row


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON value")


def _csv_rows(path: Path, text: str) -> list[Row]:
    # A list, so that the limit, which all of the process shares, is back before any row is read.
    rows = []
    limit = csv.field_size_limit(max(len(text), 1))  # ours is checked later, with a better message
    try:
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
        header = _csv_header(path, next(reader, []))
        line = reader.line_num + 1
        for cells in reader:
            if cells:
                rows.append(_csv_row(path, line, header, cells))
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"{path}:{reader.line_num}: not CSV: {error}") from error
    finally:
        csv.field_size_limit(limit)
    return rows


def _csv_header(path: Path, header: list[str]) -> list[str]:
    doubled = sorted({name for name in header if header.count(name) > 1})
    if doubled:
        raise InputError(f"{path}:1: the column {doubled[0][:60]!r} stands twice")
    return header


def _csv_row(path: Path, line: int, header: list[str], cells: list[str]) -> Row:
    if len(cells) != len(header):
        raise InputError(
            f"{path}:{line}: {len(cells)} cells, expected {len(header)}: {names_shown(header)}; "
            "a text with a comma, a quote or a line break needs quotes around it"
        )
    values: dict[str, Any] = dict(zip(header, cells, strict=True))
    if "messages" in values:
        try:
            values["messages"] = json_value(values["messages"])
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path}:{line}: messages is not JSON: {error}") from error
    if "q" in values:
        values["q"] = _chat_or_text(values["q"])
    return Row(path, line, values, all_text=True)


def _chat_or_text(cell: str) -> Any:
    """The chat messages that a cell writes in JSON; any other cell is the text that it is."""
    if not cell.lstrip().startswith("["):
        return cell
    try:
        value = json_value(cell)
    except (ValueError, RecursionError):
        return cell
    chat = all(isinstance(entry, dict) and {"role", "content"} <= entry.keys() for entry in value)
    return value if value and chat else cell


def checked(rows: Iterable[Row]) -> Iterator[Row]:
    """The rows as they are; raises InputError at a text in one that no store keeps."""
    for row in rows:
        for column, value in row.values.items():
            for text in texts_in(row, [column, value]):
                check_text(f"{row.where}: {column[:60]!r}", text)
        yield row


def check_text(where: str, text: str) -> None:
    """Raises InputError unless every store keeps the text."""
    if len(text) > MAX_FIELD_CHARACTERS:
        raise InputError(
            f"{where} has {len(text)} characters; expected {MAX_FIELD_CHARACTERS} at most"
        )
    if not is_storable(text):
        sign = next(sign for sign in text if not is_storable(sign))
        name = "half of a surrogate pair" if ord(sign) else "a NUL character"
        raise InputError(
            f"{where} holds {name} (\\u{ord(sign):04x}), which no store keeps; remove it"
        )


def texts_in(row: Row, value: Any, nesting: int = 0) -> Iterator[str]:
    """Every text in a JSON value of the row, keys included."""
    if nesting > MAX_NESTING:
        raise InputError(f"{row.where}: nested deeper than {MAX_NESTING} lists and objects")
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from texts_in(row, [*value, *value.values()], nesting)
    elif isinstance(value, list):
        for part in value:
            yield from texts_in(row, part, nesting + 1)
