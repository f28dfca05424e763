"""Potato's annotation_output: state files per annotator, and the tables exported from them.

Four shapes: a folder with one folder per annotator, holding `user_state.json` (version 2) or
`annotated_instances.jsonl` (version 1); one such file; JSONL with `instance_id`, `user_id` and
`labels`; and CSV, TSV or Parquet with those two columns and one column per question
(`sentiment`), per option of a question (`sentiment.positive`, version 1 `sentiment:::positive`).
An answer is stored by option: the options with a true value are chosen.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from judge.calibration.label_table.long_format import Row
from judge.calibration.label_table.raw_rating import (
    HUMAN,
    JUDGE,
    RawRating,
    RawTable,
    one_question,
    single,
)
from judge.calibration.pairing import Exclusion
from rubrics import InputError

FORMAT = "Potato"
UNANSWERED = "answers without this question"
# Options that are a field of their own, so that the value is the answer.
FIELDS = frozenset({"", "select-one", "slider", "number"})
NOT_CHOSEN = (None, "", False, "false", "False", 0, "0")
BESIDE = frozenset({"free_response"})  # a remark next to the answer, never the answer
COLUMNS = frozenset({"instance_id", "user_id", "user", "displayed_text"})

Record = Mapping[str, Any]
Answers = dict[str, list[object]]  # by question, the chosen labels
Found = tuple[object, object, str, str, Answers]  # item, rater, kind, where


def is_state(record: Record) -> bool:
    return "instance_id_to_label_to_value" in record


def is_record(record: Record) -> bool:
    return "label_annotations" in record or {"instance_id", "labels"} <= record.keys()


def is_table(columns: Iterable[str]) -> bool:
    names = set(columns)
    return "instance_id" in names and bool({"user_id", "user"} & names)


def read_states(states: Sequence[Record], question: str | None, source: str) -> RawTable:
    """From `user_state.json` files."""
    return _raw(
        [
            (item, state.get("user_id"), _kind(state.get("origin")), f"item {item!r}", _labels(by))
            for state in states
            for item, by in state["instance_id_to_label_to_value"].items()
        ],
        question,
        source,
    )


def read_records(
    records: Iterable[tuple[str, str | None, Record]], question: str | None, source: str
) -> RawTable:
    """From JSONL records: where each stands, the annotator that its folder names, and itself."""
    found: list[Found] = []
    for where, folder, record in records:
        item = record.get("instance_id", record.get("id"))
        rater = record.get("user_id", folder)
        by = record.get("label_annotations", record.get("labels")) or {}
        found.append((item, rater, _kind(record.get("annotator_origin")), where, _labels(by)))
    return _raw(found, question, source)


def read_table(rows: Iterable[Row], question: str | None, source: str) -> RawTable:
    found: list[Found] = []
    for where, row in rows:
        rater = row.get("user_id", row.get("user"))
        by: dict[str, dict[str, object]] = {}
        for column, value in row.items():
            if column in COLUMNS or column.startswith("annotator_origin") or "._" in column:
                continue
            asked, _, option = [*re.split(r"(:::|\.)", column, maxsplit=1), "", ""][:3]
            by.setdefault(asked, {})[option] = value
        for asked, options in by.items():
            if options.get("") not in (None, ""):  # beside its options: the answer that stands
                by[asked] = {"": options[""]}
        kind = _kind(row.get("annotator_origin"))
        found.append((row["instance_id"], rater, kind, where, _labels(by)))
    return _raw(found, question, source)


def _raw(found: Sequence[Found], question: str | None, source: str) -> RawTable:
    asked = one_question((name for *_, answers in found for name in answers), question, source)
    ratings, left_out = [], Counter()
    for item, rater, kind, where, answers in found:
        if not answers.get(asked):
            left_out[UNANSWERED] += 1
        else:
            ratings.append(RawRating(item, rater, single(answers[asked]), where, kind))
    return RawTable(FORMAT, tuple(ratings), tuple(Exclusion(*entry) for entry in left_out.items()))


def _labels(by: Any) -> Answers:
    """The chosen labels by question, from nested options or from [{schema, name}, value] pairs."""
    answers: Answers = {}
    for asked, option, value in _options(by):
        if option in BESIDE:
            continue
        chosen = answers.setdefault(asked, [])
        if option in FIELDS:
            chosen += value if isinstance(value, list) else [] if value in (None, "") else [value]
        elif str(value) == option or value not in NOT_CHOSEN:
            chosen.append(option)
    return answers


def _options(by: Any) -> Iterator[tuple[str, str, Any]]:
    if isinstance(by, list):
        for label, value in by:
            if not isinstance(label, Mapping):
                raise InputError(f"a Potato label {label!r}; expected its schema and name")
            yield str(label.get("schema")), str(label.get("name")), value
        return
    for asked, options in by.items():
        if not isinstance(options, Mapping):
            yield asked, "", options
            continue
        inner = options.get("labels")
        for option, value in (inner if isinstance(inner, Mapping) else options).items():
            yield asked, str(option), value


def _kind(origin: Any) -> str:
    """A machine annotator, a tool or an LLM, is a judge."""
    name = origin.get("kind") if isinstance(origin, Mapping) else origin
    return JUDGE if name in ("tool", "llm") else HUMAN
