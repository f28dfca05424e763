"""pipeline.db, the sample: its design, its items by opaque id, and which of them are repeated."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlite_utils import Database

from annotator.labels import BlindItem
from generation.clock import now
from generation.store import TurnStore, item_from
from judge.calibration.sampling.design import Sample, Stratum
from judge.calibration.sampling.repeats import repeated_items


@dataclass(frozen=True)
class SampledItem:
    """A drawn item: its opaque id, what it is, and the stratum that it was drawn from."""

    item_id: str
    item_hash: str
    stratum: str


def stored_sample(pipeline_db: Database) -> Sample | None:
    """The sample of the study, or None if none is drawn yet."""
    rows = list(pipeline_db["samples"].rows)
    if not rows:
        return None
    row = rows[0]
    of_strata = pipeline_db["sample_strata"].rows_where(order_by="stratum")
    return Sample(
        sample_id=row["sample_id"],
        seed=row["seed"],
        drawn=row["drawn"],
        population=row["population"],
        method=row["method"],
        strata_of=tuple(json.loads(row["strata_of"])),
        strata=tuple(Stratum(of["stratum"], of["drawn"], of["population"]) for of in of_strata),
        repeats=pipeline_db["sample_repeats"].count,
        added=max(0, TurnStore(pipeline_db).item_count() - row["population"]),
    )


def sampled_items(pipeline_db: Database) -> dict[str, str]:
    """Item hash by opaque item id: the way back from a blind item to what the judge saw.

    Repeats are no further items and not among them.
    """
    rows = pipeline_db["sample_items"].rows_where(order_by="item_id")
    return {row["item_id"]: row["item_hash"] for row in rows}


def sampled_strata(pipeline_db: Database) -> dict[str, str]:
    """The stratum of every sampled item by its hash, as it was at the drawing."""
    return {row["item_hash"]: row["stratum"] for row in pipeline_db["sample_items"].rows}


def save_sample(pipeline_db: Database, sample: Sample, items: Sequence[SampledItem]) -> None:
    """Store a sample with its items, in the caller's transaction.

    A sample that is there is taken to be extended: its items stay, and get the new chances.
    """
    extended = [row["sample_id"] for row in pipeline_db["samples"].rows]
    pipeline_db["samples"].insert(
        {
            "sample_id": sample.sample_id,
            "method": sample.method,
            "strata_of": json.dumps(sample.strata_of),
            "seed": sample.seed,
            "drawn": sample.drawn,
            "population": sample.population,
            "drawn_at": now(),
        }
    )
    pipeline_db["sample_strata"].insert_all(
        {
            "sample_id": sample.sample_id,
            "stratum": stratum.name,
            "drawn": stratum.drawn,
            "population": stratum.population,
        }
        for stratum in sample.strata
    )
    known = sampled_items(pipeline_db)
    times = _multiplicities(pipeline_db, [item.item_hash for item in items])
    chances = {stratum.name: stratum.inclusion_probability for stratum in sample.strata}
    rows = [
        {
            "item_id": item.item_id,
            "sample_id": sample.sample_id,
            "item_hash": item.item_hash,
            "stratum": item.stratum,
            "multiplicity": times[item.item_hash],
            "inclusion_probability": chances[item.stratum],
        }
        for item in items
    ]
    for row in rows:
        if row["item_id"] in known:
            pipeline_db["sample_items"].update(row["item_id"], row)
    pipeline_db["sample_items"].insert_all(row for row in rows if row["item_id"] not in known)
    for sample_id in extended:
        for table in ("sample_strata", "samples"):
            pipeline_db[table].delete_where("sample_id = ?", [sample_id])


def save_repeats(pipeline_db: Database, repeats: Mapping[str, str]) -> None:
    """Store the original's item id by the repeat's, in the caller's transaction."""
    pipeline_db["sample_repeats"].insert_all(
        {"item_id": repeat, "repeats": original} for repeat, original in sorted(repeats.items())
    )


def to_hand_over(pipeline_db: Database) -> Iterator[BlindItem]:
    """All that annotators get, by opaque id: items and repeats, which nothing tells apart."""
    rows = pipeline_db.conn.execute(
        """SELECT sample_items.item_id, conversations.messages, answers.text, turns.text
           FROM sample_items JOIN turns USING (item_hash) JOIN answers USING (answer_id)
           JOIN conversations USING (conversation_id) GROUP BY sample_items.item_id"""
    )
    items = {item_id: item_from(*texts) for item_id, *texts in rows.fetchall()}
    repeats = repeated_items(pipeline_db)
    ids = {item_id: item_id for item_id in items} | repeats
    for item_id in sorted(ids):
        yield BlindItem(item_id, items[ids[item_id]])


def _multiplicities(pipeline_db: Database, hashes: list[str]) -> dict[str, int]:
    """How many turns read like each of these items."""
    rows = pipeline_db.conn.execute(
        """SELECT item_hash, count(*) FROM turns
           WHERE item_hash IN (SELECT value FROM json_each(?)) GROUP BY item_hash""",
        [json.dumps(hashes)],
    )
    return dict(rows.fetchall())
