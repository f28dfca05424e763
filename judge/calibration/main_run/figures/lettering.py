"""Text that fits its place: cleaned of what no font can show, measured, shortened, wrapped."""

import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache

from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.textpath import text_to_path

from annotator.verbatim import is_invisible
from judge.calibration.main_run.figures.canvas import FONT, LARGE

LINE = 1.3 / 72  # inches from line to line, per point of the font's size
_SLACK = 1.03  # backends round the widths of characters differently
_PT = 72  # to the inch
_DATASET = 2.5  # inches


def clean(text: str) -> str:
    """`text` on one line, each character spelt out that the font lacks or a reader cannot see.

    So are accents that do not compose: they could be piled up over other lines.

    >>> clean("a\\nb"), clean("\\u202eGLM \\u667a"), clean("$x_1$")
    ('a<U+000A>b', '<U+202E>GLM <U+667A>', '$x_1$')
    """
    return "".join(map(_spelt, unicodedata.normalize("NFC", text)))


def width_of(text: str, size: float) -> float:
    """In inches, of one line at `size` points."""
    return _em_width(text) * size / _PT


def fitted(text: str, inches: float, size: float) -> str:
    """`text`, or as much of its two ends as `inches` have room for, with an ellipsis between."""
    if width_of(text, size) <= inches:
        return text
    few, many = 0, len(text) - 1
    while few < many:
        middle = (few + many + 1) // 2
        if width_of(_ends(text, middle), size) <= inches:
            few = middle
        else:
            many = middle - 1
    return _ends(text, few)


def distinct(names: Iterable[str], inches: float, size: float) -> dict[str, str]:
    """Each name cleaned and fitted; those that would look the same are numbered."""
    names = list(dict.fromkeys(names))
    shown = {name: fitted(clean(name), inches, size) for name in names}
    counts: dict[str, int] = {}
    for short in shown.values():
        counts[short] = counts.get(short, 0) + 1
    same = [name for name in names if counts[shown[name]] > 1]
    for number, name in enumerate(same, start=1):
        mark = f"({number}) "
        shown[name] = mark + fitted(clean(name), inches - width_of(mark, size), size)
    return shown


def shown_dataset(name: str) -> str:
    """For a title."""
    return fitted(clean(name), _DATASET, LARGE)


def wrapped(text: str, inches: float, size: float) -> list[str]:
    """Lines no wider than `inches`, broken at blanks; a longer word is fitted."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and width_of(longer, size) <= inches:
            lines[-1] = longer
        else:
            lines.append(fitted(word, inches, size))
    return lines


def widest(texts: Iterable[str], size: float) -> float:
    """In inches; 0 of none."""
    return max((width_of(text, size) for text in texts), default=0.0)


def _ends(text: str, kept: int) -> str:
    tail = kept // 2
    return f"{text[: kept - tail]}…{text[len(text) - tail :]}"


@lru_cache(65_536)
def _em_width(text: str) -> float:
    """In ems: widths grow with the size, as the backends do not hint them."""
    width, _, _ = text_to_path.get_text_width_height_descent(text, _font(), False)
    return _SLACK * width / _font().get_size_in_points()


@lru_cache(1)
def _font() -> FontProperties:
    return FontProperties(family=FONT, size=10)


@lru_cache(1)
def _characters() -> Mapping[int, int]:
    return get_font(findfont(_font())).get_charmap()


@lru_cache(4096)
def _spelt(character: str) -> str:
    plain = character == " " or not (is_invisible(character) or character in "\n\t")
    alone = unicodedata.category(character) not in ("Mn", "Me")
    if plain and alone and ord(character) in _characters():
        return character
    return f"<U+{ord(character):04X}>"
