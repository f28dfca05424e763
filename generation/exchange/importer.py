"""Import of (q, a, u) and of our exports: everything is checked before anything is written."""

import sqlite3
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from generation.exchange.exported_rows import check_complete, parquet_rows
from generation.exchange.import_file import (
    Row,
    SourceFile,
    check_name,
    names_shown,
    read_file,
    rows_of,
)
from generation.exchange.imported_run import imported_run, refuse_taken
from generation.item import Message
from generation.store import TurnStore
from generation.turn import Added, Answer, Conversation, Turn
from generation.turn_record import NATIVE, Record, read_record
from rubrics import InputError, fingerprint

SETTINGS = ("held-out", "self-generated")
ROLES = ("system", "developer", "user", "assistant", "tool")
PLACED = (
    "setting", "model", "temperature", "perturbation", "sample_index", "dataset", "source_id",
)  # fmt: skip
TURN_COLUMNS = ("q", "a", "u")
MAX_INTEGER = 2**63 - 1  # of SQLite


def import_file(path: Path, open_store: Callable[[], TurnStore], name: str | None = None) -> Added:
    """Add the file's turns to a study in one transaction, as a run of that name.

    The store is opened after the whole file has been checked, so that a refused file leaves not
    even an empty study. Raises InputError naming the file and the line of what is wrong, and for
    a name that another run has.
    """
    file = _read(path)
    records = _records_of(file)
    # A turn is stored after the one it follows; a file need not have them in that order.
    turns = sorted((record.turn for record in records), key=lambda turn: turn.number)
    run, store = imported_run(file, len(turns), name), open_store()
    refuse_taken(store, run)
    try:
        store.add_answers(run, (record.parent for record in records if record.parent))
        return store.add_turns(run, turns)
    except sqlite3.IntegrityError as error:
        raise InputError(
            f"{path}: the study holds other texts for the same rows of a plan; import it into a "
            "study of its own: --study FOLDER"
        ) from error


def read_turns(path: Path) -> list[Turn]:
    """The file's turns; raises InputError naming the file and the line of what is wrong."""
    return [record.turn for record in _records_of(_read(path))]


def _read(path: Path) -> SourceFile:
    if not _is_parquet(path):
        check_name(path)
    return read_file(path, expected="your triples, CSV or JSONL: generate import FILE")


def _records_of(file: SourceFile) -> list[Record]:
    records = []
    first_lines: dict[str, int] = {}
    for row in _rows_of(file):
        native = row.values.keys() >= NATIVE
        record = read_record(row.values, row.where) if native else Record(_Reader(row).turn())
        first = first_lines.setdefault(record.turn.turn_id, row.line)
        if first != row.line:
            raise InputError(
                f"{row.where}: the same turn as line {first}, in text and in every other column; "
                "remove one of them, or tell them apart by a column such as sample_index"
            )
        records.append(record)
    if not records:
        raise InputError(f"{file.path}: no rows; expected q, a and u in every row")
    check_complete(file.path, records, first_lines)
    return records


def _rows_of(file: SourceFile) -> Iterator[Row]:
    return parquet_rows(file) if _is_parquet(file.path) else rows_of(file)


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() == ".parquet"


