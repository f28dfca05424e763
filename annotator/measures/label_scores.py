"""How well the judge finds each label, people's labels being the reference."""

from collections.abc import Mapping
from dataclasses import dataclass

from annotator.measures.confusion import Confusion
from annotator.measures.estimate import Estimate

SCORES = ("precision", "recall", "f1", "kappa")


@dataclass(frozen=True)
class LabelScores:
    """The scores of one category; `kappa` is that of the category against all others.

    `support` counts reference labels, `judged` the judge's, `hits` both. A score whose whole is 0
    has no value but a reason; it is never 0. F1 is also called positive specific agreement.
    """

    category: str
    support: int
    judged: int
    hits: int
    precision: Estimate
    recall: Estimate
    f1: Estimate
    kappa: Estimate

    @property
    def undefined(self) -> dict[str, str]:
        """Why a score has no value, by its name."""
        return {name: score.undefined for name, score in self._scores.items() if score.undefined}

    @property
    def _scores(self) -> dict[str, Estimate]:
        return {name: getattr(self, name) for name in SCORES}

    def as_dict(self) -> dict[str, object]:
        return {
            "category": self.category,
            "support": self.support,
            "judged": self.judged,
            "hits": self.hits,
            **{name: score.value for name, score in self._scores.items()},
            "intervals": {name: score.interval.as_dict() for name, score in self._scores.items()},
            "undefined": self.undefined,
        }


def label_scores(
    confusion: Confusion, estimates: Mapping[str, Estimate]
) -> tuple[LabelScores, ...]:
    """Scores of every category, in the rubric's order.

    `estimates` has those of category k as `label_measures` gives them with the prefix "k ".
    """
    table = confusion.table
    supports, judged = table.sum(axis=1).tolist(), table.sum(axis=0).tolist()
    return tuple(
        LabelScores(
            category,
            supports[k],
            judged[k],
            int(table[k, k]),
            **{name: estimates[f"{k} {name}"] for name in SCORES},
        )
        for k, category in enumerate(confusion.categories)
    )
