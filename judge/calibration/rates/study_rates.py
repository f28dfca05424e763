"""From a study's two stores to its rates of genuine follow-ups."""

from sqlite_utils import Database

from annotator.annotation import current_annotations
from annotator.labels import recorded_rubric
from annotator.measures.misclassification import judge_errors
from annotator.reference_rule import ReferenceRule
from judge.calibration.judge_choice import check_rubric
from judge.calibration.pairing import Pairing
from judge.calibration.rates.cell_rates import cell_rates, whole_rate
from judge.calibration.rates.correction import outcome_sigmas
from judge.calibration.rates.judged_turns import judged_turns, study_pairing
from judge.calibration.rates.labelled_items import labelled_items
from judge.calibration.rates.rate import StudyRates
from judge.calibration.sampling.sample_store import stored_sample
from judge.reading import Reading
from judge.store import JudgmentStore
from rubrics import InputError, Rubric


def study_rates(
    pipeline_db: Database,
    labels_db: Database,
    rubric: Rubric,
    *,
    judge: str | None = None,
    annotator: str | None = None,
    reading: Reading | None = None,
    runs: int | None = None,
    rule: ReferenceRule = ReferenceRule.MAJORITY,
) -> StudyRates:
    """Rates of the whole run and of every cell, by one judge; the choices are `calibrate_study`'s.

    Raises InputError when nothing is labelled or judged, when labels and judgments do not rest on
    the same rubric text, when the judge has fewer runs, and for a reading that does not fit them.
    """
    with labels_db.atomic(), pipeline_db.atomic():
        judged = judged_turns(pipeline_db, rubric, judge=judge, reading=reading, runs=runs)
        _refuse_unlabelled(labels_db, rubric)
        store = JudgmentStore(pipeline_db)
        check_rubric(store, judged.judge, rubric, recorded_rubric(labels_db, rubric.version))
        paired = study_pairing(
            pipeline_db, labels_db, rubric, judged, rule=rule, annotator=annotator
        )
        _refuse_unpaired(paired.pairing)
        sample = stored_sample(pipeline_db)
        labelled = labelled_items(pipeline_db, paired.pairing.pairs, rubric, judged, sample)

    sigmas = outcome_sigmas(rubric)
    return StudyRates(
        rubric=rubric,
        judge=judged.judge,
        reading=judged.reading,
        runs=judged.runs,
        reference_rule=paired.rule,
        sample=sample,
        pairing=paired.pairing,
        errors=judge_errors(labelled.everywhere.regrouped(sigmas, sigmas[:-1])),
        whole=whole_rate(judged.verdicts, labelled, rubric),
        cells=cell_rates(judged.verdicts, labelled, rubric),
    )


def _refuse_unlabelled(labels_db: Database, rubric: Rubric) -> None:
    if any(said.kind == "label" for said in current_annotations(labels_db, rubric.version)):
        return
    raise InputError(
        f"no item is labelled under rubric {rubric.version} yet, and without labels the judge's "
        "errors are unknown; draw a sample of this study and label it: calibrate sample"
    )


def _refuse_unpaired(pairing: Pairing) -> None:
    if not pairing.pairs:
        reasons = ", ".join(f"{e.count} {e.reason}" for e in pairing.exclusions)
        raise InputError(
            f"none of {pairing.items} items is both labelled and judged: {reasons}; "
            "label more: annotate"
        )
