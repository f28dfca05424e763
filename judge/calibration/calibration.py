"""Calibration: how far one judge agrees with people, with all that the number rests on."""

from collections import Counter
from dataclasses import asdict, dataclass

from annotator.agreement.annotator_influence import AnnotatorInfluence
from annotator.agreement.human import HumanAgreement
from annotator.agreement.intra_annotator import IntraAnnotator
from annotator.measures.confusion import Confusion
from annotator.measures.interval import LEVEL
from annotator.measures.label_scores import LabelScores
from annotator.measures.replicates import RESAMPLES
from annotator.reference_rule import ReferenceRule
from judge.calibration.consistency import Flips
from judge.calibration.human_ceiling import HumanCeiling
from judge.calibration.judge_choice import judge_dict
from judge.calibration.pair_estimates import Coefficients, Kappas
from judge.calibration.pairing import TIE, Exclusion, Pair, Pairing
from judge.calibration.run_kappas import RunKappas
from judge.calibration.sampling.sample import Sample
from judge.calibration.splits.restriction import Restriction
from judge.reading import Reading
from judge.store import StoredJudge
from rubrics import Rubric


@dataclass(frozen=True)
class Calibration:
    """The result of `calibrate`, a function of the two stores, the choices made and the seed.

    `reading` says what of `runs` runs counts, the first of the judge's `judge_runs`; under
    mean-of-runs each item is in the tables and label scores once per run. `complete_runs` of the
    first have each judged every item of the sample that any has. `flips` is how far the runs agree
    on all that they judged; of a single run it counts nothing. `restriction` is the half of the
    questions that counts.

    `annotator` is whose labels alone are the reference, None for everybody's. `flagged` counts the
    items that somebody flagged for discussion, `other_labels` the labels under other rubric
    versions, which are left out. `more_labels` estimates how many more bring the interval of kappa
    within ±0.10; None where unknown. Where the sample's design gives items weights,
    `effective_items` is how many equal ones they are worth, and every estimate is weighted; the
    tables count items. `run_kappas` sets runs and readings side by side, None of a single run.
    """

    rubric: Rubric
    judge: StoredJudge
    reading: Reading
    runs: int
    judge_runs: int
    complete_runs: int
    flips: Flips
    other_judges: tuple[StoredJudge, ...]
    restriction: Restriction
    rule: ReferenceRule
    reference_rule: str
    annotator: str | None
    annotators: dict[str, int]
    flagged: int
    sample: Sample | None
    pairing: Pairing
    other_labels: dict[str, int]
    confusion: Confusion
    sigma_confusion: Confusion
    kappas: Kappas
    coefficients: Coefficients
    label_scores: tuple[LabelScores, ...]
    effective_items: float | None
    run_kappas: RunKappas | None
    human: HumanAgreement
    ceiling: HumanCeiling
    influence: AnnotatorInfluence | None
    intra: IntraAnnotator
    more_labels: int | None
    seed: int

    @property
    def judge_id(self) -> str:
        return self.judge.judge_id

    @property
    def n(self) -> int:
        """Items with both a reference label and a judgment, readable or not."""
        return len(self.pairing.pairs)

    @property
    def counts_per_item(self) -> int:
        """How often each item is in the tables and label scores."""
        return self.runs if self.reading is Reading.MEAN else 1

    @property
    def conversations(self) -> int:
        """How many different conversations these items belong to."""
        return self.kappas.labels.conversations

    @property
    def ties(self) -> int:
        return self.pairing.excluded(TIE)

    @property
    def exclusions(self) -> tuple[Exclusion, ...]:
        return self.pairing.exclusions

    @property
    def disagreements(self) -> tuple[Pair, ...]:
        return tuple(pair for pair in self.pairing.pairs if not pair.agrees)

    @property
    def invalid(self) -> dict[str, int]:
        """How many verdicts could not be read, by reason."""
        verdicts = (verdict for pair in self.pairing.pairs for verdict in pair.judgments)
        reasons = (verdict.invalid_reason for verdict in verdicts)
        return dict(sorted(Counter(reason for reason in reasons if reason).items()))

    def as_dict(self, *, texts: bool = False, pairs: bool = True) -> dict[str, object]:
        """For JSON: stable order of keys, no clock, undefined numbers None with their reason.

        The study's texts and the judge's words on them are left out unless `texts` asks for them,
        so that a result can be passed on where the items must not be; `pairs` leaves out these.
        """
        return {
            "rubric": {"version": self.rubric.version, "hash": self.rubric.hash},
            "judge": judge_dict(self.judge),
            "reading": {"name": str(self.reading), "runs": self.runs},
            "other_judges": [judge_dict(judge) for judge in self.other_judges],
            "split": self.restriction.as_dict(),
            "reference": {
                "rule": self.reference_rule,
                "annotators": self.annotators,
                "items_by_labels": {str(k): n for k, n in self.pairing.items_by_labels.items()},
                "ties": self.ties,
                "flagged": self.flagged,
            },
            "sample": asdict(self.sample) if self.sample else None,
            "n": {
                "items": self.pairing.items,
                "paired": self.n,
                "conversations": self.conversations,
                "excluded": self.pairing.items - self.n,
                "unlabelled": self.pairing.unlabelled,
                "invalid": sum(self.invalid.values()),
                "effective": self.effective_items,
            },
            "exclusions": [asdict(exclusion) for exclusion in self.exclusions],
            "labels_under_other_rubrics": self.other_labels,
            "invalid": self.invalid,
            "kappa": self.kappas.as_dict(),
            "coefficients": self.coefficients.as_dict(),
            "labels": [scores.as_dict() for scores in self.label_scores],
            "confusion": {
                "labels": self.confusion.as_dict(),
                "sigma": self.sigma_confusion.as_dict(),
            },
            "human": self.human.as_dict()
            | {
                "ceiling": self.ceiling.as_dict(),
                "without_each": self.influence.as_dict() if self.influence else None,
                "intra": self.intra.as_dict(),
            },
            "more_labels": self.more_labels,
            "pairs": [pair.as_dict(texts=texts) for pair in self.pairing.pairs] if pairs else [],
            "seed": self.seed,
            "resamples": RESAMPLES,
            "level": LEVEL,
        } | self._of_several_runs()

    def _of_several_runs(self) -> dict[str, object]:
        """What there is to say only of a judge that has more than one."""
        if self.judge_runs == 1:
            return {}
        return {
            "judge_runs": self.judge_runs,
            "complete_runs": self.complete_runs,
            "counts_per_item": self.counts_per_item,
            "consistency": self.flips.as_dict(),
            "run_kappas": self.run_kappas.as_dict() if self.run_kappas else None,
        }
