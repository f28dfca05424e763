"""All tables of a main run, and why those that are not there are not."""

from collections.abc import Callable
from dataclasses import dataclass

from judge.calibration.main_run.main_run import MainRun
from judge.calibration.main_run.reported.reported import Reported
from judge.calibration.main_run.tables import (
    accuracy,
    checkpoints,
    conditions,
    labels,
    perturbation,
    temperature,
)
from judge.calibration.main_run.tables.table import Table


@dataclass(frozen=True)
class Tables:
    """`absent` says of each table without a row its name and why."""

    tables: tuple[Table, ...]
    absent: tuple[str, ...] = ()


Builder = Callable[[MainRun, Reported | None], Table]
Reason = Callable[[MainRun], str]


def tables(run: MainRun, against: Reported | None = None) -> Tables:
    """Every table that has rows; `against` are numbers to show beside, as reported."""
    builders: tuple[tuple[Builder, Reason], ...] = (
        (accuracy.accuracy_table, lambda _: accuracy.ABSENT),
        (temperature.temperature_table, lambda _: temperature.ABSENT),
        (perturbation.perturbation_table, lambda _: perturbation.ABSENT),
        (labels.labels_table, lambda _: labels.ABSENT),
        (labels.corrected_labels_table, labels.absent_corrected),
        (checkpoints.checkpoints_table, lambda _: checkpoints.ABSENT),
        (conditions.conditions_table, lambda _: conditions.ABSENT),
    )
    made = [(build(run, against), reason(run)) for build, reason in builders]
    return Tables(
        tuple(table for table, _ in made if table.rows),
        tuple(f"no table {table.name}: {reason}" for table, reason in made if not table.rows),
    )
