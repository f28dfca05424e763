"""A folder that `datasets.load_dataset(FOLDER)` reads: turns, what was said of them, and the card.

README.md                what is what, in YAML and in words
data/turns.parquet       one row per user turn: the item's hash and what `generate export` writes
data/judgments.parquet   one row per judge × item × run
data/labels.parquet      one row per person's current label or skip
data/references.parquet  one row per item that most people gave one label
messages.jsonl           each turn's conversation as chat messages, in the order of the turns
rubrics/V.toml           what judges and people read

A table without rows would not load, so it is left out.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import TextIO
from urllib.parse import quote

from sqlite_utils import Database

from annotator.labels import open_labels
from generation.canary import canary_items
from generation.exchange.chat_rows import openai_row
from generation.exchange.parquet_file import write_rows
from generation.exchange.turn_table import COLUMNS, table_row
from generation.exchange.whole import made_whole
from generation.runs.run_record import run_records
from generation.store import TurnStore
from generation.study import Study
from judge.calibration.main_run.judge_quality import JudgeQuality, unknown_quality
from judge.calibration.published.card import card
from judge.calibration.published.judges import quality_of, rubric_of, wanted_judges
from judge.calibration.published.labels import (
    LABEL_COLUMNS,
    NO_LABELS,
    REFERENCE_COLUMNS,
    PublishedLabels,
    published_labels,
)
from judge.calibration.published.published import Published, Wanted
from judge.calibration.published.turns import PublishedTurns
from judge.calibration.published.verdicts import COLUMNS as VERDICT_COLUMNS
from judge.calibration.published.verdicts import JudgeVerdicts
from rubrics import InputError, Rubric, canonical_json, short

TURN_COLUMNS = {"item_hash": "string", **COLUMNS}

Row = Mapping[str, object]


def publish(pipeline_db: Database, study: Study, wanted: Wanted, folder: Path) -> Published:
    """Write the data set of a study to a new folder, which is there whole or not at all.

    The same study gives the same bytes. Raises InputError where the folder is taken, where no turn
    can be published, for a judge that is not there, and where one rubric version is two texts.
    """
    with made_whole(folder) as new, pipeline_db.atomic():
        data = new / "data"
        data.mkdir(parents=True)
        run_ids = wanted.selection.run_ids if wanted.selection else None
        judges = [JudgeVerdicts(judge) for judge in wanted_judges(pipeline_db, study, wanted)]
        turns = PublishedTurns(pipeline_db, run_ids, canary_items(pipeline_db))
        _write_turns(turns, new)
        said = (row for judge in judges for row in judge.rows(pipeline_db, turns.canary))
        _write(said, VERDICT_COLUMNS, data / "judgments.parquet")
        labels, qualities = _people(pipeline_db, study, turns, judges, wanted)
        _write(labels.labels, LABEL_COLUMNS, data / "labels.parquet")
        _write(labels.references, REFERENCE_COLUMNS, data / "references.parquet")
        published = Published(
            folder=folder,
            runs=wanted.selection.runs if wanted.selection else tuple(run_records(pipeline_db)),
            turns=turns,
            items=turns.items,
            judges=tuple(judges),
            qualities=qualities,
            labels=labels,
            rubrics=_rubrics(pipeline_db, judges, labels),
            who=wanted.who,
        )
        _write_rubrics(published.rubrics, new / "rubrics")
        (new / "README.md").write_text(card(published), encoding="utf-8")
    return published


def _write_turns(turns: PublishedTurns, new: Path) -> None:
    with (new / "messages.jsonl").open("w", encoding="utf-8", newline="\n") as messages:
        rows = _turn_rows(turns, messages)
        write_rows(rows, TURN_COLUMNS, new / "data" / "turns.parquet")
    if turns.count:
        return
    canary = turns.left_out
    if canary:
        raise InputError(
            f"all {canary.total()} turns are of data sets that ask never to be published: "
            f"{', '.join(sorted(canary))}; nothing was written"
        )
    raise InputError("there are no turns to publish; expected some: generate show lists the runs")


def _turn_rows(turns: PublishedTurns, messages: TextIO) -> Iterator[Row]:
    # The samples of one answer follow each other.
    answer = lru_cache(maxsize=256)(TurnStore(turns.pipeline_db).answer)
    for turn in turns:
        messages.write(canonical_json(openai_row(turn)) + "\n")
        parent = turn.answer.parent_id
        yield {"item_hash": turn.item.hash} | table_row(turn, answer(parent) if parent else None)


def _write(rows: Iterable[Row], columns: Mapping[str, str], path: Path) -> None:
    """As a table, unless there are none."""
    remaining = iter(rows)
    first = next(remaining, None)
    if first is not None:
        write_rows(chain([first], remaining), columns, path)


def _people(
    pipeline_db: Database,
    study: Study,
    turns: PublishedTurns,
    judges: Sequence[JudgeVerdicts],
    wanted: Wanted,
) -> tuple[PublishedLabels, dict[str, JudgeQuality]]:
    """What people said, and what it tells of each judge."""
    if not study.labels.exists():
        nobody = unknown_quality("nobody has labelled")
        return NO_LABELS, {of.judge.judge_id: nobody for of in judges}
    with open_labels(study.labels) as labels_db, labels_db.atomic():
        labels = published_labels(pipeline_db, labels_db, turns, wanted.who, wanted.version)
        qualities = {
            of.judge.judge_id: quality_of(pipeline_db, labels_db, of.judge) for of in judges
        }
    return labels, qualities


def _rubrics(
    pipeline_db: Database, judges: Sequence[JudgeVerdicts], labels: PublishedLabels
) -> tuple[Rubric, ...]:
    """Every rubric that judges or people read, by version."""
    found: dict[str, Rubric] = {}
    for rubric in (*labels.rubrics, *(rubric_of(pipeline_db, of.judge) for of in judges)):
        known = found.setdefault(rubric.version, rubric)
        if known.hash != rubric.hash:
            raise InputError(
                f"rubric {rubric.version} is not one text but two: {short(known.hash)} and "
                f"{short(rubric.hash)}; a changed rubric needs a new version"
            )
    return tuple(found[version] for version in sorted(found))


def _write_rubrics(rubrics: Iterable[Rubric], folder: Path) -> None:
    for rubric in rubrics:
        folder.mkdir(exist_ok=True)
        path = folder / f"{quote(rubric.version, safe='')}.toml"
        path.write_bytes(rubric.text.encode())
