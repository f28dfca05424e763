"""The numbers of the dashboard: pure, from one reading of labels.db.

Those that need no resampling come at once; `Resampled` takes longer.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotator.agreement.intra_annotator import IntraAnnotator, intra_annotator
from annotator.annotation import TAKEN_BACK, Annotation
from annotator.dashboard.annotator_figures import AnnotatorFigures, annotator_figures
from annotator.dashboard.hardness import ItemHardness, hardest_items
from annotator.dashboard.label_pairs import LabelPairs, label_pairs
from annotator.dashboard.reading import Reading
from annotator.measures.alpha import Alpha, alpha_with_interval
from annotator.quality.coverage import StudyCoverage, coverage
from annotator.quality.pace import Pace, TimeLeft, pace, time_left
from annotator.reference import LabelsByAnnotator, labels_by_annotator

SIGMA = ("0", "1")


@dataclass(frozen=True)
class Figures:
    """What one reading amounts to. `by_item` holds all that stands of each item, by annotator.

    `labels` are those of categories that the rubric has, without the silent repeats, which are no
    further items; `pairs` and `hardest` are of these, `sigma_pairs` has two labels, 0 and 1.
    """

    reading: Reading
    coverage: StudyCoverage
    time_left: TimeLeft
    labels: LabelsByAnnotator
    pairs: LabelPairs
    sigma_pairs: LabelPairs
    hardest: Sequence[ItemHardness]
    annotators: Sequence[AnnotatorFigures]
    by_item: Mapping[str, Sequence[Annotation]]


@dataclass(frozen=True)
class Resampled:
    """Alpha of the seven labels and of sigma, and everybody's agreement with themselves."""

    labels: Alpha
    sigma: Alpha
    oneself: IntraAnnotator


def figures(reading: Reading) -> Figures:
    rubric, repeats = reading.rubric, reading.items.repeats
    categories = frozenset(rubric.category_ids)
    working = frozenset(
        record.name
        for record in reading.annotators
        if record.disabled_at is None and record.role in (None, "annotator")
    )
    found = coverage(
        reading.items.ids,
        reading.annotations,
        categories,
        gold=frozenset(gold.item_id for gold in reading.gold),
        repeats=repeats.keys(),
        people=working,
        labels_per_item=reading.labels_per_item,
        other_versions=reading.other_versions,
    )
    known = _known(reading)
    items = [said for said in known if said.item_id not in repeats]
    labels = labels_by_annotator(items, rubric)
    pairs = label_pairs(labels, rubric.category_ids)
    by_annotator: dict[str, list[Annotation]] = defaultdict(list)
    by_item: dict[str, list[Annotation]] = defaultdict(list)
    for said in sorted(reading.annotations, key=lambda said: said.annotator):
        by_item[said.item_id].append(said)
    for said in known:
        by_annotator[said.annotator].append(said)
    return Figures(
        reading,
        found,
        time_left(found.missing, _counted(reading, items, known), _pace(reading), at=reading.at),
        labels,
        pairs,
        pairs.grouped([category.sigma for category in rubric.categories]),
        hardest_items(items, rubric),
        [
            annotator_figures(record, by_annotator[record.name], pairs, reading.gold)
            for record in reading.annotators
        ],
        by_item,
    )


def resampled(found: Figures) -> Resampled:
    """What takes resampling, seeded by the study; conversations are what is drawn."""
    reading = found.reading
    rubric, seed, conversations = reading.rubric, reading.seed, reading.items.conversations
    sigma = {category.id: str(category.sigma) for category in rubric.categories}
    raters = found.labels.values()
    return Resampled(
        alpha_with_interval(raters, rubric.category_ids, conversations, seed=seed),
        alpha_with_interval(
            [{item: sigma[label] for item, label in given.items()} for given in raters],
            SIGMA,
            conversations,
            seed=seed,
        ),
        intra_annotator(
            labels_by_annotator(_known(reading), rubric),
            reading.items.repeats,
            rubric.category_ids,
            conversations,
            seed=seed,
        ),
    )


def _known(reading: Reading) -> list[Annotation]:
    """Annotations that count: not taken back, and of a category that the rubric has."""
    categories = {None, *reading.rubric.category_ids}
    return [
        said
        for said in reading.annotations
        if said.skip_reason != TAKEN_BACK and said.category in categories
    ]


def _counted(
    reading: Reading, items: list[Annotation], known: list[Annotation]
) -> list[Annotation]:
    """Those that coverage counts: of gold and repeats too where everybody labels everything."""
    if reading.labels_per_item is None:
        return known
    gold = {each.item_id for each in reading.gold}
    return [said for said in items if said.item_id not in gold]


def _pace(reading: Reading) -> Pace:
    spent = [record.spent_ms for record in reading.annotators if record.spent_ms is not None]
    return pace(_known(reading), spent_ms=sum(spent) if spent else None)
