"""Self-consistency: how far a judge repeats itself over its runs on the same items."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass

from annotator.measures.alpha import Alpha, alpha_with_interval
from annotator.measures.confusion import INVALID, outcome_of

SINGLE_RUN = "a single run, and consistency takes two"
NO_ITEMS = "no item is judged in every run"

Runs = Mapping[str, Sequence[str | None]]  # by item, each run's label; None: unreadable


@dataclass(frozen=True)
class Flips:
    """How often a judge contradicts itself, over the items that all of its runs have judged.

    `flip_rate` is the share of items whose runs do not all say the same; it grows with the number
    of runs. `pairwise` is the share on which two runs differ, the mean over all pairs of runs:
    what two fresh runs would differ by. An unreadable verdict is an outcome of its own; `invalid`
    counts them run by run. Both rates are None where `undefined` says why.
    """

    items: int
    runs: int
    flip_rate: float | None
    pairwise: float | None
    invalid: tuple[int, ...]
    undefined: str | None = None

    def as_dict(self) -> dict[str, object]:
        return asdict(self) | {"invalid": list(self.invalid)}


@dataclass(frozen=True)
class Consistency:
    """Flips, and nominal alpha with the runs as the raters: the same beyond chance."""

    flips: Flips
    alpha: Alpha

    def as_dict(self) -> dict[str, object]:
        return self.flips.as_dict() | {"alpha": self.alpha.as_dict()}


def flips(labels: Runs, runs: int) -> Flips:
    """Count the flips of `runs` runs over the items that all of them have judged.

    An item whose k runs say each outcome c nᶜ times has k² - Σn² disagreeing pairs out of
    k(k - 1), ordered ones; its items' sum is divided once, in whole numbers.
    """
    invalid = tuple(sum(said[run] is None for said in labels.values()) for run in range(runs))
    reason = SINGLE_RUN if runs < 2 else None if labels else NO_ITEMS
    if reason:
        return Flips(len(labels), runs, None, None, invalid, reason)
    counts = [Counter(said).values() for said in labels.values()]
    flipped = sum(len(of_item) > 1 for of_item in counts)
    disagreeing = sum(runs**2 - sum(n**2 for n in of_item) for of_item in counts)
    pairs = len(labels) * runs * (runs - 1)
    return Flips(len(labels), runs, flipped / len(labels), disagreeing / pairs, invalid)


def consistency(
    labels: Runs,
    runs: int,
    categories: Sequence[str],
    conversations: Mapping[str, Hashable],
    *,
    seed: int,
) -> Consistency:
    """Flips and alpha over runs; `conversations` says of every item which one it belongs to.

    The interval of alpha resamples conversations and holds the runs fixed.
    """
    raters = [{item: outcome_of(said[run]) for item, said in labels.items()} for run in range(runs)]
    alpha = alpha_with_interval(raters, (*categories, INVALID), conversations, seed=seed)
    return Consistency(flips(labels, runs), alpha)
