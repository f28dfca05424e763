"""Where training items come from: the rubric's own examples, or the owner's file."""

import re
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from annotator.assignment.worklist import work_list
from annotator.nearest import did_you_mean
from annotator.training.training_set import TrainingItem
from generation.exchange.importer import read_turns
from generation.item import Item, Message
from rubrics import InputError, Rubric


def rubric_examples(rubric: Rubric) -> list[TrainingItem]:
    """The examples of every category; raises InputError where the rubric has none."""
    items = [
        TrainingItem(
            Item((Message("user", example.q),), example.a, example.u),
            category.id,
            example.why,
            f"rubric {rubric.version}, example of {category.id}",
        )
        for category in rubric.categories
        for example in category.examples
    ]
    if not items:
        raise InputError(
            f"rubric {rubric.version} has no examples to train on; name a file of items with their "
            "labels (columns q, a, u, label, why): annotate training set FILE "
            f"--rubric {rubric.version}"
        )
    return _distinct(items, f"rubric {rubric.version}")


def read_items(path: Path, rubric: Rubric) -> list[TrainingItem]:
    """The items of a CSV or JSONL file with columns q, a, u (or messages), label and why.

    Raises InputError, naming the row, for an item without a label of this rubric or without a
    reason, and for one that stands there twice.
    """
    items = []
    for number, turn in enumerate(read_turns(path), start=1):
        where = f"{path}, row {number}"
        label = _text(turn.meta, "label", where, f"one of {', '.join(rubric.category_ids)}")
        if label not in rubric.category_ids:
            raise InputError(
                f"{where}: label is {label!r:.80}; rubric {rubric.version} has "
                f"{', '.join(rubric.category_ids)}{did_you_mean(label, rubric.category_ids)}"
            )
        why = _text(turn.meta, "why", where, "a sentence that says why the label is right")
        items.append(TrainingItem(turn.item, label, why, where))
    return _distinct(items, str(path))


def chosen(
    items: Sequence[TrainingItem], rubric: Rubric, count: int, *, seed: int
) -> list[TrainingItem]:
    """So many of the items, drawn at random but in turn from every category that has one left.

    Raises InputError when there are fewer.
    """
    if count > len(items):
        raise InputError(f"there are {len(items)} items to train on, not {count}; ask for fewer")
    by_id = {known.training_id(rubric.version): known for known in items}
    drawn = [by_id[key] for key in work_list(by_id, seed=seed, annotator="training set")]
    in_turn = []  # (how many of its category came before it, its category's place), and the item
    for known in drawn:
        before = sum(other.category == known.category for _, other in in_turn)
        in_turn.append(((before, rubric.category_ids.index(known.category)), known))
    return [known for _, known in sorted(in_turn, key=lambda entry: entry[0])[:count]]


def checked_pass_mark(text: str) -> str:
    """The pass mark as it is stored; raises InputError unless it is a share above 0, up to 1."""
    text = text.strip()
    if not re.fullmatch(r"[01]?\.\d{1,9}|1", text) or not 0 < Fraction(text) <= 1:
        raise InputError(
            f"the pass mark is {text!r:.40}, expected a share above 0 and up to 1; for four of "
            "five right type: --pass-mark 0.8"
        )
    return text


def _distinct(items: list[TrainingItem], where: str) -> list[TrainingItem]:
    first: dict[str, int] = {}
    for number, known in enumerate(items, start=1):
        before = first.setdefault(known.item.hash, number)
        if before != number:
            raise InputError(
                f"{where}: item {number} is item {before} again; an item has one right answer, so "
                "leave one of them out"
            )
    return items


def _text(row: dict[str, Any], column: str, where: str, expected: str) -> str:
    value = row.get(column)
    if not isinstance(value, str) or not value.strip():
        found = f"{column} is {value!r:.60}" if column in row else f"no column {column}"
        raise InputError(f"{where}: {found}; expected {expected}")
    return value.strip()
