"""What perturbing the answer does: rates before and after, and how many turns it changed."""

from collections.abc import Callable
from dataclasses import replace

from generation.perturbation import UNPERTURBED
from judge.calibration.main_run.main_run import NOT_RUN, CellRate, MainRun
from judge.calibration.main_run.reported.reported import Reported
from judge.calibration.main_run.tables.against import Against, place_of
from judge.calibration.main_run.tables.estimates import (
    changed_share,
    corrected_rate,
    judged_rate,
)
from judge.calibration.main_run.tables.fields import (
    DATASET,
    MODEL,
    PERTURBATION,
    SAMPLES,
    SETTING,
    TEMPERATURE,
    TURNS,
    UNJUDGED,
    Field,
    in_order,
    kappa_field,
    table_of,
)
from judge.calibration.main_run.tables.notes import rate_notes
from judge.calibration.main_run.tables.table import Column, Kind, Table, Value

NAME = "perturbation"
ABSENT = "no answer was perturbed under the usual conditions"
NO_PAIR = "no turn has the one without it beside it at T = 0"
DRAWN = "compared at T = 0 alone"


def perturbation_table(run: MainRun, against: Reported | None = None) -> Table:
    """One row per model, data set and perturbation: the plain cell before, the perturbed after."""
    cells = in_order(
        run,
        [of for of in run.cells if of.cell.perturbation != UNPERTURBED and not of.cell.condition],
    )
    plain = {of.cell: run.unperturbed(of.cell) for of in cells}

    def before(
        key: str, header: str, kind: Kind, of: Callable[[CellRate], Value], once: bool = False
    ) -> Field:
        return Field(Column(key, header, kind, once=once), lambda cell: of(plain[cell.cell]))

    beside = Against(against, NAME, lambda of: place_of(NAME, of))
    return table_of(
        NAME,
        f"Genuine follow-ups before and after perturbing the answer: {run.name}",
        (
            SETTING,
            DATASET,
            replace(PERTURBATION, column=replace(PERTURBATION.column, group=True)),
            MODEL,
            TEMPERATURE,
            before("judged_before", "judged before %", Kind.SHARE, judged_rate),
            *beside.field("before", "before", lambda of: of.before),
            Field(Column("judged_after", "judged after %", Kind.SHARE), judged_rate),
            *beside.field("after", "after", lambda of: of.rate),
            before("corrected_before", "corrected before %", Kind.SHARE, corrected_rate),
            Field(Column("corrected_after", "corrected after %", Kind.SHARE), corrected_rate),
            *changed_fields(),
            *beside.field("changed", "changed", lambda of: of.changed),
            before("n_before", "n before", Kind.COUNT, TURNS.value),
            Field(Column("n", "n after", Kind.COUNT), TURNS.value),
            SAMPLES,
            before("not_judged_before", "not judged before", Kind.COUNT, UNJUDGED.value, True),
            Field(Column("not_judged", "not judged after", Kind.COUNT, once=True), UNJUDGED.value),
            kappa_field(run),
        ),
        cells,
        (
            "changed: turns that differ from the one without the perturbation at T = 0, with "
            "Wilson's interval, of the pairs compared",
            *rate_notes(run, [*{of.cell: of for of in plain.values()}.values(), *cells]),
            *beside.notes(cells),
        ),
    )


def changed_fields() -> tuple[Field, ...]:
    """The share of turns that a perturbation changed, and of how many."""

    def missing(of: CellRate) -> str:
        if of.gap == NOT_RUN:
            return NOT_RUN
        return NO_PAIR if of.cell.temperature == 0 else DRAWN

    return (
        Field(
            Column("changed", "changed %", Kind.SHARE),
            lambda of: changed_share(of.changed, missing(of)),
        ),
        Field(
            Column("compared", "compared", Kind.COUNT),
            lambda of: of.changed.compared if of.changed else 0,
        ),
    )
