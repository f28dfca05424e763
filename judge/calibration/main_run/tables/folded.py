"""A text in lines of a width, by the columns that its characters take on a terminal."""

import re

from rich.cells import cell_len, chop_cells

_PART = re.compile(r"( ?)([^ \-/_]*[\-/_]?)")  # a line may end after these


def folded(text: str, width: int) -> list[str]:
    """Broken at blanks and signs, and within a word that is wider than a line; nothing is lost.

    >>> folded("corrected after %", 9), folded("Qwen3.5-397B-A17B", 14), folded("a" * 5, 3)
    (['corrected', 'after %'], ['Qwen3.5-397B-', 'A17B'], ['aaa', 'aa'])
    """
    lines = [""]
    for blank, part in _PART.findall(text):
        if cell_len(lines[-1] + blank + part) <= width:
            lines[-1] += blank + part
        else:
            first, *rest = chop_cells(part, width) or [""]
            lines[-1:] = [lines[-1], first, *rest] if lines[-1] else [first, *rest]
    return lines
