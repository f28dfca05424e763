"""Label Studio's JSON export: a list of tasks, each with annotations and predictions.

Of an answer the results of type "choices" are read. People's annotations are ratings of the user
in `completed_by`; predictions are those of a judge named by `model_version`. The smaller JSON_MIN
export does not say which key is the question, so it is refused.
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

FORMAT = "Label Studio JSON"
CANCELLED = "skipped by the annotator"
UNANSWERED = "answers without this question"

Record = Mapping[str, Any]


def is_label_studio(record: Record) -> bool:
    return isinstance(record.get("annotations", record.get("completions")), list)


def is_minimal(record: Record) -> bool:
    return {"annotation_id", "annotator"} <= record.keys()


def read_label_studio(tasks: Sequence[Record], question: str | None, source: str) -> RawTable:
    answers = [
        answer
        for number, task in enumerate(tasks, start=1)
        for answer in _answers(task, f"task {number}", source)
    ]
    name = one_question((name for _, found in answers for name in found), question, source)
    left_out = Counter(CANCELLED for rating, _ in answers if rating is None)
    ratings = []
    for rating, choices in answers:
        if rating is None:
            continue
        if name not in choices:
            left_out[UNANSWERED] += 1
            continue
        item, rater, kind, where = rating
        ratings.append(RawRating(item, rater, single(choices[name]), where, kind))
    return RawTable(FORMAT, tuple(ratings), tuple(Exclusion(*entry) for entry in left_out.items()))


def _answers(task: Record, where: str, source: str) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Who answered a task what, by question; nobody where the annotation was cancelled."""
    if not isinstance(task, Mapping) or not is_label_studio(task):
        raise InputError(f"{source}: {where} has no list 'annotations'; expected {FORMAT}")
    annotations = task.get("annotations", task.get("completions"))
    for said in sorted(annotations, key=lambda said: str(said.get("updated_at") or "")):
        if said.get("was_cancelled"):
            yield None, {}
            continue
        yield (task.get("id"), _person(said.get("completed_by")), HUMAN, where), _choices(said)
    for said in task.get("predictions") or []:
        if not isinstance(said, Mapping):  # some exports hold the ids of predictions alone
            continue
        yield (task.get("id"), said.get("model_version"), JUDGE, where), _choices(said)


def _person(completed_by: Any) -> Any:
    """The user's id, or of a full user record the address that tells people apart."""
    if isinstance(completed_by, Mapping):
        return completed_by.get("email") or completed_by.get("id")
    return completed_by


def _choices(said: Record) -> dict[str, Any]:
    results = (result for result in said.get("result") or [] if isinstance(result, Mapping))
    return {
        str(result.get("from_name")): result["value"].get("choices", [])
        for result in results
        if result.get("type") == "choices"
    }
