"""Calibration: how far one judge agrees with people, with all that the number rests on."""

from collections import Counter
from dataclasses import asdict, dataclass

from sqlite_utils import Database

from annotator.annotation import Annotation, current_annotations
from annotator.labels import DEFAULT_SEED, blind_items, recorded_rubric
from annotator.reference import labels_by_annotator, reference_labels
from judge.calibration.agreement import LabelScores, label_scores
from judge.calibration.confusion import (
    INVALID,
    Confusion,
    View,
    collapsing,
    from_table,
    parseable,
    tally,
)
from judge.calibration.human import HumanAgreement, human_agreement
from judge.calibration.judge_choice import check_rubric, choose_judge, judge_dict
from judge.calibration.pairing import Exclusion, Pair, Pairing, pair_items
from judge.calibration.resampling import LEVEL, RESAMPLES, Kappa, kappa_with_interval, resample
from judge.calibration.sample import Sample, sampled_items, stored_sample
from judge.calibration.sample_size import labels_needed
from judge.store import JudgmentStore, StoredJudge
from rubrics import InputError, Rubric

SIGMAS = ("1", "0")  # a genuine follow-up, and every other category


@dataclass(frozen=True)
class Kappas:
    """Agreement three ways, from one set of resamples: paired, hence comparable.

    `labels` and `sigma` count an unreadable verdict as a disagreement; `parseable` leaves such
    items out and is only to be read beside the number of them.
    """

    labels: Kappa
    sigma: Kappa
    parseable: Kappa

    def as_dict(self) -> dict[str, object]:
        return {
            "labels": self.labels.as_dict(),
            "sigma": self.sigma.as_dict(),
            "parseable": self.parseable.as_dict(),
        }


@dataclass(frozen=True)
class Calibration:
    """The result of `calibrate`, a function of the two stores, the choices made and the seed.

    `other_labels` counts labels under other rubric versions, which are left out. `more_labels`
    estimates how many more bring the interval of kappa within ±0.10; None where unknown.
    """

    rubric: Rubric
    judge: StoredJudge
    other_judges: tuple[StoredJudge, ...]
    reference_rule: str
    annotators: dict[str, int]
    sample: Sample | None
    pairing: Pairing
    other_labels: dict[str, int]
    confusion: Confusion
    sigma_confusion: Confusion
    kappas: Kappas
    label_scores: tuple[LabelScores, ...]
    human: HumanAgreement
    more_labels: int | None
    seed: int
    resamples: int = RESAMPLES

    @property
    def judge_id(self) -> str:
        return self.judge.judge_id

    @property
    def n(self) -> int:
        """Items with both a reference label and a judgment, readable or not."""
        return len(self.pairing.pairs)

    @property
    def exclusions(self) -> tuple[Exclusion, ...]:
        return self.pairing.exclusions

    @property
    def disagreements(self) -> tuple[Pair, ...]:
        return tuple(pair for pair in self.pairing.pairs if not pair.agrees)

    @property
    def invalid(self) -> dict[str, int]:
        """How many verdicts could not be read, by reason."""
        reasons = (pair.judgment.invalid_reason for pair in self.pairing.pairs)
        return dict(sorted(Counter(reason for reason in reasons if reason).items()))

    def as_dict(self, *, texts: bool = False) -> dict[str, object]:
        """For JSON: stable order of keys, no clock, undefined numbers None with their reason.

        The study's texts and the judge's words on them are left out unless `texts` asks for them,
        so that a result can be passed on where the items must not be.
        """
        return {
            "rubric": {"version": self.rubric.version, "hash": self.rubric.hash},
            "judge": judge_dict(self.judge),
            "other_judges": [judge_dict(judge) for judge in self.other_judges],
            "reference": {"rule": self.reference_rule, "annotators": self.annotators},
            "sample": asdict(self.sample) if self.sample else None,
            "n": {
                "items": self.pairing.items,
                "paired": self.n,
                "excluded": self.pairing.items - self.n,
                "invalid": sum(self.invalid.values()),
            },
            "exclusions": [asdict(exclusion) for exclusion in self.exclusions],
            "labels_under_other_rubrics": self.other_labels,
            "invalid": self.invalid,
            "kappa": self.kappas.as_dict(),
            "labels": [scores.as_dict() for scores in self.label_scores],
            "confusion": {
                "labels": self.confusion.as_dict(),
                "sigma": self.sigma_confusion.as_dict(),
            },
            "human": self.human.as_dict(),
            "more_labels": self.more_labels,
            "pairs": [pair.as_dict(texts=texts) for pair in self.pairing.pairs],
            "seed": self.seed,
            "resamples": self.resamples,
            "level": LEVEL,
        }


