"""Prodigy's JSONL: one answered task per line.

A choice task has `options` and the ids chosen in `accept`; equal inputs share `_input_hash`, which
is the item. A binary task has one `label` that was accepted or rejected; there the question is the
task, so `_task_hash` is the item and the answer the label.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from judge.calibration.label_table.raw_rating import RawRating, RawTable, single
from judge.calibration.pairing import Exclusion
from rubrics import InputError

FORMAT = "Prodigy JSONL"
ACCEPT, REJECT, IGNORE = "accept", "reject", "ignore"

Record = Mapping[str, Any]


def is_prodigy(record: Record) -> bool:
    return "answer" in record and ("_input_hash" in record or "_task_hash" in record)


def read_prodigy(tasks: Sequence[Record], source: str) -> RawTable:
    ratings, left_out = [], Counter()
    shapes = {_is_choice(task) for task in tasks}
    if len(shapes) > 1:
        raise InputError(
            f"{source}: choice tasks and binary tasks in one file; export each data set by itself"
        )
    # Stable, so that tasks without a time keep the file's order.
    for number, task in sorted(
        enumerate(tasks, start=1), key=lambda entry: entry[1].get("_timestamp") or 0
    ):
        where, answer = f"line {number}", task.get("answer")
        if answer not in (ACCEPT, REJECT, IGNORE):
            raise InputError(
                f"{source}: {where}: answer {answer!r}; expected accept, reject or ignore"
            )
        choice = _is_choice(task)
        if answer == IGNORE or (choice and answer == REJECT):
            left_out[f"task {answer}{'d' if answer == IGNORE else 'ed'} by the annotator"] += 1
            continue
        if not choice and "label" not in task:
            raise InputError(
                f"{source}: {where}: neither a choice in 'accept' nor a 'label'; "
                "expected a choice or a binary text task"
            )
        item = task.get("_input_hash") if choice else task.get("_task_hash")
        rater = task.get("_annotator_id") or task.get("_session_id")
        ratings.append(RawRating(item, rater, single(task["accept"]) if choice else answer, where))
    return RawTable(FORMAT, tuple(ratings), tuple(Exclusion(*entry) for entry in left_out.items()))


def _is_choice(task: Record) -> bool:
    return "options" in task or isinstance(task.get("accept"), list)
