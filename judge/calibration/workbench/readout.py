"""One judge's calibration as the page needs it: the numbers of `--json`, and a row per item."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlite_utils import Database

from annotator.measures.confusion import outcome_of
from annotator.measures.sample_size import labels_needed
from annotator.reference_rule import ReferenceRule
from judge.calibration.calibration import Calibration
from judge.calibration.pairing import Pair
from judge.calibration.report import wording
from judge.calibration.sampling.strata import Feature, features_of
from judge.calibration.study_calibration import calibrate_study
from judge.store import StoredJudge
from rubrics import Rubric

FEATURES = (Feature.MODEL, Feature.DATASET, Feature.TEMPERATURE, Feature.PERTURBATION)
HALF_WIDTH = 0.05  # of the interval that the overview plans for


@dataclass(frozen=True, slots=True)
class ItemRow:
    """A compared item without its texts: these are read when it is looked at.

    `counted` are the outcomes that the tables count, `runs` those of every run; `labels` is what
    each annotator said, None for a skip; `features` are those of FEATURES, in order.
    """

    item_id: str
    item_hash: str
    reference: str
    counted: tuple[str, ...]
    runs: tuple[str, ...]
    labels: tuple[tuple[str, str | None], ...]
    features: tuple[str, ...]

    @property
    def outcome(self) -> str | None:
        """The one outcome that counts; None where runs differ."""
        return self.counted[0] if len(set(self.counted)) == 1 else None

    @property
    def agrees(self) -> bool:
        return self.outcome == self.reference

    @property
    def stable(self) -> bool:
        return len(set(self.runs)) == 1


@dataclass(frozen=True)
class Readout:
    """`result` is what `calibrate --json` prints, but for the pairs, which are `rows`.

    `more_labels` is how many more bring the interval of kappa within ±0.05, None where unknown.
    """

    judge: StoredJudge
    rubric: Rubric
    result: Mapping[str, Any]
    rows: tuple[ItemRow, ...]
    more_labels: int | None
    left_out: tuple[str, ...]
    headline: str


def read_out(
    pipeline_db: Database,
    labels_db: Database,
    rubric: Rubric,
    judge: StoredJudge,
    rule: ReferenceRule,
) -> Readout:
    """Calibrate and keep what the page shows; raises InputError as `calibrate_study` does."""
    calibration = calibrate_study(pipeline_db, labels_db, rubric, judge=judge.judge_id, rule=rule)
    return readout_of(pipeline_db, calibration)


def readout_of(pipeline_db: Database, calibration: Calibration) -> Readout:
    features = [features_of(pipeline_db, feature) for feature in FEATURES]
    rows = tuple(_row(pair, features) for pair in calibration.pairing.pairs)
    return Readout(
        judge=calibration.judge,
        rubric=calibration.rubric,
        result=calibration.as_dict(pairs=False),
        rows=rows,
        more_labels=labels_needed(calibration.kappas.labels, HALF_WIDTH),
        left_out=tuple(wording.left_out(calibration)),
        headline=wording.headline(calibration),
    )


def _row(pair: Pair, features: list[Mapping[str, str]]) -> ItemRow:
    item_hash = pair.item.hash
    return ItemRow(
        pair.item_id,
        item_hash,
        sys.intern(pair.reference),
        tuple(map(sys.intern, pair.outcomes)),
        tuple(sys.intern(outcome_of(said.label)) for said in pair.runs),
        tuple(
            (sys.intern(said.annotator), said.category and sys.intern(said.category))
            for said in pair.annotations
        ),
        tuple(sys.intern(values.get(item_hash, "unknown")) for values in features),
    )
