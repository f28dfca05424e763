"""The temperature sweep: rates of genuine follow-ups per model, data set and temperature."""

from judge.calibration.main_run.main_run import MainRun
from judge.calibration.main_run.reported.reported import Reported
from judge.calibration.main_run.tables.against import Against, place_of
from judge.calibration.main_run.tables.fields import (
    CORRECTED,
    COUNTS,
    DATASET,
    JUDGED,
    METHOD,
    MODEL,
    SETTING,
    SPREAD,
    TEMPERATURE,
    in_order,
    kappa_field,
    table_of,
)
from judge.calibration.main_run.tables.notes import rate_notes
from judge.calibration.main_run.tables.table import Table

NAME = "temperature"
ABSENT = "no turn follows an answer as it is under the usual conditions"


def temperature_table(run: MainRun, against: Reported | None = None) -> Table:
    """One row per plain cell; the settings are kept apart, never pooled."""
    cells = in_order(run, run.plain)
    beside = Against(against, NAME, lambda of: place_of(NAME, of))
    return table_of(
        NAME,
        f"Genuine follow-ups by temperature: {run.name}",
        (
            SETTING,
            DATASET,
            MODEL,
            TEMPERATURE,
            JUDGED,
            *beside.field("rate", "rate", lambda of: of.rate),
            CORRECTED,
            METHOD,
            SPREAD,
            *COUNTS,
            kappa_field(run),
        ),
        cells,
        (
            "SD: of the k samples' rates, in percentage points",
            *rate_notes(run, cells),
            *beside.notes(cells),
        ),
    )
