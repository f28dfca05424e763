"""How a model's user turns spread over the rubric's labels: as judged, and corrected."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from judge.calibration.main_run.main_run import CellRate, MainRun
from judge.calibration.main_run.reported.reported import Reported
from judge.calibration.main_run.tables.estimates import corrected_label, judged_label, lone
from judge.calibration.main_run.tables.fields import (
    DATASET,
    METHOD,
    MODEL,
    SAMPLES,
    SETTING,
    TEMPERATURE,
    TURNS,
    UNCORRECTED,
    UNJUDGED,
    Field,
    in_order,
    kappa_field,
    table_of,
)
from judge.calibration.main_run.tables.notes import correction_notes, label_notes
from judge.calibration.main_run.tables.table import Column, Estimate, Kind, Table, share
from judge.calibration.rates.rate import INVERTED, POST_STRATIFIED, raw_rate
from judge.plural import counted

JUDGED_NAME, CORRECTED_NAME = "labels", "labels-corrected"
ABSENT = "no turn follows an answer as it is under the usual conditions"
_OF = (SETTING, DATASET, replace(MODEL, column=replace(MODEL.column, group=True)), TEMPERATURE)


def labels_table(run: MainRun, against: Reported | None = None) -> Table:
    """One row per plain cell: the share of each label as the judge gives it.

    No paper has reported these, so nothing stands beside them.
    """
    cells = in_order(run, run.plain)
    labels = [
        Field(_column(f"label_{of.id}", of.name), partial(judged_label, label=number))
        for number, of in enumerate(run.rubric.categories)
    ]
    unreadable = Field(_column("unreadable", "unreadable"), partial(_unreadable, run))
    told = "shares of the judged turns, in %; unreadable: the judge's verdict could not be read"
    return table_of(
        JUDGED_NAME,
        f"Labels as judged, %: {run.name}",
        (*_OF, *labels, unreadable, TURNS, SAMPLES, UNJUDGED, kappa_field(run)),
        cells,
        (*label_notes(run, cells, told), *_elsewhere(run)),
    )


def corrected_labels_table(run: MainRun, against: Reported | None = None) -> Table:
    """The same with the judge's errors corrected, and a gap where that cannot be done.

    Without rows where no label of any cell can be: `absent_corrected` says why.
    """
    cells = in_order(run, run.plain) if not _why_none(run) else ()
    labels = [
        Field(_column(f"label_{of.id}", of.name), partial(corrected_label, label=number))
        for number, of in enumerate(run.rubric.categories)
    ]
    method = Field(METHOD.column, _method)
    told = "shares of the judged turns, in %, with the judge's errors allowed for"
    notes = {note for of in cells if of.rate for label in of.rate.labels
             for note in label.corrected.notes}  # fmt: skip
    return table_of(
        CORRECTED_NAME,
        f"Labels corrected for the judge's errors, %: {run.name}",
        (*_OF, *labels, method, TURNS, SAMPLES, UNJUDGED, kappa_field(run)),
        cells,
        (
            *label_notes(run, cells, told),
            *correction_notes(run, cells),
            *sorted(notes),
            *_elsewhere(run),
        ),
    )


def absent_corrected(run: MainRun) -> str:
    return "; ".join(_why_none(run)) or ABSENT


def _why_none(run: MainRun) -> tuple[str, ...]:
    """The reasons where no label of any plain cell can be corrected, none where one can."""
    found = [label.corrected for of in run.plain if of.rate for label in of.rate.labels]
    if any(of.value is not None for of in found):
        return ()
    return tuple(dict.fromkeys(f"not corrected: {of.undefined}" for of in found))


def _method(of: CellRate) -> str:
    """How its labels were corrected, which can be where the rate could not."""
    if of.rate is None or all(label.corrected.value is None for label in of.rate.labels):
        return UNCORRECTED
    return POST_STRATIFIED if of.rate.method == POST_STRATIFIED else INVERTED


def _column(key: str, header: str) -> Column:
    return Column(key, header, Kind.SHARE)


def _unreadable(run: MainRun, of: CellRate) -> Estimate:
    judged = run.judged(of.cell)
    if of.rate is None or judged is None:
        return Estimate(None, gap=of.gap)
    found = raw_rate(judged, np.array([len(run.rubric.categories)]))
    return share(found.value, found.interval, lone(of.rate))


def _elsewhere(run: MainRun) -> Sequence[str]:
    others = len(run.cells) - len(run.plain)
    if not others:
        return ()
    return (
        f"not in it: the labels of {counted(others, 'cell')} of perturbed answers or unusual "
        "conditions; calibrate rates --json has them",
    )
