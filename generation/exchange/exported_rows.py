"""Rows of our own exports: a table's as native records, and that none lacks what it rests on."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from generation.exchange.import_file import Row, SourceFile, check_text
from generation.turn_record import Record
from rubrics import InputError


def parquet_rows(file: SourceFile) -> Iterator[Row]:
    """Rows of an exported table; a row's `line` is its number, from 1."""
    from generation.exchange.parquet_file import read_rows
    from generation.exchange.turn_table import record_from_row

    for number, cells in enumerate(read_rows(file.content, file.path), start=1):
        where = f"{file.path}:{number}"
        for column, cell in cells.items():
            if isinstance(cell, str):
                check_text(f"{where}: {column[:60]!r}", cell)
        yield Row(file.path, number, record_from_row(cells, where), all_text=False)


def check_complete(path: Path, records: Sequence[Record], lines: Mapping[str, int]) -> None:
    """Raises InputError where a turn rests on a turn, answer or conversation that is not there.

    `lines` gives the line by turn_id.
    """
    turns = [record.turn for record in records]
    answers = {turn.answer.answer_id for turn in turns}
    answers |= {record.turn.answer.parent_id for record in records if record.parent}
    conversations = {turn.answer.conversation.conversation_id for turn in turns}
    for turn in turns:
        rests_on = (
            ("turn", turn.follows, lines),
            ("answer", turn.answer.parent_id, answers),
            ("conversation", turn.answer.conversation.root, conversations),
        )
        for what, identity, there in rests_on:
            if identity is not None and identity not in there:
                raise InputError(
                    f"{path}:{lines[turn.turn_id]}: rests on {what} {identity[:20]}…, which is not "
                    "in the file; export the whole study, without --run"
                )
