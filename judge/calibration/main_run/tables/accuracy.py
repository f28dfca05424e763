"""Task accuracy beside the rate of genuine follow-ups, per model and data set."""

from dataclasses import replace

from generation.perturbation import UNPERTURBED
from generation.plan.plan import SELF_GENERATED
from judge.calibration.main_run.main_run import NOT_RUN, Accuracy, CellRate, MainRun
from judge.calibration.main_run.reported.reported import Reported
from judge.calibration.main_run.tables.against import Against, place_of
from judge.calibration.main_run.tables.estimates import NOT_SCORED, accuracy_share
from judge.calibration.main_run.tables.fields import (
    CORRECTED,
    COUNTS,
    DATASET,
    JUDGED,
    METHOD,
    MODEL,
    TEMPERATURE,
    Field,
    in_order,
    kappa_field,
    lowest,
    table_of,
)
from judge.calibration.main_run.tables.notes import rate_notes
from judge.calibration.main_run.tables.table import Column, Kind, Table
from judge.calibration.rates.turn_verdicts import Cell

NAME = "accuracy"
ABSENT = "no model answers a query itself: every conversation is held out"
NO_TURNS = "no turns"
WILSON = "accuracy: right answers of those checked, with Wilson's interval"


def accuracy_table(run: MainRun, against: Reported | None = None) -> Table:
    """One row per model and data set: its answers' accuracy, its turns at the lowest temperature.

    Of answers by the models alone: what a held-out conversation answers is nobody's accuracy.
    """
    cells = in_order(run, (*_self_generated(run), *_without_turns(run)))
    beside = Against(against, NAME, lambda of: place_of(NAME, of))
    of_answers = Against(against, NAME, lambda of: replace(place_of(NAME, of), temperature=0.0))
    return table_of(
        NAME,
        f"Task accuracy and genuine follow-ups at the lowest temperature: {run.name}",
        (
            DATASET,
            MODEL,
            *accuracy_and_rate(run, of_answers, beside),
        ),
        cells,
        (
            WILSON,
            *rate_notes(run, cells),
            *of_answers.notes(cells),
        ),
    )


def accuracy_fields(run: MainRun) -> tuple[Field, ...]:
    """Accuracy with its n, and how many answers could not be checked or were not."""

    def found(of: CellRate) -> Accuracy | None:
        own = of.cell.setting == SELF_GENERATED
        return run.accuracy(of.cell.model or "", of.cell.dataset) if own else None

    def missing(of: CellRate) -> str:
        if of.cell.setting != SELF_GENERATED:
            return "held-out"
        return NOT_RUN if of.gap == NOT_RUN else NOT_SCORED

    def checked(of: CellRate) -> int:
        told = found(of)
        return told.checked if told else 0

    def unchecked(of: CellRate) -> int:
        told = found(of)
        return told.answers - told.checked if told else 0

    return (
        Field(
            Column("accuracy", "accuracy %", Kind.SHARE),
            lambda of: accuracy_share(found(of), missing(of)),
        ),
        Field(Column("checked", "checked", Kind.COUNT), checked),
        Field(Column("not_checked", "not checked", Kind.COUNT, once=True), unchecked),
    )


def _self_generated(run: MainRun) -> list[CellRate]:
    return [of for of in lowest(run, run.plain) if of.cell.setting == SELF_GENERATED]


def _without_turns(run: MainRun) -> list[CellRate]:
    """Answers that no turn follows have an accuracy all the same."""
    there = {(of.cell.model, of.cell.dataset) for of in _self_generated(run)}
    return [
        CellRate(Cell(SELF_GENERATED, of.model, of.dataset, None, UNPERTURBED), None, 0, NO_TURNS)
        for of in run.accuracies
        if (of.model, of.dataset) not in there
    ]


def accuracy_and_rate(run: MainRun, of_answers: Against, beside: Against) -> tuple[Field, ...]:
    """Accuracy, then the rate at that temperature, each with what is reported beside it."""
    return (
        *accuracy_fields(run),
        *of_answers.field("accuracy", "accuracy", lambda of: of.accuracy),
        TEMPERATURE,
        JUDGED,
        *beside.field("rate", "rate", lambda of: of.rate),
        CORRECTED,
        METHOD,
        *COUNTS,
        kappa_field(run),
    )
