"""What counts as quoting a text: a run of its words, wherever lines, case or quotes differ."""

import re
import unicodedata
from collections.abc import Iterator

RUN = 12  # words in a row that two texts hardly share by chance
SHORTEST = 5  # words; a shorter text cannot be told from a common phrase

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
# Chinese has no blanks between words: each of its characters counts as one.
_WORD = re.compile(rf"[{_HAN}]|[^\W{_HAN}]+")
_UNSEEN = re.compile(r"[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")
_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(["\\/])|[nrtbf])')

Words = tuple[str, ...]


class Quoting:
    """A text that may quote others; asked many times, read once."""

    def __init__(self, text: str) -> None:
        # Examples are rendered in JSON quotes, where a line feed is \n and would join a word.
        readings = [words(text), words(_unescaped(text))]
        self._runs = {
            length: {run for reading in readings for run in runs(reading, length)}
            for length in range(SHORTEST, RUN + 1)
        }

    def quotes(self, source: Words) -> Words | None:
        """The first run of `source` that the text holds, or None.

        A source of 12 words or more is quoted by any 12 of them in a row, one of 5 to 11 by all
        of it. One under 5 words ("Are you sure?") is never taken as quoted.
        """
        length = min(RUN, len(source))
        if length < SHORTEST or self._runs[length].isdisjoint(runs(source, length)):
            return None
        return next(run for run in runs(source, length) if run in self._runs[length])


def words(text: str) -> Words:
    """Words for comparing: NFC, case folded, without invisible characters and punctuation.

    >>> words("Why 48? – It's (half)\\n of THAT.")
    ('why', '48', 'it', 's', 'half', 'of', 'that')
    """
    folded = unicodedata.normalize("NFC", _UNSEEN.sub("", text)).casefold()
    return tuple(_WORD.findall(unicodedata.normalize("NFC", folded)))


def runs(source: Words, length: int) -> Iterator[Words]:
    """Every run of so many words in a row."""
    return zip(*(source[start:] for start in range(length)), strict=False)


def _unescaped(text: str) -> str:
    """The text with JSON escapes undone; one that stands for white space becomes a blank."""
    return _ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else m[2] or " ", text)
