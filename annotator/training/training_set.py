"""The training set of a rubric version: items whose right answer is known, and the pass mark."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from sqlite_utils import Database

from annotator.labels import record_rubric
from annotator.settings import PASS_MARK, put_setting, setting
from annotator.trained_on import trained_on
from generation.clock import now
from generation.database import immediate
from generation.item import Item, messages_from
from rubrics import InputError, Rubric, canonical_json, fingerprint, short


@dataclass(frozen=True)
class TrainingItem:
    """An item, the category id that is right for it, and why; `where` it was read, if known."""

    item: Item
    category: str
    why: str
    where: str = field(default="a training item", compare=False)

    def training_id(self, rubric_version: str) -> str:
        """Of the text alone: from the category's part in it one could try all seven."""
        return short(fingerprint({"training": rubric_version, "item": self.item.hash}), 12)


@dataclass(frozen=True)
class TrainingSet:
    """What is in use under a rubric version, by training id; `pass_mark` is a share in (0, 1]."""

    rubric_version: str
    items: Mapping[str, TrainingItem]
    pass_mark: Fraction

    @property
    def needed(self) -> int:
        """How many right answers pass a round."""
        return math.ceil(self.pass_mark * len(self.items))


def put_training_set(
    database: Database, rubric: Rubric, items: Iterable[TrainingItem], pass_mark: str
) -> None:
    """Train on these items, instead of those before, until a round reaches the pass mark.

    `pass_mark` is the share in decimal digits, as the owner typed it: seven of ten is 0.7 then,
    and not a little more. Raises InputError when the rubric version is known with another text,
    and for an item that is one of the study's.
    """
    record_rubric(database, rubric)
    by_id = {known.training_id(rubric.version): known for known in items}
    with immediate(database):
        database.conn.execute(
            """UPDATE training_items SET retired_at = :now
               WHERE rubric_version = :version AND retired_at IS NULL""",
            {"now": now(), "version": rubric.version},
        )
        for training_id, known in by_id.items():
            database["training_items"].upsert(
                {
                    "training_id": training_id,
                    "rubric_version": rubric.version,
                    "messages": canonical_json([m.as_dict() for m in known.item.messages]),
                    "answer": known.item.answer,
                    "turn": known.item.turn,
                    "category": known.category,
                    "why": known.why,
                    "retired_at": None,
                },
                pk="training_id",
            )
        for item_id, training_id in trained_on(database).items():
            if training_id in by_id:
                raise InputError(
                    f"{by_id[training_id].where}: has the text of item {item_id}, which people "
                    "label in the study; training would tell them its label: leave it out"
                )
        put_setting(database, PASS_MARK, pass_mark)


def training_off(database: Database) -> bool:
    """Ask nobody to train, under any rubric; what was answered is kept. Says whether it was on."""
    was_on = setting(database, PASS_MARK) is not None
    put_setting(database, PASS_MARK, None)
    return was_on


def is_training_on(database: Database, rubric_version: str) -> bool:
    """Whether there is a pass mark, and a training set of this rubric version."""
    return setting(database, PASS_MARK) is not None and bool(
        database["training_items"].count_where(
            "rubric_version = ? AND retired_at IS NULL", [rubric_version]
        )
    )


def training_set(database: Database, rubric_version: str) -> TrainingSet | None:
    """The set in use, in order of training id; None where training is off."""
    if not is_training_on(database, rubric_version):
        return None
    rows = database["training_items"].rows_where(
        "rubric_version = ? AND retired_at IS NULL", [rubric_version], order_by="training_id"
    )
    return TrainingSet(
        rubric_version,
        {row["training_id"]: _training_item(row) for row in rows},
        Fraction(setting(database, PASS_MARK) or 1),
    )


def training_item(database: Database, training_id: str) -> TrainingItem:
    """One item, in use or not; raises NotFoundError (sqlite-utils) if there is none."""
    return _training_item(database["training_items"].get(training_id))


def _training_item(row: dict[str, str]) -> TrainingItem:
    item = Item(messages_from(json.loads(row["messages"])), row["answer"], row["turn"])
    return TrainingItem(item, row["category"], row["why"])
