"""From a study's two stores to a judged main run."""

import hashlib
from collections.abc import Mapping

import numpy as np
from sqlite_utils import Database

from annotator.measures.double_sample import Labelled
from annotator.measures.misclassification import judge_errors
from generation.runs.run_counts import answer_counts, changed_counts
from generation.study import Study
from judge.calibration.judge_choice import check_judged_under, judge_name
from judge.calibration.main_run.main_run import (
    NOT_JUDGED,
    NOT_RUN,
    Accuracy,
    CellRate,
    Changed,
    MainRun,
    model_names,
)
from judge.calibration.main_run.model_facts import ModelFacts, facts_of
from judge.calibration.main_run.run_labels import Choices, RunLabels, run_labels
from judge.calibration.main_run.selection import Selection
from judge.calibration.rates.cell_rates import cell_rates, uncorrected_rates, whole_rate
from judge.calibration.rates.correction import outcome_sigmas
from judge.calibration.rates.judged_turns import JudgedTurns, judged_turns
from judge.calibration.rates.rate import Rate
from judge.calibration.rates.turn_verdicts import Cell, TurnVerdicts
from judge.exported import Export
from judge.plural import counted
from judge.reading import Reading
from judge.store import JudgmentStore
from rubrics import InputError, Rubric, short


def study_main_run(
    pipeline_db: Database,
    study: Study,
    rubric: Rubric,
    selection: Selection,
    choices: Choices,
    *,
    export: Export | None = None,
    told: Mapping[str, ModelFacts] | None = None,
) -> MainRun:
    """The runs of a selection as one judge labelled them, with what people say of that judge.

    With an `export` the judge is the one that it pins, and kappa is the calibration in it; its
    items tell the judge's errors where the study has no labels of its own. Without any labels the
    rates stay as judged, and say so. `told` are facts of models that their names do not tell.

    Raises InputError where the judge judged none of the turns, where labels and judgments do not
    rest on the same rubric text, and where the export is of a judge that is not in the study.
    """
    judge = choices.judge if export is None else _exported_judge(pipeline_db, export, rubric)
    with pipeline_db.atomic():
        judged = judged_turns(
            pipeline_db,
            rubric,
            judge=judge,
            reading=choices.reading if export is None else _reading(export),
            runs=choices.judge_runs if export is None else export.runs,
            run_ids=selection.run_ids,
        )
        _refuse_unjudged(judged, selection, rubric, study)
        check_judged_under(JudgmentStore(pipeline_db), judged.judge, rubric)
        people = run_labels(pipeline_db, study, rubric, judged, selection, choices, export)
        accuracies = _accuracies(pipeline_db, selection)
        changed = _changed(pipeline_db, selection)
    whole, rates = _rates(judged.verdicts, people, rubric)
    sigmas = outcome_sigmas(rubric)
    labelled = people.items.everywhere if people.items else None
    cells = _cells(judged.verdicts, rates, changed, selection)
    models = facts_of(model_names(of.cell for of in cells), told or {})
    return MainRun(
        selection=selection,
        rubric=rubric,
        judge=judged.judge,
        reading=judged.reading,
        judge_runs=judged.runs,
        reference_rule=people.rule,
        quality=people.quality,
        sample=people.sample,
        models=models,
        whole=whole,
        cells=cells,
        accuracies=accuracies,
        verdicts=judged.verdicts,
        items=judged.items,
        labelled=labelled,
        errors=judge_errors(labelled.regrouped(sigmas, sigmas[:-1])) if labelled else None,
        inputs=_fingerprint(judged.verdicts, labelled, cells, accuracies, models),
        seed=choices.seed,
    )


def _rates(
    verdicts: TurnVerdicts, people: RunLabels, rubric: Rubric
) -> tuple[Rate, tuple[Rate, ...]]:
    """The rate of all turns, and that of each cell with a judged one."""
    if people.items is None:
        whole, *cells = uncorrected_rates(verdicts, rubric, people.quality.source)
        return whole, tuple(cells)
    return (
        whole_rate(verdicts, people.items, rubric),
        cell_rates(verdicts, people.items, rubric),
    )


