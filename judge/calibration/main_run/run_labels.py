"""What people's labels tell of the judge of a run: the study's own, or those of an export."""

from dataclasses import dataclass

import numpy as np
from sqlite_utils import Database

from annotator.annotation import current_annotations
from annotator.labels import open_labels, recorded_rubric
from annotator.reference import unnamed
from annotator.reference_rule import ReferenceRule
from generation.study import DEFAULT_SEED, Study
from judge.calibration.judge_choice import check_rubric
from judge.calibration.main_run.exported_labels import exported_labels
from judge.calibration.main_run.judge_quality import JudgeQuality, found_kappa, unknown_quality
from judge.calibration.main_run.selection import Selection
from judge.calibration.pairing import TIE
from judge.calibration.rates.judged_turns import JudgedTurns, study_pairing
from judge.calibration.rates.labelled_items import LabelledItems, labelled_items
from judge.calibration.sampling.design import Sample
from judge.calibration.sampling.sample_store import stored_sample
from judge.calibration.study_calibration import calibrate_study
from judge.exported import Export
from judge.plural import counted
from judge.reading import Reading
from judge.store import JudgmentStore
from rubrics import InputError, Rubric


@dataclass(frozen=True)
class Choices:
    """What a report is asked for besides its runs; None is the default of `calibrate`."""

    judge: str | None = None
    reading: Reading | None = None
    judge_runs: int | None = None
    rule: ReferenceRule = ReferenceRule.MAJORITY
    seed: int = DEFAULT_SEED


@dataclass(frozen=True)
class RunLabels:
    """What people's labels tell; without `items` the quality's source says why there are none."""

    items: LabelledItems | None
    quality: JudgeQuality
    rule: str | None
    sample: Sample | None


def run_labels(
    pipeline_db: Database,
    study: Study,
    rubric: Rubric,
    judged: JudgedTurns,
    selection: Selection,
    choices: Choices,
    export: Export | None,
) -> RunLabels:
    """The study's labels under the rubric; with an export its kappa.

    Where the study has no labels, the export's items stand in. Raises InputError where labels do
    not rest on the rubric's text.
    """
    sample = stored_sample(pipeline_db)
    own = _own_labels(pipeline_db, study, rubric, judged, selection, choices, sample)
    if export is None:
        return own
    first = max(judged.conversations.values(), default=-1) + 1
    exported = exported_labels(export, first_conversation=first)
    if own.items is not None:
        return RunLabels(own.items, exported.quality, own.rule, sample)
    n = exported.labelled.n
    elsewhere = f"the labels are those of {exported.quality.source}, no sample of these turns"
    items = LabelledItems(exported.labelled, np.ones(n), ({},) * n, undrawn=elsewhere)
    return RunLabels(items, exported.quality, exported.rule, None)


def _own_labels(
    pipeline_db: Database,
    study: Study,
    rubric: Rubric,
    judged: JudgedTurns,
    selection: Selection,
    choices: Choices,
    sample: Sample | None,
) -> RunLabels:
    """What the study's own labels tell of the judge."""
    if not study.labels.exists():
        reason = "nobody has labelled: the study has no labels.db"
        return RunLabels(None, unknown_quality(reason), None, sample)
    with open_labels(study.labels) as labels_db, labels_db.atomic():
        if not any(of.kind == "label" for of in current_annotations(labels_db, rubric.version)):
            reason = f"nobody has labelled under rubric {rubric.version}"
            return RunLabels(None, unknown_quality(reason), None, sample)
        store = JudgmentStore(pipeline_db)
        check_rubric(store, judged.judge, rubric, recorded_rubric(labels_db, rubric.version))
        paired = study_pairing(pipeline_db, labels_db, rubric, judged, rule=choices.rule)
        if not paired.pairing.pairs:
            left = ", ".join(f"{of.count} {of.reason}" for of in paired.pairing.exclusions)
            reason = f"none of {paired.pairing.items} items is labelled and judged: {left}"
            return RunLabels(None, unknown_quality(reason), None, sample)
        ties = paired.pairing.excluded(TIE)
        rule = unnamed(paired.rule)
        rule += f", {counted(ties, 'item')} left out as tied" if ties else ""
        quality = _quality(pipeline_db, labels_db, rubric, judged, choices, rule)
    items = labelled_items(
        pipeline_db, paired.pairing.pairs, rubric, judged, sample, selection.run_ids
    )
    return RunLabels(items, quality, rule, sample)


def _quality(
    pipeline_db: Database,
    labels_db: Database,
    rubric: Rubric,
    judged: JudgedTurns,
    choices: Choices,
    rule: str,
) -> JudgeQuality:
    try:
        found = calibrate_study(
            pipeline_db,
            labels_db,
            rubric,
            judged.judge.judge_id,
            seed=choices.seed,
            reading=judged.reading if judged.runs > 1 else None,
            runs=judged.runs,
            rule=choices.rule,
        )
    except InputError as error:  # such as a dev half without a labelled item: a gap, named
        return unknown_quality(str(error))
    half = f", {found.restriction.part} half" if found.restriction.part else ""
    return JudgeQuality(
        found_kappa(found.kappas.labels),
        found_kappa(found.kappas.sigma),
        f"this study's labels: {rule}{half}",
        found.confusion,
        found,
    )
