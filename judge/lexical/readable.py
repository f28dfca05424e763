"""The readable part of a turn: its text without template tokens, and why there may be none."""

import re
import unicodedata
import zlib
from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

TEMPLATE_TOKEN = re.compile(
    r"<\|[^<>|\n]{1,40}\|>|<｜[^<>｜\n]{1,40}｜>|</?(?:s|think|bos|eos|pad|unk)>"
    r"|<(?:start|end)_of_turn>|<\|?turn\|?>|\[/?INST\]|\[(?:END|EOS|STOP|DONE)\]",
    re.IGNORECASE,
)
LOOP_PIECES = 3  # equal lines or sentences that make a loop when they are most of the turn
LOOP_SHARE = 0.6  # share of the lines and sentences that are one and the same
LOOP_WORDS = 10  # times that one word follows itself
LOOP_MIN_CHARACTERS = 200  # shorter texts compress badly whatever they say
LOOP_MAX_CHARACTERS = 1000  # looked at; long lists compress well without being loops
LOOP_COMPRESSED = 0.2  # compressed/original bytes; English prose is about 0.5
SALAD_MIN_WORDS = 6
SALAD_SHARE = 0.4  # share of tokens that are no word of any language
SALAD_SCRIPTS = 3  # alphabets within one turn
_NO_WORD = re.compile(
    r"[^\W\d_]*(?:[\d_][^\W\d_]+|[^\W\d_]+[\d_]|[a-z][A-Z])\w*|.*[^\w\s][^\W\d_].*"
)
_PIECE_END = re.compile(r"\n|[.!?]\s")
_JOINERS = re.compile(r"['’\-./@:]")  # signs that stand inside ordinary words and addresses


@dataclass(frozen=True)
class Readable:
    """`text` without template tokens; `fault` says why nothing readable is left, else None."""

    text: str
    tokens: int
    fault: str | None


def read_turn(turn: str) -> Readable:
    """Set template tokens aside and look whether a readable turn is left.

    >>> read_turn("Why 48?<|im_end|>")
    Readable(text='Why 48?', tokens=1, fault=None)
    >>> read_turn("<|im_end|>").fault
    'nothing but 1 template token'
    """
    text, tokens = TEMPLATE_TOKEN.subn(" ", turn)
    text = "".join(sign for sign in text if unicodedata.category(sign) != "Cf").strip()
    return Readable(text, tokens, _fault(turn, text, tokens))


def _fault(turn: str, text: str, tokens: int) -> str | None:
    if not turn:
        return "nothing was written"
    if not text:
        if tokens:
            return f"nothing but {tokens} template token{'s' if tokens > 1 else ''}"
        return f"nothing but {len(turn)} blank or invisible characters"
    if not any(sign.isalnum() for sign in text):
        return f"no letter or digit, only marks: {text[:12]!r}"
    return _loop(text) or _salad(text)


def _loop(text: str) -> str | None:
    pieces = [piece.strip() for piece in _PIECE_END.split(text) if piece.strip()]
    piece, count = Counter(pieces).most_common(1)[0]
    if count >= LOOP_PIECES and count / len(pieces) >= LOOP_SHARE:
        return f"one line or sentence {count} times of {len(pieces)}: {piece[:30]!r}"
    word, run = max(((w, len(list(same))) for w, same in groupby(text.split())), key=itemgetter(1))
    if run >= LOOP_WORDS:
        return f"one word {run} times in a row: {word[:30]!r}"
    original = text[:LOOP_MAX_CHARACTERS].encode()
    ratio = len(zlib.compress(original, 9)) / len(original)
    if len(text) >= LOOP_MIN_CHARACTERS and ratio <= LOOP_COMPRESSED:
        return f"loops: compresses to {ratio:.2f} of its size"
    return None


def _salad(text: str) -> str | None:
    scripts = {unicodedata.name(sign, "?").split()[0] for sign in text if sign.isalpha()} - {
        "MODIFIER",
        "FEMININE",
        "MASCULINE",
        "MATHEMATICAL",
        "MICRO",
        "?",
    }
    # Japanese alone writes with three; count what CJK text uses as one.
    scripts = {
        "CJK" if s in ("HIRAGANA", "KATAKANA", "HANGUL", "FULLWIDTH") else s for s in scripts
    }
    words = text.split()
    if len(words) >= SALAD_MIN_WORDS and len(scripts) >= SALAD_SCRIPTS:
        return f"token salad: {len(scripts)} scripts in {len(words)} words"
    odd = sum(
        bool(_NO_WORD.fullmatch(_JOINERS.sub("", word).strip(".,;:!?()\"'"))) for word in words
    )
    if len(words) >= SALAD_MIN_WORDS and odd / len(words) >= SALAD_SHARE:
        return f"token salad: {odd} of {len(words)} tokens are no words"
    return None
