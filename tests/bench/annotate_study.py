"""A labels.db of any size with labels of scripts in it, and accounts for those who go on."""

from pathlib import Path
from random import Random

from annotator.assignment.plan import Plan, put_plan
from annotator.labels import BlindItem, add_items, open_labels, record_rubric
from generation.database import immediate
from generation.item import Item, Message
from rubrics import latest_version, load_rubric

SCRIPTS = tuple(f"script {n}" for n in range(10))
SAVED_AT = "2026-01-01T00:00:00.000+00:00"


def make_study(folder: Path, items: int, labels_each: int, *, plan: Plan, seed: int = 11) -> None:
    """`items` short items, each labelled by so many scripts at random."""
    rubric, random = load_rubric(latest_version()), Random(seed)
    blind = (
        BlindItem(
            f"{n:012x}",
            Item((Message("user", f"Question {n}? " * 8),), f"Answer {n}. " * 30, f"And {n}? " * 6),
        )
        for n in range(items)
    )
    with open_labels(folder / "labels.db", create=True) as database:
        add_items(database, blind, seed=seed)
        record_rubric(database, rubric)
        put_plan(database, plan)
        with immediate(database):
            for name in SCRIPTS:
                database["annotators"].insert({"annotator": name, "first_seen_at": SAVED_AT})
            for item in range(items):
                for name in random.sample(SCRIPTS, labels_each):
                    row = {
                        "nonce": f"{item}/{name}",
                        "annotator": name,
                        "item_id": f"{item:012x}",
                        "version": rubric.version,
                        "category": random.choice(rubric.category_ids),
                        "at": SAVED_AT,
                    }
                    database.conn.execute(
                        """INSERT INTO displays VALUES
                           (:nonce, :annotator, :item_id, :version, NULL, :at)""",
                        row,
                    )
                    database.conn.execute(
                        """INSERT INTO events (nonce, annotator, item_id, rubric_version, kind,
                                               category, note, flagged, saved_at)
                           VALUES (:nonce, :annotator, :item_id, :version, 'label',
                                   :category, '', 0, :at)""",
                        row,
                    )
