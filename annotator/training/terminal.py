"""What `annotate training` prints, on a terminal that no study text can act on."""

from textwrap import shorten
from typing import Any

from annotator.training.record import ItemRecord, TraineeRecord, TrainingRecord
from generation.command import one_line

TURN_SHOWN = 60  # characters


def record_text(record: TrainingRecord, option: str) -> str:
    """The record in words; `option` is the study's, as commands take it."""
    version = record.rubric_version
    if record.current is None:
        return (
            f"no training under rubric {version}: people label at once\n"
            f"next: annotate training set --pass-mark 0.8 --rubric {version}{option}"
        )
    current = record.current
    return "\n".join(
        [
            f"training under rubric {version}: {current.needed} of {len(current.items)} items "
            f"right in one round (pass mark {float(current.pass_mark):g})",
            f"people: {len(record.trainees)}",
            *(f"  {_trainee_text(trainee)}" for trainee in record.trainees),
            "items, those most often wrong first:",
            *(f"  {_item_text(item)}" for item in record.items),
        ]
    )


def record_dict(record: TrainingRecord) -> dict[str, Any]:
    """The same for JSON; `pass_mark` and `needed` are null where there is no training."""
    current = record.current
    return {
        "rubric": record.rubric_version,
        "pass_mark": float(current.pass_mark) if current else None,
        "needed": current.needed if current else None,
        "annotators": [_trainee_dict(trainee) for trainee in record.trainees],
        "items": [
            {
                "training_id": item.training_id,
                "label": item.known.category,
                "why": item.known.why,
                "messages": [message.as_dict() for message in item.known.item.messages],
                "a": item.known.item.answer,
                "u": item.known.item.turn,
                "answers": item.answered,
                "wrong": item.wrong,
            }
            for item in record.items
        ],
    }


def _trainee_text(trainee: TraineeRecord) -> str:
    if not trainee.rounds:
        return f"{trainee.annotator}: has not begun"
    if trainee.passed:
        result = trainee.passed.result
        return (
            f"{trainee.annotator}: passed in round {result.round} "
            f"({result.correct} of {result.total} right)"
        )
    last = trainee.rounds[-1]
    state = f"{len(last.answers)} of {len(last.training_ids)} answered"
    if last.complete:
        state = f"{last.result.correct} of {last.result.total} right"
    return f"{trainee.annotator}: not passed; round {last.number}, {state}"


def _item_text(item: ItemRecord) -> str:
    turn = one_line(shorten(item.known.item.turn, TURN_SHOWN, placeholder=" …"))
    wrong = f"{item.wrong} of {item.answered} wrong" if item.answered else "no answer yet"
    return f"{item.training_id}  {item.known.category}: {wrong}  {turn}"


def _trainee_dict(trainee: TraineeRecord) -> dict[str, Any]:
    return {
        "annotator": trainee.annotator,
        "passed_in_round": trainee.passed.number if trainee.passed else None,
        "rounds": [
            {
                "round": begun.number,
                "items": len(begun.training_ids),
                "answered": len(begun.answers),
                "correct": sum(answer.correct for answer in begun.answers),
                "needed": begun.needed,
            }
            for begun in trainee.rounds
        ],
    }
