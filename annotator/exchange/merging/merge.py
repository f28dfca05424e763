"""The act of merging: one transaction, and a record of it.

Accounts and logins never travel, nor does who is at work: each machine lets in whom its owner lets
in. What people said, and under which texts, does.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from annotator.exchange.backup import copy_at_rest
from annotator.exchange.jsonl import write_jsonl
from annotator.exchange.merging.annotations import merge_annotations
from annotator.exchange.merging.conflict import Conflict
from annotator.exchange.merging.decisions import merge_decisions
from annotator.exchange.merging.ground import merge_ground
from annotator.exchange.merging.side_by_side import SideBySide
from annotator.exchange.merging.training import merge_training
from annotator.exchange.who import People
from annotator.labels import open_labels
from generation.clock import now
from generation.database import immediate, readable_refusals
from rubrics import InputError, canonical_json, file_fingerprint


@dataclass(frozen=True)
class Merged:
    """What a merge did: rows added by table, conflicts, and what differs there and was not taken.

    `source` is the fingerprint of the other file's canonical export.
    """

    source: str
    added: dict[str, int]
    conflicts: tuple[Conflict, ...]
    kept: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        return vars(self) | {"conflicts": [conflict.as_dict() for conflict in self.conflicts]}


def merge_labels(database: Database, other: Path) -> Merged:
    """Append to an open labels.db whatever `other` has and it has not.

    Merging the same file again adds nothing. Raises InputError, and changes nothing, where the
    two are of different studies, or have one item, rubric version or save with two contents.
    """
    with _opened(other) as (there, source), immediate(database):
        # Displays and events name each other.
        database.conn.execute("PRAGMA defer_foreign_keys = ON")
        sides = SideBySide(database, there, other.name)
        merge_ground(sides)
        merge_annotations(sides)
        merge_decisions(sides)
        merge_training(sides)
        for row in sides.missing("sent_fields", ("act", "field"), order="act, field"):
            sides.append("sent_fields", row)
        added = dict(sorted(sides.added.items()))
        merged = Merged(source, added, tuple(sides.conflicts), tuple(sides.kept))
        if added:
            database["merges"].insert(
                {
                    "source_hash": source,
                    "summary": canonical_json(merged.as_dict()),
                    "merged_at": now(),
                }
            )
    return merged


@contextmanager
def _opened(other: Path) -> Iterator[tuple[Database, str]]:
    """A copy of the other file in this version's schema, and the fingerprint of what it holds.

    The file itself is only read: it may be on a stick that cannot be written.
    """
    if not other.is_file():
        raise InputError(f"{other} is no file; expected a labels.db that was labelled elsewhere")
    with tempfile.TemporaryDirectory() as folder:
        copy, lines = Path(folder) / "labels.db", Path(folder) / "labels.jsonl"
        with readable_refusals(other):
            copy_at_rest(other, copy)
        try:
            database = open_labels(copy)
        except InputError as error:  # of the copy, which nobody knows
            raise InputError(str(error).replace(str(copy), str(other))) from None
        with database:
            write_jsonl(database, lines, People())
            yield database, file_fingerprint(lines)
