"""A made-up main run of any size, with a judge and labels that are drawn by known error rates.

The labels are made up as well: a study to measure speed and coverage on, and nothing else.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice, product

import numpy as np
from sqlite_utils import Database

from annotator.annotation import append_event
from annotator.labelling.display import put_display
from annotator.labels import blind_items, open_labels, record_rubric
from generation.item import Item, Message
from generation.study import Study
from judge.calibration.sampling.sample import draw_sample
from judge.calibration.sampling.sample_store import sampled_items
from judge.judge import Judge
from judge.prompts.prompt import render_prompt
from judge.prompts.prompt_template import PACKAGED
from judge.store import JudgmentStore, open_pipeline
from rubrics import canonical_json, latest_version, load_rubric

NOW = "2026-01-01T00:00:00+00:00"
TEMPERATURES = (0.0, 0.3, 0.7, 1.0)
CHUNK = 50_000  # rows per insert


@dataclass(frozen=True)
class Shape:
    """How large the study is: at temperature 0 one sample of each turn, above `samples`.

    There are models · datasets · queries · (1 + 3 · samples) turns, each a distinct item that the
    judge has judged `runs` times.
    """

    models: int = 10
    datasets: int = 5
    queries: int = 1540
    samples: int = 4
    runs: int = 1
    labelled: int = 400
    rate: float = 0.2
    sensitivity: float = 0.85
    specificity: float = 0.95


def make_study(study: Study, shape: Shape, seed: int = 0) -> None:
    """Write the study: turns, judgments, a simple random sample, and its labels."""
    rng = np.random.default_rng(seed)
    rubric = load_rubric(latest_version())
    genuine = next(c.id for c in rubric.categories if c.sigma)
    other = next(c.id for c in rubric.categories if not c.sigma)
    with (
        open_pipeline(study.pipeline, create=True) as pipeline_db,
        open_labels(study.labels, create=True) as labels_db,
    ):
        prompt = render_prompt(rubric, PACKAGED)
        judge_id = JudgmentStore(pipeline_db).add_judge(
            Judge("made-up-judge", {}, rubric.version, prompt.prompt_hash), prompt
        )
        truth: dict[str, bool] = {}
        pipeline_db.conn.execute("PRAGMA synchronous=OFF")
        pipeline_db.conn.execute("BEGIN")
        pipeline_db.conn.execute("INSERT INTO runs VALUES ('r', 'example', '{}', ?)", [NOW])
        rows = _rows(shape)
        while chunk := list(islice(rows, CHUNK)):
            true = rng.random(len(chunk)) < shape.rate
            truth |= zip([row[-1] for row in chunk], true.tolist(), strict=True)
            _insert(pipeline_db, chunk)
            chance = np.where(true, shape.sensitivity, 1 - shape.specificity)
            for run in range(shape.runs):
                positive = (rng.random(len(chunk)) < chance).tolist()
                pipeline_db.conn.executemany(
                    """INSERT INTO judgments (judge_id, item_hash, run_index, label, sigma, raw,
                       judged_at) VALUES (?, ?, ?, ?, ?, '', ?)""",
                    (
                        (judge_id, row[-1], run, genuine if said else other, int(said), NOW)
                        for row, said in zip(chunk, positive, strict=True)
                    ),
                )
        pipeline_db.conn.execute("COMMIT")
        draw_sample(pipeline_db, labels_db, n=shape.labelled, seed=seed)
        hashes = sampled_items(pipeline_db)
        record_rubric(labels_db, rubric)
        labels_db["annotators"].insert({"annotator": "made-up", "first_seen_at": NOW})
        for item_id in blind_items(labels_db):
            if item_id in hashes:  # not a repeat
                label = genuine if truth[hashes[item_id]] else other
                _label(labels_db, item_id, label, rubric.version)


def _rows(shape: Shape) -> Iterator[tuple]:
    """Of every turn: conversation, data set, messages, answer id, turn id, and how it was made."""
    for dataset, query in product(range(shape.datasets), range(shape.queries)):
        messages = (Message("user", f"Question {query} of set {dataset}?"),)
        stored = canonical_json([message.as_dict() for message in messages])
        for model, temperature in product(range(shape.models), TEMPERATURES):
            for sample in range(shape.samples if temperature else 1):
                key = f"{dataset}-{query}-{model}-{temperature}-{sample}"
                text = f"Turn {key}"
                yield (
                    f"c{dataset}-{query}",
                    f"set-{dataset}",
                    stored,
                    f"a{key}",
                    f"t{key}",
                    f"model-{model}",
                    temperature,
                    sample,
                    text,
                    Item(messages, "Answer.", text).hash,
                )


def _insert(pipeline_db: Database, chunk: list[tuple]) -> None:
    conversations = {row[0]: row[:3] for row in chunk}
    execute = pipeline_db.conn.executemany
    execute(
        """INSERT OR IGNORE INTO conversations
               (conversation_id, dataset, source_id, messages, meta)
           VALUES (?, ?, '', ?, '{}')""",
        conversations.values(),
    )
    execute(
        """INSERT INTO answers (answer_id, conversation_id, run_id, text)
           VALUES (?, ?, 'r', 'Answer.')""",
        ((row[3], row[0]) for row in chunk),
    )
    execute(
        """INSERT INTO turns (turn_id, answer_id, run_id, setting, model, temperature,
           sample_index, perturbation, text, item_hash, meta)
           VALUES (?, ?, 'r', 'self-generated', ?, ?, ?, 'none', ?, ?, '{}')""",
        ((row[4], row[3], *row[5:]) for row in chunk),
    )


def _label(labels_db: Database, item_id: str, label: str, version: str) -> None:
    display = put_display(
        labels_db,
        annotator="made-up",
        item_id=item_id,
        rubric_version=version,
        last_event_id=None,
    )
    append_event(
        labels_db,
        nonce=display.nonce,
        annotator="made-up",
        item_id=item_id,
        rubric_version=version,
        category=label,
        skip_reason=None,
        confidence=None,
        note="",
        flagged=False,
        saved_at=datetime.now(UTC).isoformat(),
    )
