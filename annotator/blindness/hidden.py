"""What annotators must not know of an item: read from the owner's store, by the owner's command.

No page imports this file. The judge's part of the store is read as plain tables, since nothing
here may import the judge.
"""

import sqlite3
from collections import defaultdict
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from sqlite_utils import Database

from rubrics import short

REPEAT = "silent repeat"
SEVERAL = " | "  # between the values of an item that several turns have the text of


@dataclass(frozen=True)
class Hidden:
    """`fields` has by field each item's value as text. `repeats` maps a repeat to its original.

    `identifiers` are the owner's ids and hashes of what is behind an item. `missing` says in
    words what could not be read.
    """

    fields: dict[str, dict[str, str]] = field(default_factory=dict)
    repeats: dict[str, str] = field(default_factory=dict)
    identifiers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    missing: tuple[str, ...] = ()


def hidden_facts(pipeline: Path, labels: Database) -> Hidden:
    """The facts behind every item: of pipeline.db if it is there, and the gold of labels.db."""
    gold = {row[0] for row in labels.conn.execute("SELECT item_id FROM gold")}
    items = [row[0] for row in labels.conn.execute("SELECT item_id FROM items")]
    fields = {"gold": {i: "yes" if i in gold else "no" for i in items}} if gold else {}
    if not pipeline.exists():
        why = (
            f"{pipeline.name} is not in the study's folder: model, data set, temperature, "
            "perturbation, setting, stratum, repeats and verdicts were not examined"
        )
        return Hidden(fields, missing=(why,))
    try:
        uri = f"{pipeline.resolve().as_uri()}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True)) as store:
            store.execute("PRAGMA query_only=ON")
            return _read(store, set(items), fields)
    except sqlite3.DatabaseError as error:
        why = f"{pipeline.name} cannot be read ({error}): nothing behind the items was examined"
        return Hidden(fields, missing=(why,))


def _read(store: sqlite3.Connection, items: set[str], fields: dict[str, dict[str, str]]) -> Hidden:
    values: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    identifiers: dict[str, set[str]] = defaultdict(set)
    hashes: dict[str, str] = {}
    rows = store.execute(
        """SELECT sample_items.item_id, turns.item_hash, turn_id, conversation_id,
                  turns.model, answers.model, turns.temperature, turns.perturbation,
                  turns.setting, turns.context_mode, dataset, stratum
           FROM sample_items JOIN turns USING (item_hash) JOIN answers USING (answer_id)
           JOIN conversations USING (conversation_id)"""
    )
    names = (
        "model", "model of the answer", "temperature", "perturbation", "setting", "context mode",
        "data set", "stratum",
    )  # fmt: skip
    for item_id, item_hash, turn_id, conversation_id, *found in rows:
        hashes[item_hash] = item_id
        identifiers[item_id] |= {item_hash, turn_id, conversation_id}
        for name, value in zip(names, found, strict=True):
            values[name][item_id].add("not known" if value is None else str(value))
    verdicts = store.execute(
        """SELECT model, judge_id, item_hash, label FROM judgments JOIN judges USING (judge_id)
           ORDER BY run_index DESC, judgment_id"""
    )
    for model, judge_id, item_hash, label in verdicts:  # the first run comes last, and counts
        if item_hash in hashes:
            values[f"verdict of {model} ({short(judge_id)})"][hashes[item_hash]] = {
                label or "invalid"
            }
    repeats = {
        repeat: original
        for repeat, original in store.execute("SELECT item_id, repeats FROM sample_repeats")
        if repeat in items
    }
    for name, by_item in values.items():
        known = {item: SEVERAL.join(sorted(of)) for item, of in by_item.items()}
        known |= {repeat: known[of] for repeat, of in repeats.items() if of in known}
        fields[name] = {item: value for item, value in known.items() if item in items}
    if repeats:
        fields[REPEAT] = {item: "yes" if item in repeats else "no" for item in items}
    unknown = len(items - set(hashes.values()) - repeats.keys())
    missing = (f"{unknown} items of labels.db are not in the sample of pipeline.db",)
    of = {item: tuple(sorted(found)) for item, found in identifiers.items() if item in items}
    return Hidden(fields, repeats, of, missing if unknown else ())
