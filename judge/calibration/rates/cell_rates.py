"""Rates of what a judge said of turns: of each cell, and of all cells together."""

import numpy as np

from annotator.measures.double_sample import uncorrected
from judge.calibration.rates.correction import (
    Correction,
    by_errors,
    by_sample,
    outcome_sigmas,
    too_few,
)
from judge.calibration.rates.labelled_items import LabelledItems
from judge.calibration.rates.rate import Labels, Rate, raw_rate, samples_of
from judge.calibration.rates.turn_verdicts import Cell, TurnVerdicts
from rubrics import Rubric


def whole_rate(verdicts: TurnVerdicts, labelled: LabelledItems, rubric: Rubric) -> Rate:
    """The rate of all judged turns together."""
    judged, sigmas = verdicts.judged, outcome_sigmas(rubric)
    here = labelled.of_turns()
    reason = labelled.unsampled(verdicts.cells)
    if reason is None and here.n < labelled.everywhere.n:  # a part of the study
        reason = too_few(here, judged, sigmas)
    if reason:
        correction = by_errors(labelled.everywhere, judged, sigmas, reason)
    else:
        reason = f"the labelled items are a sample of its items, {labelled.design}"
        correction = by_sample(here, judged, sigmas, reason)
    return _rate(None, verdicts, here.n, correction, rubric)


def cell_rates(verdicts: TurnVerdicts, labelled: LabelledItems, rubric: Rubric) -> tuple[Rate, ...]:
    """The rate of each cell that has a judged turn."""
    return tuple(
        _of_cell(verdicts.of_cell(number), labelled, rubric)
        for number in np.unique(verdicts.cell).tolist()
    )


def uncorrected_rates(verdicts: TurnVerdicts, rubric: Rubric, reason: str) -> tuple[Rate, ...]:
    """The whole rate, then each cell's, as the judge gives them: nobody's labels tell its errors.

    `reason` says why.
    """
    none = uncorrected(reason)
    correction = Correction(None, reason, none, (none,) * len(rubric.categories))
    cells = [verdicts.of_cell(number) for number in np.unique(verdicts.cell).tolist()]
    return (
        _rate(None, verdicts, 0, correction, rubric),
        *(_rate(of.cells[0], of, 0, correction, rubric) for of in cells),
    )


def _of_cell(verdicts: TurnVerdicts, labelled: LabelledItems, rubric: Rubric) -> Rate:
    cell, judged, sigmas = verdicts.cells[0], verdicts.judged, outcome_sigmas(rubric)
    own = labelled.of_cell(cell)
    reason = labelled.unsampled([cell]) or too_few(own, judged, sigmas)
    if reason:
        correction = by_errors(labelled.everywhere, judged, sigmas, reason)
    else:
        correction = by_sample(
            own, judged, sigmas, "the cell's own labelled items are a sample of it"
        )
    return _rate(cell, verdicts, own.n, correction, rubric)


def _rate(
    cell: Cell | None,
    verdicts: TurnVerdicts,
    labelled: int,
    correction: Correction,
    rubric: Rubric,
) -> Rate:
    judged, sigmas = verdicts.judged, outcome_sigmas(rubric)
    return Rate(
        cell=cell,
        turns=verdicts.turns,
        conversations=len(judged.conversations),
        labelled=labelled,
        unreadable=verdicts.unreadable,
        unjudged=int(verdicts.unjudged.sum()),
        samples=samples_of(verdicts.by_sample(sigmas)),
        raw=raw_rate(judged, np.flatnonzero(sigmas)),
        method=correction.method,
        reason=correction.reason,
        sigma=correction.sigma,
        labels=tuple(
            Labels(category, raw_rate(judged, np.array([k])), correction.labels[k])
            for k, category in enumerate(rubric.category_ids)
        ),
        representativeness=correction.representativeness,
    )
