"""A made-up main run with a gap of every kind, from a study that is written in a second."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from generation.study import Study
from judge.calibration.main_run.main_run import MainRun
from judge.calibration.main_run.model_facts import BASE, SFT, ModelFacts
from judge.calibration.main_run.run_labels import Choices
from judge.calibration.main_run.selection import select_runs
from judge.calibration.main_run.study_main_run import study_main_run
from judge.calibration.rates.turn_verdicts import Cell
from judge.store import open_pipeline
from rubrics import load_rubric
from tests.support.main_run_study import MadeRun, make_main_run

STAGED, SILENT, PLANNED = "Made-1B-SFT", "Silent-2B", "Planned-4B"
CONDITION = "top-p 0.9"
PLAIN = MadeRun(
    models=("Qwen/Qwen3.5-9B", "Made-1B", STAGED, SILENT),
    datasets={"gsm8k": 12, "ifbench": 8, "lone": 1},
    held_out={"coval": 6},
    temperatures=(0.0, 1.0),
    samples=3,
    perturbations=("truncate",),
    degenerate=(3, 2, 2, 2, 2, 2),
    judged=0.9,
    labelled=150,
    seed=3,
)
FACTS = {
    "Made-1B": ModelFacts("Made-1B", "Made", 1e9, "Made-1B", BASE),
    STAGED: ModelFacts(STAGED, "Made", 1e9, "Made-1B", SFT),
}
# Not judged at all; not scored; not checkable; unreadable; an unusual condition; no temperature.
_EDITS = f"""
    DELETE FROM judgments WHERE item_hash IN (SELECT item_hash FROM turns WHERE model = '{SILENT}');
    DELETE FROM answer_scores WHERE answer_id LIKE 'a-ifbench-%';
    UPDATE answer_scores SET outcome = 'not checkable' WHERE answer_id LIKE 'a-lone-%';
    UPDATE judgments SET label = NULL, sigma = NULL, invalid_reason = 'no label found'
      WHERE item_hash IN (SELECT item_hash FROM turns WHERE turn_id LIKE '%-_-Made-1B-none-1.0-1');
    UPDATE turns SET condition = '{CONDITION}' WHERE model LIKE 'Qwen%' AND setting = 'held-out'
      AND sample_index = 2;
    UPDATE turns SET temperature = NULL WHERE model = '{STAGED}' AND setting = 'held-out'
      AND temperature = 1;
"""


def gapped_study(folder: Path, made: MadeRun = PLAIN) -> Study:
    study = make_main_run(folder, made)
    with closing(sqlite3.connect(study.pipeline)) as database:
        database.executescript(_EDITS)
    return study


def gapped_run(study: Study, made: MadeRun = PLAIN, *, stages: bool = True) -> MainRun:
    """The run as it is loaded; `PLANNED` is a model that a plan asks for and nobody ran.

    The judge's id hangs on the packaged prompt, which is no business of a table: it is set.
    """
    planned = tuple(
        Cell("self-generated", PLANNED, "gsm8k", 0.0, perturbation)
        for perturbation in ("none", *made.perturbations)
    )
    with open_pipeline(study.pipeline) as pipeline_db:
        run = study_main_run(
            pipeline_db,
            study,
            load_rubric("v3"),
            replace(select_runs(pipeline_db, made.plan, study.option), planned=planned),
            Choices(),
            told=FACTS if stages else None,
        )
    return replace(run, judge=replace(run.judge, judge_id=f"sha256:{'5' * 64}"))
