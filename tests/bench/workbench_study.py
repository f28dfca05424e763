"""A made-up study of any size for the workbench: many judges, many runs, labels by two scripts.

Nobody labelled anything here: the annotators' names say that they are scripts.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sqlite_utils import Database

from annotator.labels import blind_items, open_labels, record_rubric
from generation.database import immediate
from generation.item import Item, Message
from generation.study import Study
from judge.calibration.authoring import Change, new_template
from judge.calibration.causes.cause import CAUSES
from judge.calibration.sampling.repeats import repeated_items
from judge.calibration.sampling.sample import draw_sample
from judge.calibration.sampling.sample_store import sampled_items
from judge.calibration.splits.study_split import split_study
from judge.calibration.workbench.run_form import RunForm, dev_run
from judge.judge import Judge
from judge.prompts.prompt import render_prompt
from judge.prompts.prompt_template import PACKAGED
from judge.prompts.template_store import TemplateStore
from judge.store import JudgmentStore, open_pipeline
from rubrics import Rubric, canonical_json, latest_version, load_rubric

NOW = "2026-01-01T00:00:00+00:00"
MODEL = "made-up-judge"
SCRIPTS = ("script a", "script b")
SERVER = "http://127.0.0.1:9/v1"  # of the made-up run; nothing listens there, nothing asks it
TURNS = 5  # of one question
MODELS, DATASETS = 5, 3
TEMPERATURES = (0.0, 0.3, 0.7, 1.0)
PERTURBATIONS = ("none", "typo", "negation")
PEOPLE_ERR, RUN_ERRS, UNREADABLE = 0.12, 0.08, 0.01  # chances
SENTENCE = "The probe asked about the clips sold in April and in May, and what they cost in all. "


@dataclass(frozen=True)
class Shape:
    """`items` distinct turns, judged by `prompts` judges of one model in `runs` runs each.

    `labelled` of them are the sample; both scripts label all of it.
    """

    items: int = 20_000
    prompts: int = 4
    runs: int = 4
    labelled: int = 2_000


def make_study(study: Study, shape: Shape, seed: int = 0) -> None:
    """Write the study: turns, sample, labels, split, judgments, notes on causes and one run."""
    rng = np.random.default_rng(seed)
    rubric = load_rubric(latest_version())
    truth_of = rng.integers(len(rubric.categories), size=shape.items)
    with (
        open_pipeline(study.pipeline, create=True) as pipeline_db,
        open_labels(study.labels, create=True) as labels_db,
    ):
        labels_db.conn.execute("PRAGMA synchronous=OFF")
        pipeline_db.conn.execute("PRAGMA synchronous=OFF")
        hashes = _turns(pipeline_db, shape)
        truth = dict(zip(hashes, truth_of.tolist(), strict=True))
        draw_sample(pipeline_db, labels_db, n=shape.labelled, seed=seed)
        record_rubric(labels_db, rubric)
        _labels(pipeline_db, labels_db, truth, rubric, rng)
        split_study(pipeline_db, labels_db, rubric.version)
    for number in range(1, shape.prompts):
        text = f"{PACKAGED.text}\nWeigh the whole turn before you decide, for the {number}. time.\n"
        new_template(study, f"variant-{number}", Change("made up", text), PACKAGED.name)
    with open_pipeline(study.pipeline) as pipeline_db:
        pipeline_db.conn.execute("PRAGMA synchronous=OFF")
        judge_ids = _judges(pipeline_db, shape.prompts, rubric)
        for number, judge_id in enumerate(judge_ids):
            _judgments(pipeline_db, judge_id, truth, shape.runs, 0.35 - 0.05 * number, rubric, rng)
        _notes(pipeline_db, judge_ids[-1])
        _ended_run(study, pipeline_db, shape.runs)


def _turns(pipeline_db: Database, shape: Shape) -> list[str]:
    """Store the turns; gives their hashes."""
    rows = list(_rows(shape.items))
    with immediate(pipeline_db):
        execute = pipeline_db.conn.executemany
        execute("INSERT INTO runs VALUES ('r', 'example', '{}', ?)", [[NOW]])
        execute(
            """INSERT OR IGNORE INTO conversations
                   (conversation_id, dataset, source_id, messages, meta)
               VALUES (?, ?, '', ?, '{}')""",
            (row[:3] for row in rows),
        )
        execute(
            """INSERT INTO answers (answer_id, conversation_id, run_id, text)
               VALUES (?, ?, 'r', ?)""",
            ((row[3], row[0], row[4]) for row in rows),
        )
        execute(
            """INSERT INTO turns (turn_id, answer_id, run_id, setting, model, temperature,
               sample_index, perturbation, text, item_hash, meta)
               VALUES (?, ?, 'r', 'self-generated', ?, ?, 0, ?, ?, ?, '{}')""",
            ((row[3], row[3], *row[5:]) for row in rows),
        )
    return [row[-1] for row in rows]


def _rows(items: int) -> Iterator[tuple]:
    """Of every turn: conversation, data set, messages, id, answer, how it was made, text, hash."""
    for number in range(items):
        query = number // TURNS
        messages = (Message("user", f"Question {query}: {SENTENCE * 2}"),)
        answer = f"Answer to question {query}. {SENTENCE * (2 + query % 4)}"
        text = f"Turn {number}: {SENTENCE}"
        yield (
            f"c{query}",
            f"set-{query % DATASETS}",
            canonical_json([message.as_dict() for message in messages]),
            f"t{number}",
            answer,
            f"model-{number % MODELS}",
            TEMPERATURES[number % len(TEMPERATURES)],
            PERTURBATIONS[number % len(PERTURBATIONS)],
            text,
            Item(messages, answer, text).hash,
        )


def _labels(
    pipeline_db: Database,
    labels_db: Database,
    truth: Mapping[str, int],
    rubric: Rubric,
    rng: np.random.Generator,
) -> None:
    """A label of each script for every item handed over, silent repeats too; some err."""
    sampled, repeats = sampled_items(pipeline_db), repeated_items(pipeline_db)
    items = list(blind_items(labels_db))
    right = np.array([truth[sampled[repeats.get(item, item)]] for item in items])
    with immediate(labels_db):
        for name in SCRIPTS:
            wrong = rng.random(len(items)) < PEOPLE_ERR
            said = np.where(wrong, rng.integers(len(rubric.categories), size=len(items)), right)
            labels_db["annotators"].insert({"annotator": name, "first_seen_at": NOW})
            nonces = [f"{name} {item}" for item in items]
            labels_db.conn.executemany(
                "INSERT INTO displays VALUES (?, ?, ?, ?, NULL, ?)",
                (
                    (nonce, name, item, rubric.version, NOW)
                    for nonce, item in zip(nonces, items, strict=True)
                ),
            )
            labels_db.conn.executemany(
                """INSERT INTO events (nonce, annotator, item_id, rubric_version, kind, category,
                   note, flagged, saved_at) VALUES (?, ?, ?, ?, 'label', ?, '', 0, ?)""",
                (
                    (nonce, name, item, rubric.version, rubric.category_ids[k], NOW)
                    for nonce, item, k in zip(nonces, items, said.tolist(), strict=True)
                ),
            )


def _judges(pipeline_db: Database, prompts: int, rubric: Rubric) -> list[str]:
    templates = [each.template for each in TemplateStore(pipeline_db).templates()][:prompts]
    store = JudgmentStore(pipeline_db)
    judge_ids = []
    for template in templates:
        prompt = render_prompt(rubric, template)
        judge = Judge(MODEL, {"temperature": 0}, rubric.version, prompt.prompt_hash)
        judge_ids.append(store.add_judge(judge, prompt))
    return judge_ids


def _judgments(
    pipeline_db: Database,
    judge_id: str,
    truth: Mapping[str, int],
    runs: int,
    errs: float,
    rubric: Rubric,
    rng: np.random.Generator,
) -> None:
    """Verdicts that err by chance, in some runs otherwise than in others; run after run."""
    ids, n, k = rubric.category_ids, len(truth), len(rubric.categories)
    right = np.array(list(truth.values()))
    usual = np.where(rng.random(n) < errs, rng.integers(k, size=n), right)
    for run in range(runs):
        said = np.where(rng.random(n) < RUN_ERRS, rng.integers(k, size=n), usual).tolist()
        unreadable = (rng.random(n) < UNREADABLE).tolist()
        with immediate(pipeline_db):
            pipeline_db.conn.executemany(
                """INSERT INTO judgments (judge_id, item_hash, run_index, label, sigma, rationale,
                   invalid_reason, raw, judged_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)""",
                (
                    (judge_id, item, run, *_verdict(item, run, ids, rubric, at, bad), NOW)
                    for item, at, bad in zip(truth, said, unreadable, strict=True)
                ),
            )


def _verdict(
    item: str, run: int, ids: Sequence[str], rubric: Rubric, at: int, unreadable: bool
) -> tuple[str | None, int | None, str | None, str | None, str]:
    """Label, sigma, rationale of about 200 characters, why unreadable, and the raw reply."""
    if unreadable:
        return None, None, None, "no JSON", f"I would rather not say. {SENTENCE}"
    rationale = f"Run {run} on {item[-8:]}: {SENTENCE * 2}"
    raw = json.dumps({"rationale": rationale, "label": ids[at]})
    return ids[at], int(rubric.categories[at].sigma), rationale, None, raw


def _notes(pipeline_db: Database, judge_id: str) -> None:
    """A note on every tenth item of the sample."""
    with immediate(pipeline_db):
        pipeline_db["cause_notes"].insert_all(
            {
                "item_id": item_id,
                "judge_id": judge_id,
                "causes": json.dumps([CAUSES[number % len(CAUSES)]]),
                "memo": "",
                "owner": "script owner",
                "after_note": None,
                "noted_at": NOW,
            }
            for number, item_id in enumerate(list(sampled_items(pipeline_db))[::10])
        )


def _ended_run(study: Study, pipeline_db: Database, runs: int) -> None:
    """What stays of a run on dev that was started from the page and is done."""
    form = RunForm(model=MODEL, base_url=SERVER, runs=str(runs))
    launch_id = pipeline_db["launches"].insert(
        {
            "owner": "script owner",
            "command": json.dumps(dev_run(form).command(study)),
            "choices": json.dumps(form.as_dict()),
            "started_at": NOW,
        }
    ).last_pk  # fmt: skip
    folder = study.folder / ".launches"
    folder.mkdir()
    (folder / f"{launch_id}.code").write_text("0")
    (folder / f"{launch_id}.err").write_text("done")
