"""Human–human agreement: how far people agree with each other on the same items."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations

from annotator.reference import LabelsByAnnotator
from judge.calibration.agreement import nominal_alpha
from judge.calibration.confusion import tally
from judge.calibration.resampling import Kappa, kappa_with_interval, resample


@dataclass(frozen=True)
class AnnotatorPair:
    """Two annotators and their kappa over the items that both labelled."""

    first: str
    second: str
    kappa: Kappa

    def as_dict(self) -> dict[str, object]:
        return {"annotators": [self.first, self.second]} | self.kappa.as_dict()


@dataclass(frozen=True)
class Alpha:
    """Krippendorff's nominal alpha of three or more annotators; `items` have two labels or more."""

    value: float | None
    items: int
    undefined: str | None = None

    def as_dict(self) -> dict[str, object]:
        return asdict(self)


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
    labels: LabelsByAnnotator, categories: Sequence[str], *, seed: int, resamples: int
) -> HumanAgreement:
    """Kappa of every two annotators, and alpha where there are three or more."""
    pairs = tuple(
        AnnotatorPair(first, second, _kappa(labels, first, second, categories, seed, resamples))
        for first, second in combinations(sorted(labels), 2)
    )
    return HumanAgreement(pairs, _alpha(labels, categories) if len(labels) >= 3 else None)


def _kappa(
    labels: LabelsByAnnotator,
    first: str,
    second: str,
    categories: Sequence[str],
    seed: int,
    resamples: int,
) -> Kappa:
    both = sorted(labels[first].keys() & labels[second].keys())
    pairs = ((labels[first][item_id], labels[second][item_id]) for item_id in both)
    table = tally(pairs, categories).table
    return kappa_with_interval(table, resample(table, seed=seed, resamples=resamples))


def _alpha(labels: LabelsByAnnotator, categories: Sequence[str]) -> Alpha:
    value, items = nominal_alpha(labels.values(), categories)
    reason = "fewer than two labels in use" if items else "no item has two labels"
    return Alpha(value, items, reason if value is None else None)
