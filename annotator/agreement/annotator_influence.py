"""Whose labels lower people's agreement: alpha without each annotator in turn."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.measures.alpha import alpha_bound, alpha_features, alphas
from annotator.measures.confusion import positions
from annotator.measures.estimate import Estimate, Measure, estimates
from annotator.measures.interval import Interval
from annotator.measures.kappa import cluster_numbers
from annotator.measures.layout import Layout
from annotator.measures.replicates import Sums
from annotator.measures.table_measures import CORRELATION
from annotator.measures.units import gather, patterns
from annotator.reference import LabelsByAnnotator

ONE_LABEL = "fewer than two labels in use"
NO_ITEMS = "no item has two labels"


@dataclass(frozen=True)
class WithoutAnnotator:
    """Alpha of the others over the `items` with two of their labels, and its `change` from all's.

    A change above 0 means that this annotator lowers the agreement.
    """

    annotator: str
    items: int
    alpha: Estimate
    change: Estimate

    @property
    def lowers(self) -> bool:
        """Whether the whole interval of the change is above 0."""
        return self.change.interval.low is not None and self.change.interval.low > 0

    def as_dict(self) -> dict[str, object]:
        return {
            "annotator": self.annotator,
            "items": self.items,
            "alpha": self.alpha.as_dict(),
            "change": self.change.as_dict() | {"two_sided_p": self.change.two_sided_p},
            "lowers": self.lowers,
        }


@dataclass(frozen=True)
class AnnotatorInfluence:
    """Krippendorff's nominal alpha of all annotators, and without each, in order of name."""

    alpha: Estimate
    items: int
    without: tuple[WithoutAnnotator, ...]

    def as_dict(self) -> dict[str, object]:
        return {
            "alpha": self.alpha.as_dict(),
            "items": self.items,
            "without": [left_out.as_dict() for left_out in self.without],
        }


def annotator_influence(
    labels: LabelsByAnnotator,
    categories: Sequence[str],
    conversations: Mapping[str, Hashable],
    *,
    seed: int,
) -> AnnotatorInfluence | None:
    """All alphas from one set of resamples; None of fewer than three annotators.

    `conversations` says of every item which one it belongs to. Raises InputError for a label
    outside the categories.
    """
    names = sorted(name for name, given in labels.items() if given)
    if len(names) < 3:
        return None
    number = positions(categories)
    items = sorted({item_id for name in names for item_id in labels[name]})
    ratings = [
        [number(labels[name][i]) if i in labels[name] else -1 for name in names] for i in items
    ]
    found = patterns(np.array(ratings, dtype=np.int64).reshape(len(items), len(names)))
    given = (found.rows[:, :, np.newaxis] == np.arange(len(categories))).astype(np.int64)
    counts = {None: given.sum(axis=1)}  # by who is left out
    counts |= {name: counts[None] - given[:, k] for k, name in enumerate(names)}
    layout = Layout({_block(name): (1 + len(categories),) for name in counts})
    units = gather(
        layout.pack({_block(name): _features(of) for name, of in counts.items()}),
        found.of_item,
        clusters=cluster_numbers([conversations[item_id] for item_id in items]),
    )
    measures = [_alpha(layout, name) for name in counts]
    measures += [_change(layout, name) for name in names]
    estimated = estimates(units, measures, seed=seed)
    times = np.bincount(found.of_item, minlength=len(found.rows))
    paired = {name: int(times @ (of.sum(axis=1) >= 2)) for name, of in counts.items()}
    return AnnotatorInfluence(
        estimated[_block(None)],
        paired[None],
        tuple(
            WithoutAnnotator(
                name, paired[name], estimated[_block(name)], estimated[f"change {name}"]
            )
            for name in names
        ),
    )


def _block(left_out: str | None) -> str:
    return "alpha" if left_out is None else f"alpha without {left_out}"


def _features(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Alpha's features (P, 1 + K), 0 of patterns with fewer than two labels."""
    features = np.zeros((len(counts), 1 + counts.shape[1]))
    pairable = counts.sum(axis=1) >= 2
    features[pairable] = alpha_features(counts[pairable])
    return features


def _alpha(layout: Layout, left_out: str | None) -> Measure:
    block = _block(left_out)

    def bound(total: Sums, units: int) -> Interval | None:
        return alpha_bound(layout.pick(total, block), units)

    return Measure(
        block,
        lambda sums: alphas(layout.pick(sums, block)),
        lambda total: _reason(layout.pick(total, block)),
        bound,
        CORRELATION,
    )


def _change(layout: Layout, left_out: str) -> Measure:
    block, of_all = _block(left_out), _block(None)

    def change(sums: Sums) -> NDArray[np.float64]:
        return alphas(layout.pick(sums, block)) - alphas(layout.pick(sums, of_all))

    return Measure(
        f"change {left_out}",
        change,
        lambda total: _reason(layout.pick(total, of_all)) or _reason(layout.pick(total, block)),
    )


def _reason(total: Sums) -> str:
    """Why alpha has no value, empty where it has."""
    used = int((total[1:] > 0).sum())
    return "" if used > 1 else ONE_LABEL if used else NO_ITEMS
