"""labels.db: opening it, and putting blind items and rubric texts into it."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from annotator.migrations import annotator_migrations
from annotator.study_option import option_of
from annotator.trained_on import trained_on
from generation.clock import now
from generation.database import immediate, keep, open_database
from generation.item import Item, messages_from
from generation.study import DEFAULT_SEED, Study
from rubrics import InputError, Rubric, canonical_json, parse_rubric, short


@dataclass(frozen=True)
class BlindItem:
    """An item as annotators get it: the text and an id that says nothing."""

    item_id: str
    item: Item


def open_labels(path: Path, *, create: bool = False) -> Database:
    """labels.db, waiting for the disk at every commit; raises InputError if it cannot be opened."""
    if not create and not path.exists():
        option = Study(path.parent).option
        raise InputError(
            f"{path} does not exist; choose items to label first: calibrate sample{option}"
        )
    return open_database(path, (annotator_migrations,), durable=True, create=create)


def add_items(database: Database, items: Iterable[BlindItem], *, seed: int) -> None:
    """Add blind items; those already there stay as they are. The first seed is kept.

    Raises InputError, and adds none, where people train on one of the new ones.
    """
    new = set()
    with immediate(database):
        keep(database, "settings", {"name": "seed", "value": str(seed)})
        for blind in items:
            is_new = keep(
                database,
                "items",
                {
                    "item_id": blind.item_id,
                    "messages": canonical_json([m.as_dict() for m in blind.item.messages]),
                    "answer": blind.item.answer,
                    "turn": blind.item.turn,
                },
            )
            if is_new:
                new.add(blind.item_id)
        _refuse_trained_on(database, new)


def blind_items(database: Database) -> dict[str, Item]:
    """Every item by its opaque id, ordered by id."""
    return {row["item_id"]: _item(row) for row in database["items"].rows_where(order_by="item_id")}


def blind_item(database: Database, item_id: str) -> BlindItem:
    """One item by its id; raises NotFoundError (sqlite-utils) if there is none."""
    return BlindItem(item_id, _item(database["items"].get(item_id)))


def item_ids(database: Database) -> list[str]:
    return [row[0] for row in database.conn.execute("SELECT item_id FROM items")]


def study_seed(database: Database) -> int:
    row = database.conn.execute("SELECT value FROM settings WHERE name = 'seed'").fetchone()
    return int(row[0]) if row else DEFAULT_SEED


def record_rubric(database: Database, rubric: Rubric) -> None:
    """Keep the text of a rubric at its first use.

    Raises InputError when the version was used before with other content: labels made under one
    text must never be read as made under another.
    """
    with immediate(database):
        keep(
            database,
            "rubrics",
            {
                "version": rubric.version,
                "hash": rubric.hash,
                "text": rubric.text,
                "first_used_at": now(),
            },
        )
        known = database["rubrics"].get(rubric.version)["hash"]
    if known != rubric.hash:
        raise InputError(
            f"rubric {rubric.version} has changed since it was first used here "
            f"({short(known)}, now {short(rubric.hash)}); give the new text a new version"
        )


def recorded_rubric(database: Database, version: str) -> Rubric | None:
    """The rubric as it was when annotators first used it, or None if they never did."""
    row = database.conn.execute("SELECT text FROM rubrics WHERE version = ?", [version]).fetchone()
    return _parsed(row[0], version) if row else None


@lru_cache
def _parsed(text: str, version: str) -> Rubric:
    # A rubric is asked for at every save, and takes longer to read than the save.
    return parse_rubric(text, source=f"labels.db, rubric {version}")


def _refuse_trained_on(database: Database, new: set[str]) -> None:
    for item_id, training_id in trained_on(database).items() if new else ():
        if item_id in new:
            raise InputError(
                f"item {item_id} is training item {training_id}, whose right answer people are "
                "shown, so it cannot be labelled; train on others first: "
                f"annotate training set FILE --pass-mark SHARE{option_of(database)}"
            )


def _item(row: dict[str, Any]) -> Item:
    return Item(messages_from(json.loads(row["messages"])), row["answer"], row["turn"])