def calibrate_study(
    pipeline_db: Database,
    labels_db: Database,
    rubric: Rubric,
    judge: str | None = None,
    annotator: str | None = None,
    seed: int = DEFAULT_SEED,
) -> Calibration:
    """Calibrate a judge against the people's labels under `rubric`.

    `judge` is a model name or an id prefix (default: the judge that judged last); `annotator`
    makes one person's labels the reference.

    Raises InputError when there is nothing to compare, saying what to do first, and when labels
    and judgments do not rest on the same rubric text.
    """
    # Two snapshots, so that people may label and a judge may run meanwhile and sums still add up.
    with labels_db.atomic(), pipeline_db.atomic():
        recorded = recorded_rubric(labels_db, rubric.version)
        annotations = current_annotations(labels_db, rubric.version)
        elsewhere = _labels_elsewhere(labels_db, rubric.version, annotator)
        blind = blind_items(labels_db)
        store = JudgmentStore(pipeline_db)
        judges = store.judges(rubric.version)
        _refuse_unlabelled(rubric, annotations, elsewhere)
        chosen = choose_judge(judges, rubric, judge)
        check_rubric(store, chosen, rubric, recorded)
        judgments = store.judgments(chosen.judge_id)
        sampled = sampled_items(pipeline_db)
        sample = stored_sample(pipeline_db)

    references = reference_labels(annotations, rubric, annotator)
    by_annotator = labels_by_annotator(annotations, rubric)
    pairing = pair_items(
        sampled, blind, references, judgments, {i for ids in elsewhere.values() for i in ids}
    )
    _refuse_unpaired(pairing)

    categories = rubric.category_ids
    confusion = tally(
        ((pair.reference, pair.outcome) for pair in pairing.pairs), categories, (INVALID,)
    )
    by_sigma = collapsing([SIGMAS.index(str(category.sigma)) for category in rubric.categories])
    kappas = _kappas(confusion, by_sigma, seed)
    return Calibration(
        rubric=rubric,
        judge=chosen,
        other_judges=tuple(other for other in judges if other != chosen),
        reference_rule=references.rule,
        annotators={name: len(labels) for name, labels in by_annotator.items()},
        sample=sample,
        pairing=pairing,
        other_labels={version: len(ids) for version, ids in elsewhere.items()},
        confusion=confusion,
        sigma_confusion=from_table(by_sigma(confusion.table), SIGMAS, (INVALID,)),
        kappas=kappas,
        label_scores=label_scores(confusion),
        human=human_agreement(by_annotator, categories, seed=seed, resamples=RESAMPLES),
        more_labels=labels_needed(kappas.labels),
        seed=seed,
    )


def _kappas(confusion: Confusion, by_sigma: View, seed: int) -> Kappas:
    table = confusion.table
    draws = resample(table, seed=seed)
    return Kappas(
        labels=kappa_with_interval(table, draws),
        sigma=kappa_with_interval(by_sigma(table), by_sigma(draws)),
        parseable=kappa_with_interval(parseable(table), parseable(draws)),
    )


def _labels_elsewhere(
    labels_db: Database, version: str, annotator: str | None
) -> dict[str, list[str]]:
    """Item ids of current labels by the other rubric version that they were made under."""
    others = [row["version"] for row in labels_db["rubrics"].rows_where(order_by="version")]
    found = {
        other: [
            annotation.item_id
            for annotation in current_annotations(labels_db, other)
            if annotation.kind == "label" and annotator in (None, annotation.annotator)
        ]
        for other in others
        if other != version
    }
    return {other: ids for other, ids in found.items() if ids}


def _refuse_unlabelled(
    rubric: Rubric, annotations: list[Annotation], elsewhere: dict[str, list[str]]
) -> None:
    if any(annotation.kind == "label" for annotation in annotations):
        return
    counts = ", ".join(f"{len(ids)} under {version}" for version, ids in elsewhere.items())
    raise InputError(
        f"no item is labelled under rubric {rubric.version} yet"
        + (f" (labels left out: {counts})" if counts else "")
        + f"; label some: annotate --rubric {rubric.version}"
    )


def _refuse_unpaired(pairing: Pairing) -> None:
    if not pairing.pairs:
        reasons = ", ".join(f"{e.count} {e.reason}" for e in pairing.exclusions)
        raise InputError(
            f"none of {pairing.items} items has both a reference label and a judgment: {reasons}"
        )
