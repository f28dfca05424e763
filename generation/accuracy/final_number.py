r"""GSM8K: the final number of an answer, against the one after '####' in the reference.

Every pattern takes time linear in the answer. Digits are ASCII: other digits are not read.
"""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from generation.accuracy.score import NOT_CHECKABLE, RIGHT, WRONG, Score, shown

SCORER = "final-number/2"
TRIED = 20  # of the last marks: a model that repeats '####' for ever says no number
MAX_DIGITS = 40  # a longer number answers no question of a school

_NUMBER = re.compile(
    r"""(?P<sign>(?<![\w)])[-−])? \\?[$€£]?
        (?: \\[dt]?frac\{(?P<above>[0-9]+)\}\{(?P<below>[0-9]+)\}
        | (?P<whole>[0-9][0-9,]*(?:\.[0-9]+)?|\.[0-9]+) (?:[ ]?/[ ]?(?P<over>[0-9]+))? )""",
    re.VERBOSE,
)
# What follows a mark is looked ahead at: a second mark may stand on the same line.
_CLAUSE = r"(?=([^\n]{1,200}))"
_MARKED = re.compile(rf"####[ \t]{{0,9}}{_CLAUSE}")
_HEADING = re.compile(r"[0-9]+[.):]\s+\S")  # '#### 2. Add them up' is a heading of Markdown
_BOXED = re.compile(rf"\\boxed\s{{0,9}}\{{{_CLAUSE}")
_ANSWER_IS = re.compile(rf"(?i:\banswer\b)[^\n]{{0,40}}?(?:\bis\b|[:=])\s{{0,20}}{_CLAUSE}")
_SENTENCE_END = re.compile(r"(?<!\.[a-z])[.!?](?=\s|$)")  # 'i.e.' ends none
# '2 more than 16' says how a number is come by, not the number.
_OPERAND = r"\$?[0-9][0-9,.]*"
_OPERATION = re.compile(
    rf"{_OPERAND}(?:\s?(?:(?:more|less|fewer)\sthan|times|plus|minus|%\sof|[-+*×])\s?{_OPERAND})+"
)

# What lm-eval 0.4.13 takes for gsm8k: the first '#### n', or the last run of number characters.
_STRICT = re.compile(r"#### (-?[0-9.,]+)")
_FLEXIBLE = re.compile(r"-?[$0-9.,]{2,}|-?[0-9]+")


@dataclass(frozen=True)
class Reading:
    """A number as written, and where it stood; `value` is None where it is none after all."""

    text: str
    by: str

    @property
    def value(self) -> Fraction | None:
        return _value(_NUMBER.fullmatch(self.text))


def score_number(reference: str, answer: str) -> Score:
    """Right where the numbers are equal: 18.0 is 18, $1,234 is 1234, 50% is 50."""
    expected = _first_number(reference.rpartition("####")[2])
    if expected is None:
        return Score(SCORER, NOT_CHECKABLE, {"why": f"no number in {shown(reference[-60:])!r}"})
    found = final_number(answer)
    target = Reading(expected, "####").value
    right = found is not None and target is not None and found.value == target
    strict, flexible = _STRICT.search(answer), _last(_FLEXIBLE, answer)
    return Score(
        SCORER,
        RIGHT if right else WRONG,
        {
            "reference": expected,
            "found": shown(found.text) if found else None,
            "by": found.by if found else None,
            "strict": strict is not None and _as_lm_eval(strict[1]) == _as_lm_eval(expected),
            "flexible": flexible is not None and _as_lm_eval(flexible) == _as_lm_eval(expected),
        },
    )


def final_number(answer: str) -> Reading | None:
    r"""The number an answer ends in: marked by ####, boxed, said to be the answer, or the last.

    >>> final_number("9 + 9 = 18, so\n#### $18.00")
    Reading(text='$18.00', by='####')
    >>> final_number("The answer is 9 * 2 = 18 eggs. I used 2 steps.")
    Reading(text='18', by='answer is')
    >>> final_number("She has none left.") is None
    True
    """
    answer = answer.replace("{,}", ",")  # a thousands separator in LaTeX
    for by, pattern in (("####", _MARKED), ("boxed", _BOXED), ("answer is", _ANSWER_IS)):
        clauses = deque((match[1] for match in pattern.finditer(answer)), maxlen=TRIED)
        for clause in reversed(clauses):
            if by == "####" and _HEADING.match(clause):
                continue
            number = _stated(_result(_inside(clause) if by == "boxed" else clause))
            if number is not None:
                return Reading(number, by)
    last = _last(_NUMBER, answer)
    return None if last is None else Reading(_trimmed(last), "last number")


def _inside(clause: str) -> str:
    """Up to the brace that closes the one before the clause."""
    depth = 1
    for place, sign in enumerate(clause):
        depth += (sign == "{") - (sign == "}")
        if depth == 0:
            return clause[:place]
    return clause


def _result(clause: str) -> str:
    """What a clause comes to: up to the end of its sentence, after its last equals sign."""
    end = _SENTENCE_END.search(clause)
    return (clause[: end.start()] if end else clause).rpartition("=")[2]


def _stated(result: str) -> str | None:
    """The first number that is no part of an operation; of operations alone the last."""
    last = _last(_NUMBER, result)
    return _first_number(_OPERATION.sub(" ", result)) or (_trimmed(last) if last else None)


def _first_number(clause: str) -> str | None:
    match = _NUMBER.search(clause)
    return _trimmed(match[0]) if match else None


def _last(pattern: re.Pattern[str], text: str) -> str | None:
    last = None
    for last in _matches(pattern, text):  # noqa: B007
        pass
    return last


def _matches(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    return (match[0] for match in pattern.finditer(text))


def _trimmed(number: str) -> str:
    return number.rstrip(",")


def _value(number: re.Match[str] | None) -> Fraction | None:
    if number is None:
        return None
    above = (number["above"] or number["whole"]).replace(",", "")
    below = number["below"] or number["over"] or "1"
    if max(len(above), len(below)) > MAX_DIGITS or not int(below):
        return None
    value = Fraction(above) / int(below)
    return -value if number["sign"] else value


def _as_lm_eval(number: str) -> str:
    """As lm-eval compares: texts, without commas, dollar signs and a full stop at the end."""
    return re.sub(r"[,$]|\.$", "", number)
