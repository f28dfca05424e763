"""Argilla's records as JSON, in the shapes of its versions 1 and 2.

Version 1 lists `responses` by user, each with the values of all questions and a status, and
`suggestions` with a question's name; version 2 has both by question. Responses are people's
ratings, suggestions those of a judge named by `agent`.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

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

FORMAT = "Argilla records"
COUNTED = ("submitted", None)  # version 2's export names no status: it holds what was submitted

Record = Mapping[str, Any]


def is_argilla(record: Record) -> bool:
    return "fields" in record and ("responses" in record or "suggestions" in record)


def read_argilla(records: Sequence[Record], question: str | None, source: str) -> RawTable:
    answers = []
    for number, record in enumerate(records, start=1):
        if not isinstance(record, Mapping) or not is_argilla(record):
            raise InputError(f"{source}: record {number} has no 'responses'; expected {FORMAT}")
        item = next((record[k] for k in ("external_id", "id") if record.get(k) is not None), None)
        found = [*_responses(record.get("responses")), *_suggestions(record.get("suggestions"))]
        answers += [(item, f"record {number}", *answer) for answer in found]
    name = one_question((answer[2] for answer in answers), question, source)
    ratings, left_out = [], Counter()
    for item, where, asked, rater, kind, status, value in answers:
        if asked != name:
            continue
        if status not in COUNTED:
            left_out[f"response {status}, not submitted"] += 1
            continue
        ratings.append(RawRating(item, rater, single(value), where, kind))
    return RawTable(FORMAT, tuple(ratings), tuple(Exclusion(*entry) for entry in left_out.items()))


def _responses(responses: Any) -> Iterator[tuple[str, Any, str, str | None, Any]]:
    """(question, rater, kind, status, value) of every response, in either version's shape."""
    if isinstance(responses, Mapping):
        for asked, said in responses.items():
            for answer in said or []:
                status = answer.get("status")
                yield asked, answer.get("user_id"), HUMAN, status, answer.get("value")
        return
    for answer in responses or []:
        for asked, said in (answer.get("values") or {}).items():
            value = said.get("value") if isinstance(said, Mapping) else said
            yield asked, answer.get("user_id"), HUMAN, answer.get("status"), value


def _suggestions(suggestions: Any) -> Iterator[tuple[str, Any, str, str | None, Any]]:
    if isinstance(suggestions, Mapping):
        named = [(asked, said) for asked, said in suggestions.items() if said]
    else:
        named = [(said.get("question_name"), said) for said in suggestions or []]
    for asked, said in named:
        if asked is not None:
            kind = HUMAN if said.get("type") == "human" else JUDGE
            yield str(asked), said.get("agent") or "suggestion", kind, None, said.get("value")
