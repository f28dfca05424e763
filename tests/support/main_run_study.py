"""Made-up main runs of any size with known rates: models × data sets × temperatures, perturbed too.

Turns, verdicts and labels are all drawn by chance: a study to try reports on, and nothing else.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import numpy as np
from sqlite_utils import Database

from annotator.annotation import append_event
from annotator.labelling.display import put_display
from annotator.labels import blind_items, open_labels, record_rubric
from generation.item import Item, Message
from generation.study import Study
from judge.calibration.rates.turn_verdicts import Cell
from judge.calibration.sampling.sample import draw_sample
from judge.calibration.sampling.sample_store import sampled_items
from judge.judge import Judge
from judge.prompts.prompt import render_prompt
from judge.prompts.prompt_template import PACKAGED
from judge.store import JudgmentStore, open_pipeline
from rubrics import Rubric, canonical_json, load_rubric

NOW = "2026-01-01T00:00:00+00:00"
CHUNK = 50_000  # rows per insert
JUDGE = "made-up-judge"


def paper_like(cell: Cell) -> float:
    """Near 0 at T = 0, more with it; truncation helps."""
    return 0.02 + 0.25 * (cell.temperature or 0.0) + 0.3 * (cell.perturbation == "truncate")


@dataclass(frozen=True)
class MadeRun:
    """What is drawn. `datasets` have answers by the models, `held_out` ones of their own.

    `rate` is the true share of genuine turns of a cell; with a `spread` it varies between
    conversations as Beta(rate · spread, (1 - rate) · spread). `degenerate` weighs the other
    labels of the rubric, in its order. `judged` is the share of turns that get a verdict.
    """

    models: tuple[str, ...] = ("Made-1B", "Made-8B")
    datasets: Mapping[str, int] = field(default_factory=lambda: {"gsm8k": 30, "ifbench": 20})
    held_out: Mapping[str, int] = field(default_factory=dict)
    temperatures: tuple[float, ...] = (0.0, 0.3, 0.7, 1.0)
    samples: int = 4
    perturbations: tuple[str, ...] = ("truncate", "ask")
    rate: Callable[[Cell], float] = paper_like
    degenerate: tuple[float, ...] = (4, 1, 3, 1, 1, 0.5)
    spread: float | None = None
    accuracy: float = 0.6
    changed: float = 0.8
    sensitivity: float = 0.9
    specificity: float = 0.95
    judged: float = 1.0
    labelled: int = 100
    plan: str = "made"
    seed: int = 0


@dataclass(frozen=True)
class _Row:
    """A turn with all that is stored of it."""

    conversation: str
    answer: str
    turn: str
    run: str
    cell: Cell
    sample: int
    text: str
    item_hash: str
    label: str
    verdict: str | None


def make_main_run(folder: Path, made: MadeRun) -> Study:
    """Write the study: runs, turns, verdicts of one judge, a simple random sample, its labels."""
    study, rubric = Study(folder), load_rubric("v3")
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(made.seed)
    with (
        open_pipeline(study.pipeline, create=True) as pipeline_db,
        open_labels(study.labels, create=True) as labels_db,
    ):
        prompt = render_prompt(rubric, PACKAGED)
        judge_id = JudgmentStore(pipeline_db).add_judge(
            Judge(JUDGE, {}, rubric.version, prompt.prompt_hash), prompt
        )
        pipeline_db.conn.execute("PRAGMA synchronous=OFF")
        pipeline_db.conn.execute("BEGIN")
        truth: dict[str, str] = {}
        _runs(pipeline_db, made)
        rows = _rows(pipeline_db, made, rubric, rng)
        while chunk := list(islice(rows, CHUNK)):
            _insert(pipeline_db, chunk, judge_id, rubric)
            truth |= {row.item_hash: row.label for row in chunk}
        pipeline_db.conn.execute("COMMIT")
        if made.labelled:
            draw_sample(pipeline_db, labels_db, n=made.labelled, seed=made.seed)
            _label_all(pipeline_db, labels_db, rubric, truth)
    return study


def _runs(pipeline_db: Database, made: MadeRun) -> None:
    for model in made.models:
        provenance = {"name": f"{made.plan}/{model}", "model": {"name": model}, "plan": {}}
        pipeline_db.conn.execute(
            "INSERT INTO runs (run_id, kind, provenance, started_at) VALUES (?, 'probe', ?, ?)",
            [f"sha256:{model}", json.dumps(provenance), NOW],
        )


def _rows(
    pipeline_db: Database, made: MadeRun, rubric: Rubric, rng: np.random.Generator
) -> Iterator[_Row]:
    """Every turn in order; conversations and answers are written as they come."""
    sets = [("self-generated", *of) for of in made.datasets.items()]
    sets += [("held-out", *of) for of in made.held_out.items()]
    for setting, dataset, queries in sets:
        for query in range(queries):
            messages = (Message("user", f"Question {query} of {dataset}?"),)
            conversation = f"c-{dataset}-{query}"
            pipeline_db.conn.execute(
                """INSERT INTO conversations (conversation_id, dataset, source_id, messages, meta)
                   VALUES (?, ?, ?, ?, '{}')""",
                [
                    conversation,
                    dataset,
                    str(query),
                    canonical_json([m.as_dict() for m in messages]),
                ],
            )
            for model in made.models:
                yield from _turns(
                    pipeline_db, made, rubric, rng, setting, dataset, conversation, messages, model
                )


def _turns(
    pipeline_db: Database,
    made: MadeRun,
    rubric: Rubric,
    rng: np.random.Generator,
    setting: str,
    dataset: str,
    conversation: str,
    messages: tuple[Message, ...],
    model: str,
) -> Iterator[_Row]:
    own = setting == "self-generated"
    genuine = next(of.id for of in rubric.categories if of.sigma)
    others = [of.id for of in rubric.categories if not of.sigma]
    weights = np.array(made.degenerate) / sum(made.degenerate)
    for perturbation in ("none", *made.perturbations) if own else ("none",):
        answer = f"a-{dataset}-{conversation}-{model}-{perturbation}"
        text = f"Answer of {model}." if perturbation == "none" else f"Answer, {perturbation}."
        parent = None if perturbation == "none" else answer.removesuffix(perturbation) + "none"
        pipeline_db.conn.execute(
            """INSERT INTO answers (answer_id, conversation_id, run_id, model, temperature, text,
               row_id, perturbation, parent_id) VALUES (?, ?, ?, ?, 0, ?, ?, ?, ?)""",
            [answer, conversation, f"sha256:{model}", model if own else None, text,
             answer if own else None, perturbation, parent],
        )  # fmt: skip
        if own and perturbation == "none":
            right = "right" if rng.random() < made.accuracy else "wrong"
            pipeline_db.conn.execute(
                """INSERT INTO answer_scores (answer_id, scorer, outcome, detail)
                   VALUES (?, ?, ?, ?)""",
                [answer, "made up", right, "{}"],
            )
        for temperature in made.temperatures if perturbation == "none" else (0.0,):
            cell = Cell(setting, model, dataset, temperature, perturbation)
            rate = made.rate(cell)
            if made.spread is not None and 0 < rate < 1:
                rate = rng.beta(rate * made.spread, (1 - rate) * made.spread)
            for sample in range(made.samples if temperature else 1):
                key = f"{dataset}-{conversation}-{model}-{perturbation}-{temperature}-{sample}"
                said = f"Turn {key}."
                if perturbation != "none" and rng.random() >= made.changed:
                    said = f"Turn {key.replace(perturbation, 'none')}."
                true = rng.random() < rate
                label = genuine if true else others[rng.choice(len(others), p=weights)]
                positive = rng.random() < (made.sensitivity if true else 1 - made.specificity)
                verdict = genuine if positive else (label if not true else others[0])
                yield _Row(
                    conversation,
                    answer,
                    f"t-{key}",
                    f"sha256:{model}",
                    cell,
                    sample,
                    said,
                    Item(messages, text, said).hash,
                    label,
                    verdict if made.judged >= 1 or rng.random() < made.judged else None,
                )


def _insert(pipeline_db: Database, chunk: list[_Row], judge_id: str, rubric: Rubric) -> None:
    sigma = {of.id: of.sigma for of in rubric.categories}
    pipeline_db.conn.executemany(
        """INSERT INTO turns (turn_id, answer_id, run_id, setting, model, temperature,
           sample_index, perturbation, text, item_hash, meta)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '{}')""",
        (
            (row.turn, row.answer, row.run, row.cell.setting, row.cell.model, row.cell.temperature,
             row.sample, row.cell.perturbation, row.text, row.item_hash)
            for row in chunk
        ),
    )  # fmt: skip
    pipeline_db.conn.executemany(
        "INSERT INTO run_turns (run_id, turn_id) VALUES (?, ?)",
        ((row.run, row.turn) for row in chunk),
    )
    pipeline_db.conn.executemany(
        """INSERT OR IGNORE INTO judgments (judge_id, item_hash, run_index, label, sigma,
           rationale, raw, judged_at) VALUES (?, ?, 0, ?, ?, 'Made up.', '', ?)""",
        (
            (judge_id, row.item_hash, row.verdict, sigma[row.verdict], NOW)
            for row in chunk
            if row.verdict is not None
        ),
    )


def _label_all(
    pipeline_db: Database, labels_db: Database, rubric: Rubric, truth: Mapping[str, str]
) -> None:
    hashes = sampled_items(pipeline_db)
    record_rubric(labels_db, rubric)
    labels_db["annotators"].insert({"annotator": "made-up", "first_seen_at": NOW})
    for item_id in blind_items(labels_db):
        if item_id not in hashes:  # a repeat
            continue
        display = put_display(
            labels_db,
            annotator="made-up",
            item_id=item_id,
            rubric_version=rubric.version,
            last_event_id=None,
        )
        append_event(
            labels_db,
            nonce=display.nonce,
            annotator="made-up",
            item_id=item_id,
            rubric_version=rubric.version,
            category=truth[hashes[item_id]],
            skip_reason=None,
            confidence=None,
            note="",
            flagged=False,
            saved_at=datetime.now(UTC).isoformat(),
        )
