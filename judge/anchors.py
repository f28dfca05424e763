"""Anchors: items of a calibration with the labels they got, to notice a judge that has drifted."""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from generation.item import Item, is_storable, messages_from
from rubrics import InputError, canonical_json

SIGNIFICANT = 0.01  # one false alarm in a hundred checks of a judge that has not changed

# What two runs of a judge may differ by when nobody has measured it: flip rates of a few percent
# are usual at temperature 0, since servers batch and round differently from call to call.
UNMEASURED_RATE = 0.05

# A measured rate of 0 comes from a finite number of items, and the server's arithmetic is never
# promised to repeat: a single changed label must not stop a main run.
LEAST_RATE = 0.01


@dataclass(frozen=True)
class Anchor:
    """An item, and the label that each run of the calibrated judge gave it; None: unreadable."""

    item: Item
    labels: tuple[str | None, ...]


@dataclass(frozen=True)
class Drift:
    """How many of n anchors got another label than at calibration, and whether that is too many.

    `p_value` is the chance of as many or more when two runs differ on `expected_rate` of items.
    """

    n: int
    changed: int
    expected_rate: float
    p_value: float
    drifted: bool

    def describe(self) -> str:
        """One line for people.

        >>> Drift(50, 8, 0.05, 0.003188, True).describe()
        '8 of 50 anchors got another label; about 2.5 were expected (5 %); p = 0.003'
        """
        anchors = "anchor" if self.n == 1 else "anchors"
        chance = "p < 0.001" if self.p_value < 0.001 else f"p = {self.p_value:.3f}"
        return (
            f"{self.changed} of {self.n} {anchors} got another label; about "
            f"{self.n * self.expected_rate:.1f} were expected ({100 * self.expected_rate:.3g} %); "
            f"{chance}"
        )


def anchor_lines(anchors: Iterable[Anchor]) -> bytes:
    """Anchors as JSON lines."""
    return b"".join(
        canonical_json(
            {
                "messages": [message.as_dict() for message in anchor.item.messages],
                "answer": anchor.item.answer,
                "turn": anchor.item.turn,
                "labels": list(anchor.labels),
            }
        ).encode()
        + b"\n"
        for anchor in anchors
    )


def read_anchors(content: bytes) -> tuple[Anchor, ...]:
    """Anchors from JSON lines; raises InputError naming the first line that is none."""
    # Bytes are split at line feeds alone: a text may hold U+2028 or other ends of line.
    lines = content.removesuffix(b"\n").split(b"\n") if content else []
    return tuple(_anchor(line, number) for number, line in enumerate(lines, start=1))


def expected_flip_rate(measured: float | None) -> float:
    """On which share of items two runs of an unchanged judge are taken to differ.

    The measured one (mean pairwise disagreement between runs) but no less than 1 %; 5 % where the
    judge has a single run, so that none could be measured.
    """
    return UNMEASURED_RATE if measured is None else max(measured, LEAST_RATE)


def drift(anchors: Sequence[Anchor], fresh: Sequence[str | None], expected_rate: float) -> Drift:
    """Compare one new run over the anchors with the first run at calibration.

    One-sided exact binomial test, P(X ≥ changed | n, expected rate); drifted where p < 0.01. Two
    unreadable verdicts are alike. Raises InputError when there are no anchors, and ValueError when
    there is not one fresh label per anchor.
    """
    if not anchors:
        raise InputError(
            "the export has no anchors to judge again; make a new one: calibrate export"
        )
    pairs = zip(anchors, fresh, strict=True)
    changed = sum(anchor.labels[0] != label for anchor, label in pairs)
    p_value = upper_tail(changed, len(anchors), expected_rate)
    return Drift(len(anchors), changed, expected_rate, p_value, p_value < SIGNIFICANT)


def upper_tail(least: int, n: int, rate: float) -> float:
    """P(X ≥ least) of a binomial X: Σ C(n, x) rateˣ (1 - rate)ⁿ⁻ˣ for x from `least` to n.

    >>> upper_tail(0, 50, 0.05), upper_tail(2, 2, 0.5)
    (1.0, 0.25)
    """
    if least <= 0:
        return 1.0
    terms = (math.comb(n, x) * rate**x * (1 - rate) ** (n - x) for x in range(least, n + 1))
    return min(1.0, math.fsum(terms))


def _anchor(line: bytes, number: int) -> Anchor:
    try:
        row = json.loads(line)
        answer, turn, labels = row["answer"], row["turn"], row["labels"]
        intact = all(isinstance(text, str) and is_storable(text) for text in (answer, turn))
        intact = intact and isinstance(labels, list) and len(labels) > 0
        intact = intact and all(label is None or isinstance(label, str) for label in labels)
        messages = messages_from(row["messages"])
    except (ValueError, KeyError, TypeError, RecursionError, InputError):
        intact = False
    if not intact:
        raise InputError(
            f"line {number} is no anchor; expected messages, answer, turn and labels; "
            "export again: calibrate export"
        )
    return Anchor(Item(messages, answer, turn), tuple(labels))
