"""Task accuracy of an answer: right or wrong by its data set's measure, or not checkable."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from generation.turn import Conversation

RIGHT, WRONG, NOT_CHECKABLE = "right", "wrong", "not checkable"


@dataclass(frozen=True)
class Score:
    """`scorer` names what decided, with its version; `detail` (JSON) what it saw."""

    scorer: str
    outcome: str
    detail: dict[str, Any] = field(default_factory=dict)


def scores(conversation: Conversation, answer_text: str) -> list[Score]:
    """The visible answer, scored by what the conversation's `meta` has to hold it against.

    instruction_id_list and kwargs                         IFEval, IFBench: each instruction checked
    reference_letter, or a reference that is one letter    GPQA: the option, A to D
    reference that ends in '#### n'                        GSM8K: the final number
    reference_math, or a reference of a source of mathematics: compared as such

    Without any of these there is nothing to score: an empty list. Never raises for an answer or
    a reference, however broken: what cannot be decided is 'not checkable' and says why.
    """
    meta = conversation.meta
    reference = meta.get("reference")
    if "instruction_id_list" in meta:
        from generation.accuracy.instructions import score_instructions

        return [score_instructions(conversation.messages[-1].content, meta, answer_text)]
    letter = meta.get("reference_letter", _as_letter(reference))
    if letter is not None:
        from generation.accuracy.option_letter import score_letter

        return [score_letter(str(letter), answer_text)]
    if isinstance(reference, str) and "####" in reference:
        from generation.accuracy.final_number import score_number

        return [score_number(reference, answer_text)]
    of_mathematics = reference if "math" in _source(conversation, meta) else None
    formula = meta.get("reference_math", of_mathematics)
    if isinstance(formula, str):
        from generation.accuracy.mathematics import score_mathematics

        return [score_mathematics(formula, answer_text)]
    return []


def _as_letter(reference: Any) -> str | None:
    """'C' or '(C)' as its letter; None for any other reference."""
    match = re.fullmatch(r"\(([A-D])\)|([A-D])", reference) if isinstance(reference, str) else None
    return match and (match[1] or match[2])


def shown(text: str) -> str:
    """A text of any length, short enough to be kept beside a score."""
    return text if len(text) <= 60 else f"{text[:59]}…"


def _source(conversation: Conversation, meta: Mapping[str, Any]) -> str:
    return f"{conversation.dataset} {meta.get('source', '')}".lower()