def _cells(
    verdicts: TurnVerdicts,
    rates: tuple[Rate, ...],
    changed: Mapping[Cell, Changed],
    selection: Selection,
) -> tuple[CellRate, ...]:
    """Every cell: those of the store in its order, then those that were planned and not run."""
    by_cell = {rate.cell: rate for rate in rates}
    found = [
        CellRate(
            cell,
            by_cell.get(cell),
            int(unjudged),
            None if cell in by_cell else NOT_JUDGED,
            changed.get(cell),
        )
        for cell, unjudged in zip(verdicts.cells, verdicts.unjudged.tolist(), strict=True)
    ]
    there = set(verdicts.cells)
    found += [CellRate(cell, None, 0, NOT_RUN) for cell in selection.planned if cell not in there]
    return tuple(found)


def _accuracies(pipeline_db: Database, selection: Selection) -> tuple[Accuracy, ...]:
    """Of every model and data set."""
    found = {
        (of.model, of.dataset): Accuracy(
            of.model, of.dataset, of.answers, of.right, of.checked, of.not_checkable
        )
        for run in selection.runs
        for of in answer_counts(pipeline_db, run.run_id)
        if of.model is not None
    }
    return tuple(found[key] for key in sorted(found))


def _changed(pipeline_db: Database, selection: Selection) -> dict[Cell, Changed]:
    return {
        Cell(of.setting, of.model, of.dataset, 0.0, of.perturbation, of.condition): Changed(
            of.compared, of.changed
        )
        for run in selection.runs
        for of in changed_counts(pipeline_db, run.run_id)
    }


def _exported_judge(pipeline_db: Database, export: Export, rubric: Rubric) -> str:
    """The id of the judge that an export pins; raises InputError where it judged nothing here."""
    judge_id = export.judge.judge_id
    if export.rubric.hash != rubric.hash:
        raise InputError(
            f"{export.folder} pins rubric {export.rubric.version} ({short(export.rubric.hash)}), "
            f"and this installation's {rubric.version} is {short(rubric.hash)}; name the rubric of "
            f"the export: --rubric {export.rubric.version}"
        )
    there = JudgmentStore(pipeline_db).judges(rubric.version)
    if not any(of.judge_id == judge_id and of.judged for of in there):
        known = "; ".join(judge_name(of) for of in there if of.judged) or "none"
        raise InputError(
            f"{export.folder} is of judge {short(judge_id)} ({export.judge.model}), which has "
            f"judged nothing in this study; the judges are: {known}; "
            f"run it: judge --prompt {export.folder}"
        )
    return judge_id


def _reading(export: Export) -> Reading | None:
    return export.reading if export.runs > 1 else None


def _refuse_unjudged(
    judged: JudgedTurns, selection: Selection, rubric: Rubric, study: Study
) -> None:
    unjudged = int(judged.verdicts.unjudged.sum())
    if not judged.verdicts.turns and not unjudged:
        raise InputError(
            f"{selection.name} has no turns; make them: generate --plan FILE{study.option}"
        )
    if not judged.verdicts.turns:
        raise InputError(
            f"none of the {counted(unjudged, 'turn')} of {selection.name} is judged by "
            f"{judge_name(judged.judge)} under rubric {rubric.version}; judge them: judge "
            f"--rubric {rubric.version}{study.option}, or name another judge: --judge"
        )


def _fingerprint(
    verdicts: TurnVerdicts,
    labelled: Labelled | None,
    cells: tuple[CellRate, ...],
    accuracies: tuple[Accuracy, ...],
    models: Mapping[str, ModelFacts],
) -> str:
    """Of all that a report is made of."""
    counts = [(of.cell, of.gap, of.changed) for of in cells]
    digest = hashlib.sha256(repr((counts, accuracies, models)).encode())
    arrays = [verdicts.cell, verdicts.conversation, verdicts.sample, verdicts.verdicts]
    arrays.append(verdicts.unjudged)
    if labelled is not None:
        arrays += [labelled.people, labelled.judged, labelled.weights, labelled.conversations]
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return f"sha256:{digest.hexdigest()}"
