"""Turns under an unusual condition, such as nucleus sampling or a later turn, in a table apart."""

from judge.calibration.main_run.main_run import MainRun
from judge.calibration.main_run.reported.reported import Reported
from judge.calibration.main_run.tables.fields import (
    CONDITION,
    CORRECTED,
    COUNTS,
    DATASET,
    JUDGED,
    METHOD,
    MODEL,
    PERTURBATION,
    SETTING,
    SPREAD,
    TEMPERATURE,
    in_order,
    kappa_field,
    table_of,
)
from judge.calibration.main_run.tables.notes import rate_notes
from judge.calibration.main_run.tables.perturbation import changed_fields
from judge.calibration.main_run.tables.table import Table

NAME = "conditions"
ABSENT = "every turn was made under the usual conditions"


def conditions_table(run: MainRun, against: Reported | None = None) -> Table:
    """One row per cell that has a condition; the paper reports none of them."""
    cells = in_order(run, [of for of in run.cells if of.cell.condition])
    compared = any(of.changed for of in cells)
    return table_of(
        NAME,
        f"Genuine follow-ups under unusual conditions: {run.name}",
        (
            SETTING,
            DATASET,
            MODEL,
            CONDITION,
            PERTURBATION,
            TEMPERATURE,
            JUDGED,
            CORRECTED,
            METHOD,
            SPREAD,
            *(changed_fields() if compared else ()),
            *COUNTS,
            kappa_field(run),
        ),
        cells,
        ("SD: of the k samples' rates, in percentage points", *rate_notes(run, cells)),
    )
