r"""GPQA: the letter of the option that an answer chooses.

Every pattern takes time linear in the answer: what can repeat without end is bounded.
"""

import re
from dataclasses import dataclass

from generation.accuracy.score import NOT_CHECKABLE, RIGHT, WRONG, Score, shown

SCORER = "option-letter/2"
LETTERS = "ABCD"

_OPENED = r"""[\s*_$(\[{"'“`]{0,12}(?:\\[a-z]{2,10}\{)?[\s(]{0,4}"""  # **C**, $\text{(C
_LETTER = r"([A-D])(?![^\W_]|['’])"
_OPTION = rf"{_OPENED}(?i:option|choice)?{_OPENED}{_LETTER}"
_IS = r"[^\n]{0,40}?(?:(?i:\bis\b)|[:=])"
_NOT_WRONG = r"(?i:(?<!wrong\s)(?<!incorrect\s))"
# By what an answer says it, most explicit first; of equal ones the last counts.
_SAID = {
    "boxed": re.compile(rf"\\boxed\s{{0,9}}\{{{_OPENED}{_LETTER}"),
    "answer line": re.compile(
        rf"(?m)^[^\w\n]{{0,12}}(?i:(?:(?:the|my|final|correct|best)\s){{0,3}}answer)"
        rf"[^\w\n:=]{{0,6}}[:=]{_OPTION}"
    ),
    "answer": re.compile(rf"{_NOT_WRONG}(?i:\banswer\b){_IS}{_OPTION}"),
    "choice": re.compile(rf"{_NOT_WRONG}(?i:\b(?:option|choice)\b){_IS}{_OPTION}"),
    "line": re.compile(rf"(?m)^[^\w\n]{{0,12}}{_LETTER}[^\w\n]{{0,12}}$"),
    "parentheses": re.compile(r"\(([A-D])\)"),
    "option": re.compile(rf"(?m)^[^\w\n]{{0,12}}{_LETTER}[).:]"),
    # The article is no option: 'A photon …'
    "letter": re.compile(r"(?<![\w'’])(A(?!\s{1,3}[a-z])|[B-D])(?![\w'’])"),
}


@dataclass(frozen=True)
class Choice:
    """A letter and how the answer says it."""

    letter: str
    by: str


def score_letter(reference: str, answer: str) -> Score:
    if reference not in tuple(LETTERS):
        why = f"the reference is {shown(reference)!r}; expected one of {', '.join(LETTERS)}"
        return Score(SCORER, NOT_CHECKABLE, {"why": why})
    choice = chosen_letter(answer)
    right = choice is not None and choice.letter == reference
    detail = {"reference": reference, "found": choice and choice.letter, "by": choice and choice.by}
    return Score(SCORER, RIGHT if right else WRONG, detail)


def chosen_letter(answer: str) -> Choice | None:
    r"""The option chosen, None where there is none.

    >>> chosen_letter("(A) is too small. The correct answer is **(C)**, not D.")
    Choice(letter='C', by='answer')
    >>> chosen_letter("A photon has no mass.") is None
    True
    """
    for by, pattern in _SAID.items():
        letters = pattern.findall(answer)
        if letters:
            return Choice(letters[-1], by)
    return None
