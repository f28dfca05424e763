"""Colours, markers, dashes and hatches that are told apart in grey and by the colour-blind."""

from dataclasses import dataclass
from itertools import combinations, pairwise

BLACK, BLUE, VERMILION, GREEN = "#000000", "#0072B2", "#D55E00", "#009E73"
PURPLE, SKY, ORANGE, YELLOW = "#CC79A7", "#56B4E9", "#E69F00", "#F0E442"
# Okabe and Ito's eight (Color Universal Design, 2008), from light to dark.
PALETTE = (YELLOW, ORANGE, SKY, PURPLE, GREEN, VERMILION, BLUE, BLACK)
MOST = len(PALETTE)  # series in one panel
SOLID = "-"
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_DASHES = (
    (),
    (5, 1.5),
    (1, 1.2),
    (5, 1.5, 1, 1.5),
    (2.5, 1.2),
    (9, 2),
    (3, 1, 1, 1, 1, 1),
    (9, 1.5, 1, 1.5),
)
# Light next to dark, so that an edge between neighbours is seen in grey.
_FILLS = (BLUE, YELLOW, VERMILION, SKY, GREEN, ORANGE, PURPLE)
_HATCHES = ("", "....", "\\\\\\\\", "", "////", "----", "xxxx")


@dataclass(frozen=True)
class Series:
    """How one of several lines is drawn; `dashes` are on and off in line widths, () is solid."""

    colour: str
    marker: str
    dashes: tuple[float, ...]

    @property
    def line(self) -> tuple[float, tuple[float, ...]] | str:
        return (0, self.dashes) if self.dashes else SOLID


@dataclass(frozen=True)
class Fill:
    """How one part of a bar is drawn."""

    colour: str
    hatch: str


NO_LABEL = Fill("#f2f2f2", "++++")  # of verdicts that could not be read


def series(n: int) -> tuple[Series, ...]:
    """Of n ≤ MOST lines, from light to dark: the colours that are furthest apart in lightness.

    Yellow, faint on white, is taken when no other is left.
    """
    colours = PALETTE[1:] if n < MOST else PALETTE
    return tuple(map(Series, _apart(colours, n), _MARKERS, _DASHES[:n]))


def fills(n: int) -> tuple[Fill, ...]:
    """Of n neighbours in a bar; beyond seven, colours come again with another hatch."""
    count = len(_FILLS)
    return tuple(Fill(_FILLS[k % count], _HATCHES[(k + k // count) % count]) for k in range(n))


def lightness(colour: str) -> float:
    """CIE L* of an sRGB colour such as #0072B2, 0 to 100 (IEC 61966-2-1; CIE 15:2004).

    >>> [round(lightness(colour)) for colour in ("#000000", "#0072B2", "#FFFFFF")]
    [0, 46, 100]
    """
    channels = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    y = sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    return 116 * y ** (1 / 3) - 16 if y > 216 / 24389 else y * 24389 / 27


def _apart(colours: tuple[str, ...], n: int) -> tuple[str, ...]:
    if n == 1:
        return (BLUE,)
    return max(
        combinations(colours, n),
        key=lambda chosen: sorted(abs(lightness(a) - lightness(b)) for a, b in pairwise(chosen)),
    )
