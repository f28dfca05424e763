"""Base, SFT and RL checkpoints of a model beside each other."""

from dataclasses import replace

from generation.plan.plan import SELF_GENERATED
from judge.calibration.main_run.main_run import CellRate, MainRun
from judge.calibration.main_run.model_facts import STAGES, ModelFacts
from judge.calibration.main_run.reported.reported import Place, Reported
from judge.calibration.main_run.tables.accuracy import WILSON, accuracy_and_rate
from judge.calibration.main_run.tables.against import Against, place_of
from judge.calibration.main_run.tables.fields import (
    DATASET,
    MODEL,
    SETTING,
    Field,
    lowest,
    table_of,
)
from judge.calibration.main_run.tables.notes import rate_notes
from judge.calibration.main_run.tables.table import Column, Table

NAME = "checkpoints"
ABSENT = "no checkpoints are named: give their stages in a file, --models FILE"


def checkpoints_table(run: MainRun, against: Reported | None = None) -> Table:
    """One row per data set and stage of post-training, at the lowest temperature."""

    def facts(of: CellRate) -> ModelFacts:
        return run.models[of.cell.model or ""]

    staged = {name for name, told in run.models.items() if told.stage}
    found = [of for of in lowest(run, run.plain) if of.cell.model in staged]

    def stage(of: CellRate) -> str:
        return facts(of).stage or ""

    def origin(of: CellRate) -> str:
        return facts(of).checkpoint_of or ""

    def place(of: CellRate) -> Place:
        return replace(place_of(NAME, of), model=origin(of), stage=stage(of))

    def key(of: CellRate) -> tuple:
        cell = of.cell
        return origin(of), cell.setting != SELF_GENERATED, cell.dataset, STAGES.index(stage(of))

    cells = sorted(found, key=key)
    beside = Against(against, NAME, place)
    of_answers = Against(against, NAME, lambda of: replace(place(of), temperature=0.0))
    return table_of(
        NAME,
        f"Checkpoints of post-training, at the lowest temperature: {run.name}",
        (
            Field(Column("checkpoint_of", "checkpoint of", group=True), origin),
            SETTING,
            DATASET,
            Field(Column("stage", "stage"), stage),
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
