"""Exporting turns, one after the other, to a file or folder that is there whole or not at all."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from generation.exchange.exported import Exported, Format
from generation.exchange.whole import made_whole
from generation.turn import Answer, Turn
from generation.turn_record import record_from_turn
from rubrics import InputError, canonical_json

_SUFFIXES = {".jsonl": Format.JSONL, ".parquet": Format.PARQUET}
ParentOf = Callable[[str], Answer]


def format_of(path: Path, named: str | None) -> Format:
    """The format named, else the one that the suffix means.

    Raises InputError for a suffix that could be several.
    """
    if named is not None:
        return Format(named)
    if path.suffix.lower() in _SUFFIXES:
        return _SUFFIXES[path.suffix.lower()]
    raise InputError(
        f"{path.name} does not say which format to write; expected .jsonl or .parquet, or "
        f"--format with one of {', '.join(Format)}"
    )


def export_turns(
    turns: Iterable[Turn], out: Path, format: str, parent_of: ParentOf | None = None
) -> Exported:
    """Write turns to a new file, or a folder, at `out`, one at a time.

    `parent_of` gives the answer that a perturbed one was made of: with it beside them, turns
    after a perturbed answer can be imported alone. Raises InputError where `out` is taken and
    where no turn can be written; then there is no `out`.
    """
    done = Exported(out, Format(format))
    with made_whole(out) as new:
        _write(done, done.counted(turns), new, _parents(parent_of))
        if not done.written:
            raise InputError(_nothing(done))
    return done


def _write(
    done: Exported, turns: Iterator[Turn], new: Path, parent: Callable[[Turn], Answer | None]
) -> None:
    if done.format in (Format.PARQUET, Format.HF):
        from generation.exchange.parquet_file import write_rows
        from generation.exchange.turn_folder import write_folder
        from generation.exchange.turn_table import COLUMNS, table_row

        rows = (table_row(turn, parent(turn)) for turn in turns)
        if done.format is Format.PARQUET:
            write_rows(rows, COLUMNS, new)
        else:
            write_folder(rows, new, done)
        return
    from generation.exchange.chat_rows import openai_row, trl_row

    row_of: dict[Format, Callable[[Turn], Mapping[str, Any]]] = {
        Format.JSONL: lambda turn: record_from_turn(turn, parent(turn)),
        Format.OPENAI: openai_row,
        Format.TRL: trl_row,
    }
    with new.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(canonical_json(row_of[done.format](turn)) + "\n" for turn in turns)


def _parents(parent_of: ParentOf | None) -> Callable[[Turn], Answer | None]:
    if parent_of is None:
        return lambda _turn: None
    remembered = lru_cache(maxsize=256)(parent_of)  # the samples of one answer follow each other
    return lambda turn: remembered(turn.answer.parent_id) if turn.answer.parent_id else None


def _nothing(done: Exported) -> str:
    if done.left_out_canary:
        return (
            f"all {done.left_out_canary.total()} turns are of data sets that ask never to be "
            f"published: {', '.join(sorted(done.left_out_canary))}; nothing was written"
        )
    return "there are no turns to export; expected some: generate show lists the runs"
