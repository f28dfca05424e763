"""Any text as LaTeX that prints it, whatever it holds."""

import re
from itertools import pairwise

from judge.calibration.main_run.tables.folded import folded
from judge.calibration.main_run.tables.shown import one_line

_WRITTEN = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    '"': r"\char34{}",
    "[": "{[}",  # after \\ a bracket or a star would be its argument
    "]": "{]}",
    "*": "{*}",
    "–": "--",
    "·": r"\textperiodcentered{}",
    "…": r"\ldots{}",
    "“": r"\textquotedblleft{}",
    "”": r"\textquotedblright{}",
    "‘": r"\textquoteleft{}",
    "’": r"\textquoteright{}",
    "−": r"\(-\)",
    "×": r"\(\times\)",
    "±": r"\(\pm\)",
    "≥": r"\(\ge\)",
    "≤": r"\(\le\)",
    "→": r"\(\to\)",
}
# What every LaTeX sets: ASCII, and the accented letters of Latin-1 that every encoding has.
_KNOWN = re.compile(r"[ -~À-ÏÑ-ÖØ-Ýß-ïñ-öø-ýÿ]")
WORD = 16  # characters
_LIGATURES = "-',"  # two of these would become another sign


def spelt(text: str) -> str:
    """On one line; a character that LaTeX might not have is spelt out.

    >>> spelt("50% é 漢")
    '50% é <U+6F22>'
    """
    return "".join(
        c if c in _WRITTEN or _KNOWN.match(c) else f"<U+{ord(c):04X}>" for c in one_line(text)
    )


def escaped(text: str) -> str:
    """As LaTeX that prints it, what `spelt` makes of it.

    >>> print(escaped("gpqa_diamond 50% a--b 漢"))
    gpqa\\_diamond 50\\% a-{}-b \\textless{}U+6F22\\textgreater{}
    """
    return "".join(
        f"{{}}{c}" if c in _LIGATURES and before == c else _WRITTEN.get(c, c)
        for before, c in pairwise(f" {spelt(text)}")
    )


def flowing(text: str) -> str:
    """For a paragraph: a word of more than 16 characters may end a line within.

    >>> print(flowing("a " + "b" * 20))
    a bbbbbbbbbbbbbbbb\\allowbreak{}bbbb
    """
    return " ".join(
        "\\allowbreak{}".join(map(escaped, folded(word, WORD))) for word in spelt(text).split(" ")
    )
