"""All statements on a main run, kind by kind; each kind is a family of its own for Holm."""

from judge.calibration.main_run.main_run import MainRun
from judge.calibration.main_run.statements.dominant_label import dominant_label_statements
from judge.calibration.main_run.statements.latency import latency_statements
from judge.calibration.main_run.statements.perturbation import perturbation_statements
from judge.calibration.main_run.statements.size import size_statements
from judge.calibration.main_run.statements.statement import Statement
from judge.calibration.main_run.statements.temperature import temperature_statements


def statements(run: MainRun) -> tuple[Statement, ...]:
    return (
        *latency_statements(run),
        *temperature_statements(run),
        *size_statements(run),
        *dominant_label_statements(run),
        *perturbation_statements(run),
    )
