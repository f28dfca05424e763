"""A folder that `datasets.load_dataset(FOLDER)` reads, with all that a published study needs.

README.md                  the card: what is what, in YAML and in words
data/annotations.parquet   one row per annotation event
data/items.parquet         the texts, labelled or not
data/adjudications.parquet
rubrics/V.toml             what people read
labels.jsonl               the canonical export
blindness.json             what annotators could know
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlite_utils import Database

from annotator.exchange.jsonl import write_jsonl
from annotator.exchange.parquet_table import write_parquet
from annotator.exchange.record import AnnotationRecord
from annotator.exchange.who import People, Who
from generation.exchange.parquet_file import write_rows

ITEM_COLUMNS = {name: "string" for name in ("item", "messages", "answer", "turn")}
ADJUDICATION_COLUMNS = {
    name: "string" for name in ("item", "rubric", "category", "reason", "adjudicator", "decided_at")
}


def write_hf_folder(
    database: Database,
    folder: Path,
    records: Iterable[AnnotationRecord],
    people: People,
    version: str | None,
    blindness: str,
) -> None:
    """Write the folder; `blindness` is the report as JSON."""
    (folder / "data").mkdir(parents=True)
    (folder / "rubrics").mkdir()
    stand: Counter[tuple[str, str, str]] = Counter()
    write_parquet(_counted(records, stand), folder / "data" / "annotations.parquet")
    rows = ({"item": row["item_id"]} | row for row in database["items"].rows)
    write_rows(rows, ITEM_COLUMNS, folder / "data" / "items.parquet")
    decisions = _adjudications(database, people, version)
    if decisions:  # a table without rows would not load
        write_rows(decisions, ADJUDICATION_COLUMNS, folder / "data" / "adjudications.parquet")
    for row in database["rubrics"].rows:
        name = quote(row["version"], safe="")
        (folder / "rubrics" / f"{name}.toml").write_bytes(row["text"].encode())
    write_jsonl(database, folder / "labels.jsonl", people)
    (folder / "blindness.json").write_text(blindness + "\n", encoding="utf-8")
    tables = ["annotations", "items", *(["adjudications"] if decisions else [])]
    items = database["items"].count
    card = _card(tables, items, stand, people.who, version)
    (folder / "README.md").write_text(card, encoding="utf-8")


def _counted(
    records: Iterable[AnnotationRecord], stand: Counter[tuple[str, str, str]]
) -> Iterator[AnnotationRecord]:
    for record in records:
        stand[record.rubric_version, record.annotator, record.kind] += record.stands
        yield record


def _adjudications(
    database: Database, people: People, version: str | None
) -> list[Mapping[str, Any]]:
    rows = database["adjudications"].rows_where(
        "? IS NULL OR rubric_version = ?", [version, version], order_by="adjudication_id"
    )
    return [
        row
        | {
            "item": row["item_id"],
            "rubric": row["rubric_version"],
            "adjudicator": people.called(row["adjudicator"]),
        }
        for row in rows
    ]


def _card(
    tables: list[str],
    items: int,
    stand: Mapping[tuple[str, str, str], int],
    who: Who,
    version: str | None,
) -> str:
    configs = "".join(
        f"- config_name: {table}\n{'  default: true' + chr(10) if table == 'annotations' else ''}"
        f"  data_files: data/{table}.parquet\n"
        for table in tables
    )
    counts = "".join(
        f"| {rubric} | {_cell(annotator)} | {kind} | {count} |\n"
        for (rubric, annotator, kind), count in sorted(stand.items())
    )
    named = "their names" if who is Who.NAMES else "numbers in place of their names"
    whole = (
        f"The rows are those\nunder rubric {version}; `labels.jsonl` holds all."
        if version
        else "The rows are those\nunder every rubric version: compare within one."
    )
    return f"""---
pretty_name: {json.dumps("Human labels of user turns")}
task_categories:
- text-classification
configs:
{configs}---

# Human labels of user turns

The study has {items} items, each a conversation that ends in a question (`messages`, JSON), the
answer to it and the user turn after that. Annotators are called by {named}.

One row of `annotations` is one event: a label or a skip. Nothing was ever changed or deleted: a
correction is a later event, and `stands` tells the one that counts. `label` is its category, and
empty in all other rows. {whole}

| rubric | annotator | act | events that stand |
|---|---|---|---|
{counts}
```python
from datasets import load_dataset
annotations = load_dataset("this folder")
items = load_dataset("this folder", "items")
```

`rubrics/` holds the definitions that people read, `labels.jsonl` the whole history from which
`annotate import` makes the store again, `blindness.json` what annotators could know of an item.
"""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
