"""What a file says, before any rule is applied to it: readers make it, `normalise` reads it."""

from collections.abc import Iterable
from dataclasses import dataclass

from judge.calibration.pairing import Exclusion
from rubrics import InputError

HUMAN, JUDGE = "human", "judge"
SEVERAL = "several labels in one answer"
MULTIPLE_CHOICE = (
    "every answer holds several labels; these statistics take one label per answer: "
    "export a single-choice question"
)


@dataclass(frozen=True)
class RawRating:
    """One row or answer as it was found; the latest of equal (item, rater) comes last.

    `where` names the place in the file for messages. `label`, `cluster` and `weight` are None
    where the file has nothing; any other value is still to be judged.
    """

    item: object
    rater: object
    label: object
    where: str
    kind: object = None
    cluster: object = None
    weight: object = None


@dataclass(frozen=True)
class RawTable:
    """All that a reader found: `format` names the file's shape, `excluded` what it left out."""

    format: str
    ratings: tuple[RawRating, ...]
    excluded: tuple[Exclusion, ...] = ()


def one_question(names: Iterable[str], wanted: str | None, source: str) -> str:
    """The question whose answers are read. Raises InputError unless there is one to take."""
    found = sorted(set(names))
    if wanted is not None:
        if wanted in found:
            return wanted
        raise InputError(
            f"{source}: no question {wanted!r}: it has {', '.join(map(repr, found)) or 'none'}"
        )
    if len(found) == 1:
        return found[0]
    if not found:
        raise InputError(f"{source}: no answer to a choice question in it")
    raise InputError(
        f"{source}: answers to {len(found)} questions: {', '.join(map(repr, found))}; "
        f"choose one: --question {found[0]}"
    )


def single(answer: object) -> object:
    """The one label of an answer that may be a list; None of an empty one, SEVERAL of more."""
    if not isinstance(answer, list):
        return answer
    if len(answer) > 1:
        return Several(len(answer))
    return answer[0] if answer else None


@dataclass(frozen=True)
class Several:
    """In place of a label: an answer that holds `count` of them."""

    count: int
