"""Study text as HTML, verbatim: nothing is interpreted, and what is invisible gets a mark."""

import html
import re
import unicodedata
from functools import lru_cache

# Invisible, yet letters or marks to Unicode: fillers, the blank Braille cell, variation selectors.
_INVISIBLE_LETTERS = {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0}
_INVISIBLE_CATEGORIES = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
_RUN = re.compile(r"([^ -~\n\t])\1*")  # of one character; plain ASCII is passed over
_WRITTEN = {"\r": "&#13;", "\x00": ""}  # HTML parsers turn CR into LF; NUL no store holds anyway
# A browser takes seconds over tens of thousands of marks, and so many tell a reader no more.
MARKS = 2_000


def verbatim_html(text: str) -> str:
    """HTML that shows `text` exactly, for an element with `white-space: pre-wrap`.

    The mark of an invisible character is generated content beside the character itself, so a
    copy of the page's text is the stored text. Equal characters in a row share a mark; after
    MARKS of them one more says how many characters are left unmarked.

    >>> verbatim_html("<b>a\\u200b")
    '&lt;b&gt;a<span class="mark" data-name="U+200B">\\u200b</span>'
    """
    escaped = html.escape(text)
    runs = [run for run in _RUN.finditer(escaped) if is_invisible(run[1])]
    pieces, at = [], 0
    for run in runs[:MARKS]:
        pieces += [escaped[at : run.start()], _marked(run)]
        at = run.end()
    if left := sum(len(run[0]) for run in runs[MARKS:]):
        pieces.append(f'<span class="mark" data-name="{left:,} more, unmarked"></span>')
    return "".join([*pieces, _written(escaped[at:])])


@lru_cache(4096)
def is_invisible(character: str) -> bool:
    """Whether a reader could not see this character; line feed, tab and blank are layout."""
    if character in "\n\t ":
        return False
    code = ord(character)
    return (
        unicodedata.category(character) in _INVISIBLE_CATEGORIES
        or unicodedata.category(character) == "Zs"
        or code in _INVISIBLE_LETTERS
        or 0xFE00 <= code <= 0xFE0F
        or 0xE0100 <= code <= 0xE01EF
    )


def _marked(run: re.Match[str]) -> str:
    times = f" ×{len(run[0])}" if len(run[0]) > 1 else ""
    return f'<span class="mark" data-name="U+{ord(run[1]):04X}{times}">{_written(run[0])}</span>'


def _written(text: str) -> str:
    for character, content in _WRITTEN.items():
        text = text.replace(character, content)
    return text
