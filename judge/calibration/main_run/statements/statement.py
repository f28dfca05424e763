"""A statement on a main run: what is said, and the test, the n and the correction behind it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum

ALPHA = 0.05  # of each kind of statement as a whole, after Holm's correction


class Kind(StrEnum):
    """The kinds of statements, each a family of tests of its own for Holm's correction."""

    LATENCY = "latent or absent"
    TEMPERATURE = "with temperature"
    SIZE = "with size"
    LABEL = "dominant label"
    PERTURBATION = "perturbation"
    RUNS = "between runs"


@dataclass(frozen=True)
class Statement:
    """`verdict` is a word or two, "undecided" where the data do not decide; `wording` a sentence.

    The sentence says what was tested, on how many conversations, and the multiplicity correction.
    `p` is the test's own, `adjusted_p` Holm's over the `tests` of its kind; None where there is
    no test, and then the wording says why. `numbers` are those behind it, shares from 0 to 1.
    """

    kind: Kind
    about: str
    verdict: str
    wording: str
    n: int
    p: float | None
    adjusted_p: float | None
    tests: int
    numbers: Mapping[str, float | None]

    def as_dict(self) -> dict[str, object]:
        return asdict(self) | {"kind": str(self.kind), "numbers": dict(self.numbers)}
