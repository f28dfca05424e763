"""A made-up main run as a page: hostile texts, a data set with a canary, what is missing."""

from dataclasses import dataclass
from pathlib import Path

from hostile_texts import HOSTILE_TEXTS
from main_run_study import NOW, MadeRun, make_main_run

from annotator.reference_rule import ReferenceRule
from generation.study import Study
from judge.calibration.main_run.main_run import MainRun
from judge.calibration.main_run.report_page.write_page import write_page
from judge.calibration.main_run.run_labels import Choices
from judge.calibration.main_run.selection import select_runs
from judge.calibration.main_run.statements.statement import Kind, Statement
from judge.calibration.main_run.study_main_run import study_main_run
from judge.calibration.main_run.tables.table import Column, Estimate, Table
from judge.calibration.main_run.tables.table import Kind as ColumnKind
from judge.store import open_pipeline
from rubrics import load_rubric

SECRET = "zebra crossing"  # in every text of the data set with a canary
HOSTILE_MODEL, MODEL = "<b>Made</b>-1B", "Made-8B"
CANARY = "dataset = 'gpqa_diamond'"
MADE = MadeRun(
    models=(HOSTILE_MODEL, MODEL),
    datasets={"gsm8k": 20, "gpqa_diamond": 5},
    temperatures=(0.0, 0.7),
    samples=3,
    perturbations=("truncate",),
    judged=0.95,
    labelled=60,
    plan="<i>made",
)
STATEMENT = Statement(
    Kind.LATENCY, "Made-8B on gsm8k", "latent", "Rises <b>with</b> T.", 12, 0.01, 0.02, 2, {}
)
TABLE = Table(
    "rates",
    "Rates <of> cells",
    (Column("model", "model"), Column("rate", "rate %", ColumnKind.SHARE)),
    ((MODEL, Estimate(0.25, 0.125, 0.5)), (HOSTILE_MODEL, Estimate(None, gap="not run"))),
    ("A note & no more.",),
)
PROVENANCE = {"command": "calibrate report --run made", "seed": 7, "tool": {"version": "<u>1</u>"}}


@dataclass(frozen=True)
class PageStudy:
    """A study with its run as loaded; `hostile` are the texts of turns by their ids."""

    study: Study
    run: MainRun
    hostile: dict[str, str]

    def write(self, folder: Path, **changed: object) -> Path:
        folder.mkdir()
        with open_pipeline(self.study.pipeline) as pipeline_db:
            told = {"run": self.run, "statements": [STATEMENT], "tables": [TABLE]} | changed
            write_page(
                folder,
                **told,
                pipeline_db=pipeline_db,
                study=self.study,
                rule=ReferenceRule.MAJORITY,
                provenance=PROVENANCE,
            )
        return folder


def make_page_study(folder: Path, *, runs: int = 1) -> PageStudy:
    """Hostile texts as turns, raw texts and rationales; an unreadable verdict for every 20th.

    Of several `runs` of the judge the later ones give every third item another label.
    """
    study = make_main_run(folder, MADE)
    with open_pipeline(study.pipeline) as database:
        execute = database.conn.execute
        hostile = _hostile(execute)
        secret = f"conversation_id IN (SELECT conversation_id FROM conversations WHERE {CANARY})"
        answers = f"answer_id IN (SELECT answer_id FROM answers WHERE {secret})"
        said = f"item_hash IN (SELECT item_hash FROM turns WHERE {answers})"
        execute(
            f"""UPDATE conversations SET
                    messages = json_array(json_object('role', 'user', 'content', rowid || ?1)),
                    meta = json_object('gold', ?1)
                WHERE {secret}""",
            [SECRET],
        )
        for table, column, where in (
            ("answers", "text", secret),
            ("answers", "thinking", secret),
            ("turns", "text", answers),
            ("turns", "text_raw", answers),
            ("judgments", "rationale", said),
        ):
            execute(f"UPDATE {table} SET {column} = rowid || ? WHERE {where}", [SECRET])
        execute(
            """UPDATE judgments SET label = NULL, sigma = NULL, rationale = NULL,
                      invalid_reason = ?, raw = ? WHERE judgment_id % 20 = 0""",
            [f"no verdict in {SECRET}", f"Well … {SECRET}"],
        )
        execute(
            f"""UPDATE judgments SET invalid_reason = 'no JSON', raw = 'Well …'
                WHERE label IS NULL AND NOT {said}"""
        )
        execute("UPDATE turns SET token_ids = '[5,6,7]', seed = 11, finish_reason = 'length'")
        for run in range(1, runs):
            _judge_again(execute, run)
        selection = select_runs(database, MADE.plan, study.option)
        loaded = study_main_run(database, study, load_rubric("v3"), selection, Choices())
    return PageStudy(study, loaded, hostile)


def _hostile(execute) -> dict[str, str]:
    """As the first turns of the run, which are not of the data set with a canary."""
    rows = execute(
        "SELECT turn_id, item_hash FROM turns ORDER BY rowid LIMIT ?", [len(HOSTILE_TEXTS)]
    )
    found = {}
    for (turn_id, item_hash), text in zip(rows.fetchall(), HOSTILE_TEXTS.values(), strict=True):
        execute(
            """UPDATE turns SET text = ?1, text_raw = ?1, flags = '["length"]',
                      meta = json_object('__proto__', ?1) WHERE turn_id = ?2""",
            [text, turn_id],
        )
        execute("UPDATE judgments SET rationale = ? WHERE item_hash = ?", [text, item_hash])
        found[turn_id] = text
    return found


def _judge_again(execute, run: int) -> None:
    genuine, other = (
        next(of.id for of in load_rubric("v3").categories if bool(of.sigma) is sigma)
        for sigma in (True, False)
    )
    execute(
        f"""INSERT INTO judgments (judge_id, item_hash, run_index, label, sigma, rationale, raw,
                                   invalid_reason, judged_at)
            SELECT judge_id, item_hash, {run},
                   iif(judgment_id % 3 OR label IS NULL, label, iif(sigma, ?1, ?2)),
                   iif(judgment_id % 3 OR label IS NULL, sigma, 1 - sigma),
                   rationale, raw, invalid_reason, '{NOW}'
            FROM judgments WHERE run_index = 0""",
        [other, genuine],
    )
