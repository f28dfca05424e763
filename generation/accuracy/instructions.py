"""IFEval and IFBench: does an answer follow each instruction of its prompt?"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from generation.accuracy.checker_process import CheckerFailed, checker
from generation.accuracy.package import installed, missing
from generation.accuracy.score import NOT_CHECKABLE, RIGHT, WRONG, Score

PACKAGE = "if-verifiable"
CHECKER = "generation.accuracy.if_verifiable_checker"


@dataclass(frozen=True)
class Verdict:
    """Of one instruction, on the answer as it is and, loosely, without its first and last lines
    and its asterisks. None is neither: `why` says what hindered the check."""

    instruction: str
    strict: bool | None
    loose: bool | None
    why: str | None = None


def score_instructions(prompt: str, meta: Mapping[str, Any], answer: str) -> Score:
    """`meta` is a row of the data set: instruction_id_list, and kwargs of equal length."""
    if installed(PACKAGE) is None:
        return Score(f"{PACKAGE}/none", NOT_CHECKABLE, {"why": missing(PACKAGE)})
    instructions, arguments = meta["instruction_id_list"], meta.get("kwargs")
    scorer = f"{PACKAGE}/{installed(PACKAGE)}"
    if not _is_sound(instructions, arguments):
        why = "expected instruction_id_list and kwargs, two lists of equal length, not empty"
        return Score(scorer, NOT_CHECKABLE, {"why": why})
    try:
        scorer = checker(CHECKER).about()["scorer"]
    except CheckerFailed as error:
        return Score(scorer, NOT_CHECKABLE, {"why": str(error)})
    verdicts = [
        _verdict({"instruction": name, "kwargs": given, "prompt": prompt, "answer": answer})
        for name, given in zip(instructions, arguments, strict=True)
    ]
    return Score(
        scorer,
        outcome_of([verdict.strict for verdict in verdicts]),
        {
            "loose": outcome_of([verdict.loose for verdict in verdicts]),
            "instructions": [asdict(verdict) for verdict in verdicts],
        },
    )


def outcome_of(passed: Sequence[bool | None]) -> str:
    """Of a whole prompt: wrong where one instruction fails, else right where all were checked.

    >>> outcome_of([True, None]), outcome_of([False, None]), outcome_of([True, True])
    ('not checkable', 'wrong', 'right')
    """
    if False in passed:
        return WRONG
    return NOT_CHECKABLE if None in passed else RIGHT


def _verdict(request: dict[str, Any]) -> Verdict:
    try:
        return Verdict(request["instruction"], **checker(CHECKER).ask(request))
    except CheckerFailed as error:
        return Verdict(request["instruction"], None, None, str(error))


def _is_sound(instructions: Any, arguments: Any) -> bool:
    return (
        isinstance(instructions, list)
        and isinstance(arguments, list)
        and 0 < len(instructions) == len(arguments)
        and all(isinstance(name, str) for name in instructions)
        and all(isinstance(given, dict) for given in arguments)
    )
