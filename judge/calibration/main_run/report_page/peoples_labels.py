"""What people said of the items of a run: the reference label and the labels by count, no names."""

from collections import Counter
from dataclasses import asdict, dataclass

from sqlite_utils import Database

from annotator.annotation import TAKEN_BACK
from annotator.labels import open_labels
from annotator.reference_rule import ReferenceRule
from generation.study import Study
from judge.calibration.references import references_of
from judge.calibration.sampling.repeats import repeated_items
from judge.calibration.sampling.sample_store import sampled_items
from rubrics import Rubric


@dataclass(frozen=True)
class PeoplesLabels:
    """`reference` is None where the rule gives none; `counts` are (label, people), the most first;

    `skipped` is how many people gave no label.
    """

    reference: str | None
    counts: tuple[tuple[str, int], ...]
    skipped: int

    def as_dict(self) -> dict[str, object]:
        return asdict(self)


def peoples_labels(
    pipeline_db: Database, study: Study, rubric: Rubric, rule: ReferenceRule
) -> dict[str, PeoplesLabels]:
    """By item hash, of every item of the sample that people said something of under the rubric."""
    if not study.labels.exists():
        return {}
    with open_labels(study.labels) as labels_db:
        references = references_of(
            labels_db, rubric, rule, repeats=repeated_items(pipeline_db).keys()
        )
    hashes = sampled_items(pipeline_db)
    found = {}
    for item_id, said in references.annotations.items():
        labels = Counter(of.category for of in said if of.category is not None)
        skipped = sum(of.category is None and of.skip_reason != TAKEN_BACK for of in said)
        if item_id in hashes and (labels or skipped):
            counts = sorted(labels.items(), key=lambda of: (-of[1], of[0]))
            found[hashes[item_id]] = PeoplesLabels(
                references.labels.get(item_id), tuple(counts), skipped
            )
    return found
