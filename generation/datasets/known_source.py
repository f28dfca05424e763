"""What is known of a data set before a file is read, and the checks that all of them share."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from generation.datasets.dataset import Rows
from generation.exchange.data_rows import data_rows_of
from generation.exchange.import_file import Row, SourceFile, names_shown
from generation.hub import HubFile
from rubrics import InputError


@dataclass(frozen=True)
class Reading:
    """A file's rows; `choices` are what the reader chose and a study must record.

    `canary` says that the file itself asks never to be published.
    """

    rows: Rows
    choices: dict[str, Any] = field(default_factory=dict)
    canary: bool = False


@dataclass(frozen=True)
class KnownSource:
    """A data set by name: `read` takes a file and the name under which its rows go.

    `expects` says what a file of it holds, `file_names` what it is called in a data folder.
    `expected` counts rows by setting, 0 where the set cannot give any; `remarks` explain, by
    setting, why a count may differ.
    """

    name: str
    expects: str
    read: Callable[[SourceFile, str], Reading]
    licence: str
    file_names: tuple[str, ...] = ()
    hub: HubFile | None = None
    expected: Mapping[str, int] = field(default_factory=dict)
    remarks: Mapping[str, str] = field(default_factory=dict)
    canary: bool = False


def rows_with(file: SourceFile, name: str, columns: tuple[str, ...]) -> Iterator[Row]:
    """The file's rows; raises InputError at one without the columns of the data set `name`."""
    for row in data_rows_of(file):
        missing = [column for column in columns if column not in row.values]
        if missing:
            raise InputError(
                f"{row.where}: no {', '.join(missing)}; a row of {name} has {', '.join(columns)}, "
                f"this one has {names_shown(row.values)}"
            )
        yield row


def text_in(row: Row, what: str, value: Any) -> str:
    """The value, which has to be a text with something in it; raises InputError otherwise."""
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{row.where}: {what} is {value!r:.60}; expected text")
    return value


def id_in(row: Row, column: str) -> str:
    """A row's id, a text or a whole number; raises InputError for anything else."""
    value = row.values[column]
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise InputError(f"{row.where}: {column} is {value!r:.60}; expected an id")
    return str(value)
