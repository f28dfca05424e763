"""Human–human agreement: how far people agree with each other on the same items."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from annotator.agreement.annotator_influence import AnnotatorInfluence
from annotator.measures.alpha import Alpha
from annotator.measures.kappa import Kappa, kappa_between
from annotator.reference import LabelsByAnnotator


@dataclass(frozen=True)
class AnnotatorPair:
    """Two annotators and their kappa over the items that both labelled."""

    first: str
    second: str
    kappa: Kappa

    def as_dict(self) -> dict[str, object]:
        return {"annotators": [self.first, self.second]} | self.kappa.as_dict()


@dataclass(frozen=True)
class HumanAgreement:
    pairs: tuple[AnnotatorPair, ...]
    alpha: Alpha | None

    def as_dict(self) -> dict[str, object]:
        return {
            "pairs": [pair.as_dict() for pair in self.pairs],
            "alpha": self.alpha.as_dict() if self.alpha else None,
        }


def human_agreement(
    labels: LabelsByAnnotator,
    categories: Sequence[str],
    conversations: Mapping[str, Hashable],
    influence: AnnotatorInfluence | None,
    *,
    seed: int,
) -> HumanAgreement:
    """Kappa of every two annotators, and alpha as `influence` has it of three or more.

    `conversations` says of every item which one it belongs to.
    """

    def pair(first: str, second: str) -> AnnotatorPair:
        both = sorted(labels[first].keys() & labels[second].keys())
        rows = [(conversations[i], labels[first][i], labels[second][i]) for i in both]
        return AnnotatorPair(first, second, kappa_between(rows, categories, seed=seed))

    pairs = tuple(pair(first, second) for first, second in combinations(sorted(labels), 2))
    return HumanAgreement(pairs, _alpha(influence) if influence else None)


def _alpha(influence: AnnotatorInfluence) -> Alpha:
    found = influence.alpha
    return Alpha(
        found.value,
        found.interval,
        found.large_sample,
        influence.items,
        found.units,
        found.undefined,
    )