@dataclass(frozen=True)
class _Reader:
    """Reads one row; whatever is wrong is said with the row's place."""

    row: Row

    def turn(self) -> Turn:
        values = dict(self.row.values)
        messages, answer, turn = self._texts(values)
        if not messages[-1].content:
            raise self._wrong("q", "", "text")
        model = self._optional_text(values, "model")
        temperature = self._temperature(values)
        setting = self._optional_text(values, "setting") or SETTINGS[0]
        if setting not in SETTINGS:
            raise self._wrong("setting", setting, f"one of {', '.join(SETTINGS)}")
        source_id = self._source_id(values) or fingerprint([m.as_dict() for m in messages])
        dataset = self._optional_text(values, "dataset") or "imported"
        return Turn(
            Answer(Conversation(dataset, source_id, messages), answer),
            turn,
            setting,
            model=model,
            temperature=temperature,
            sample_index=self._sample_index(values),
            perturbation=self._optional_text(values, "perturbation") or "none",
            meta={key: value for key, value in values.items() if key not in PLACED},
        )

    def _texts(self, values: dict[str, Any]) -> tuple[tuple[Message, ...], str, str]:
        if "prompt" in values and "completion" in values:
            _join_completion(values)
        if "messages" in values and not any(column in values for column in TURN_COLUMNS):
            messages = self._messages("messages", values.pop("messages"))
            roles = [message.role for message in messages[-3:]]
            if roles != ["user", "assistant", "user"]:
                raise InputError(
                    f"{self.row.where}: the messages end in {', '.join(roles) or 'nothing'}; "
                    "expected user, assistant, user: q, a and u"
                )
            return messages[:-2], messages[-2].content, messages[-1].content
        missing = [column for column in TURN_COLUMNS if column not in values]
        if missing:
            raise InputError(
                f"{self.row.where}: no column {', '.join(missing)}; expected q, a and u (or "
                f"messages), found {names_shown(values)}"
            )
        question, answer, turn = (values.pop(column) for column in TURN_COLUMNS)
        if isinstance(question, str):
            messages = (Message("user", question),)
        else:
            messages = self._messages("q", question)
            if messages[-1].role != "user":
                raise InputError(
                    f"{self.row.where}: the messages of q end in {messages[-1].role}; "
                    "expected a user message, the question"
                )
        for column, value in (("a", answer), ("u", turn)):
            if not isinstance(value, str):
                raise self._wrong(column, value, 'text (an empty turn is "")')
        return messages, answer, turn

    def _messages(self, column: str, value: Any) -> tuple[Message, ...]:
        if not isinstance(value, list) or not value:
            raise self._wrong(column, value, "text or a list of chat messages")
        return tuple(self._message(column, number, entry) for number, entry in enumerate(value, 1))

    def _message(self, column: str, number: int, entry: Any) -> Message:
        place = f"{column}, message {number}"
        if not isinstance(entry, Mapping):
            raise self._wrong(place, entry, '{"role": …, "content": …}')
        extra = [key for key, value in entry.items() if key not in ("role", "content") and value]
        if extra:
            raise InputError(
                f"{self.row.where}: {place} has {names_shown(extra)}; expected role and content "
                "alone, for nobody would see the rest"
            )
        role, content = entry.get("role"), entry.get("content")
        if role not in ROLES:
            raise self._wrong(f"{place}, role", role, f"one of {', '.join(ROLES)}")
        return Message(role, self._content(f"{place}, content", content))

    def _content(self, place: str, content: Any) -> str:
        """A message's text; a list of text parts, as OpenAI writes it, is the text they make."""
        if isinstance(content, str):
            return content
        if not isinstance(content, list) or not content:
            raise self._wrong(place, content, "text")
        for number, part in enumerate(content, 1):
            if not _is_text_part(part):
                raise self._wrong(f"{place}, part {number}", part, '{"type": "text", "text": …}')
        return "".join(part["text"] for part in content)

    def _optional_text(self, values: Mapping[str, Any], column: str) -> str | None:
        value = values.get(column)
        if value is None or value == "":
            return None
        if not isinstance(value, str):
            raise self._wrong(column, value, "text")
        return value

    def _source_id(self, values: Mapping[str, Any]) -> str | None:
        value = values.get("source_id")
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        return self._optional_text(values, "source_id")

    def _temperature(self, values: Mapping[str, Any]) -> float | None:
        value = self._number(values, "temperature")
        if value is None:
            return None
        if value < 0:
            raise self._wrong("temperature", values["temperature"], "a number from 0 up")
        return float(value)

    def _sample_index(self, values: Mapping[str, Any]) -> int:
        value = self._number(values, "sample_index") or 0
        if not 0 <= value <= MAX_INTEGER or value != int(value):
            raise self._wrong("sample_index", values["sample_index"], "a whole number from 0 up")
        return int(value)

    def _number(self, values: Mapping[str, Any], column: str) -> int | float | None:
        value = values.get(column)
        if value is None or value == "":
            return None
        if isinstance(value, str) and self.row.all_text:
            value = _parsed(value)
        if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
            raise self._wrong(column, values[column], "a number")
        if abs(value) > (MAX_INTEGER if isinstance(value, int) else sys.float_info.max):
            raise self._wrong(column, values[column], "a smaller number")
        return value

    def _wrong(self, column: str, found: Any, expected: str) -> InputError:
        shown = repr(found)
        shown = shown if len(shown) <= 60 else f"{shown[:57]}…"
        return InputError(f"{self.row.where}: {column} is {shown}; expected {expected}")


def _join_completion(values: dict[str, Any]) -> None:
    """Makes TRL's conversational prompt and completion the messages that they are."""
    prompt, completion = values["prompt"], values["completion"]
    if isinstance(prompt, list) and isinstance(completion, list) and "messages" not in values:
        del values["prompt"], values["completion"]
        values["messages"] = [*prompt, *completion]


def _is_text_part(part: Any) -> bool:
    return (
        isinstance(part, Mapping)
        and part.get("type") == "text"
        and isinstance(part.get("text"), str)
        and not any(value for key, value in part.items() if key not in ("type", "text"))
    )


def _parsed(text: str) -> int | float | None:
    """The number that a text writes; a whole one exactly, however large."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return None
