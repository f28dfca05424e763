"""The columns of tables about cells, and how a cell's row gets its value in each."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from generation.perturbation import UNPERTURBED
from generation.plan.plan import SELF_GENERATED
from judge.calibration.main_run.main_run import CellRate, MainRun
from judge.calibration.main_run.tables.estimates import (
    corrected_rate,
    judged_rate,
    kappa_estimate,
    spread,
)
from judge.calibration.main_run.tables.table import Column, Kind, Table, Value
from judge.calibration.rates.rate import INVERTED, POST_STRATIFIED

UNCORRECTED = "none"
METHODS = {POST_STRATIFIED: "P", INVERTED: "I", UNCORRECTED: "–"}  # as `calibrate rates` has them
UNKNOWN = "unknown"  # what an import left unsaid


@dataclass(frozen=True)
class Field:
    column: Column
    value: Callable[[CellRate], Value]


def table_of(
    name: str,
    title: str,
    fields: Sequence[Field],
    cells: Iterable[CellRate],
    notes: Sequence[str],
) -> Table:
    """A row for each cell, a column for each field."""
    return Table(
        name,
        title,
        tuple(of.column for of in fields),
        tuple(tuple(of.value(cell) for of in fields) for cell in cells),
        tuple(notes),
    )


def in_order(run: MainRun, cells: Iterable[CellRate]) -> tuple[CellRate, ...]:
    """By setting, data set, perturbation, model (by family and size), condition, temperature."""
    ranks = {name: rank for rank, name in enumerate(run.models)}

    def key(of: CellRate) -> tuple:
        cell = of.cell
        return (
            cell.setting != SELF_GENERATED,
            cell.dataset,
            cell.perturbation != UNPERTURBED,
            cell.perturbation,
            ranks.get(cell.model or "", len(ranks)),
            cell.model or "",
            cell.condition,
            cell.temperature is None,
            cell.temperature or 0.0,
        )

    return tuple(sorted(cells, key=key))


def lowest(run: MainRun, cells: Iterable[CellRate]) -> tuple[CellRate, ...]:
    """Of each setting × data set × model the plain cell at the lowest temperature, in order."""
    found: dict[tuple, CellRate] = {}
    for of in in_order(run, cells):
        found.setdefault((of.cell.setting, of.cell.dataset, of.cell.model), of)
    return tuple(found.values())


def kappa_field(run: MainRun) -> Field:
    """Kappa over the labels of the judge that judged the row: one judge, hence one kappa."""
    kappa = kappa_estimate(run.quality.labels)
    return Field(Column("kappa", "kappa", Kind.NUMBER), lambda _: kappa)


def _method(of: CellRate) -> str:
    return (of.rate.method if of.rate else None) or UNCORRECTED


SETTING = Field(Column("setting", "setting", group=True), lambda of: of.cell.setting)
DATASET = Field(Column("dataset", "data set", group=True), lambda of: of.cell.dataset)
MODEL = Field(Column("model", "model"), lambda of: of.cell.model or UNKNOWN)
TEMPERATURE = Field(Column("temperature", "T", once=True), lambda of: of.cell.temperature_text)
CONDITION = Field(Column("condition", "condition"), lambda of: of.cell.condition)
PERTURBATION = Field(
    Column("perturbation", "perturbation", once=True), lambda of: of.cell.perturbation
)
JUDGED = Field(Column("judged", "judged %", Kind.SHARE), judged_rate)
CORRECTED = Field(Column("corrected", "corrected %", Kind.SHARE), corrected_rate)
METHOD = Field(Column("correction", "correction", once=True, short=METHODS), _method)
SPREAD = Field(Column("sd", "SD", Kind.SHARE, interval=False), spread)
TURNS = Field(Column("n", "n", Kind.COUNT), lambda of: of.rate.turns if of.rate else 0)
CONVERSATIONS = Field(
    Column("conversations", "conv.", Kind.COUNT),
    lambda of: of.rate.conversations if of.rate else 0,
)
SAMPLES = Field(Column("k", "k", Kind.COUNT), lambda of: of.rate.samples.k if of.rate else 0)
UNJUDGED = Field(Column("not_judged", "not judged", Kind.COUNT, once=True), lambda of: of.unjudged)
COUNTS = (TURNS, CONVERSATIONS, SAMPLES, UNJUDGED)
