"""Study text as HTML, verbatim: nothing is interpreted, and what is invisible gets a mark."""

import html
import unicodedata

# Invisible, yet letters or marks to Unicode: fillers, the blank Braille cell, variation selectors.
_INVISIBLE_LETTERS = {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0}
_INVISIBLE_CATEGORIES = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}


def verbatim_html(text: str) -> str:
    """HTML that shows `text` exactly, for an element with `white-space: pre-wrap`.

    The mark of an invisible character is generated content beside the character itself, so a
    copy of the page's text is the stored text.

    >>> verbatim_html("<b>a\\u200b")
    '&lt;b&gt;a<span class="mark" data-name="U+200B">\\u200b</span>'
    """
    return "".join(_marked(c) if is_invisible(c) else html.escape(c) for c in text)


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


def _marked(character: str) -> str:
    # HTML parsers turn a bare CR into LF, and drop NUL, which no store holds anyway.
    content = {"\r": "&#13;", "\x00": ""}.get(character, character)
    return f'<span class="mark" data-name="U+{ord(character):04X}">{content}</span>'
