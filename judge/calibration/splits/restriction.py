"""One half of the questions: what a calibration or a comparison is restricted to, and says so."""

from dataclasses import asdict, dataclass, replace

from judge.calibration.pairing import Exclusion, Pairing
from judge.calibration.splits.frozen_split import FrozenSplit, part_of
from judge.calibration.splits.opening import Opening
from judge.calibration.splits.split import Split

OTHER_HALF = {
    "dev": "in the test half of the questions",
    "test": "in the dev half of the questions",
}


@dataclass(frozen=True)
class Restriction:
    """Which `part` of the items counts: "all" as long as no split is frozen.

    `openings` is how often the test half was opened in all, `opening` this look at it, if it is
    one. `late` counts the compared items whose query was labelled after the freeze: these are in
    the half that their hash says.
    """

    part: Split | None = None
    split_hash: str | None = None
    openings: int = 0
    opening: Opening | None = None
    late: int = 0

    @property
    def name(self) -> str:
        return self.part or "all"

    def as_dict(self) -> dict[str, object]:
        opening = asdict(self.opening) if self.opening else None
        return {
            "part": self.name,
            "split_hash": self.split_hash,
            "test_openings": self.openings,
            "opening": opening,
            "late": self.late,
        }


def restricted(pairing: Pairing, frozen: FrozenSplit | None, part: Split | None) -> Pairing:
    """The pairs of one half; the others counted as an exclusion. All of them without a part."""
    if part is None:
        return pairing
    pairs = tuple(pair for pair in pairing.pairs if part_of(pair.item, frozen) == part)
    left = len(pairing.pairs) - len(pairs)
    exclusions = pairing.exclusions
    if left:
        exclusions = (*exclusions, Exclusion(OTHER_HALF[part], left))
    return replace(pairing, pairs=pairs, exclusions=exclusions)


def late_items(pairing: Pairing, frozen: FrozenSplit | None) -> int:
    """How many of the pairs' queries were not labelled when the split was frozen."""
    return sum(not frozen.holds(pair.item) for pair in pairing.pairs) if frozen else 0
