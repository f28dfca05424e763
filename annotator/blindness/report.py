"""The blindness report: what annotators could read, were sent, and could have inferred."""

import json
from dataclasses import dataclass
from typing import Any

from sqlite_utils import Database

from annotator.blindness.fields import UNKNOWN, SentField, sent_fields
from annotator.blindness.hidden import Hidden, hidden_facts
from annotator.blindness.inference import (
    LEVEL,
    Association,
    Occurrence,
    associations,
    occurrences,
)
from annotator.blindness.item_ids import ItemIds, examine_ids
from annotator.blindness.orders import Orders, Shown, compare_orders, shown_orders
from annotator.blindness.reach import Reach, reach
from annotator.exchange.who import People
from annotator.labels import study_seed
from annotator.measures.multiplicity import holm
from generation.study import Study

STYLE = "what the style of a text tells of its model cannot be examined: the text is the study"
NEAR = 5  # items between a repeat and its original, below which people may notice


@dataclass(frozen=True)
class BlindnessReport:
    """What was examined; `findings` are in words, and empty where nothing was found."""

    reach: Reach
    sent: tuple[SentField, ...]
    orders: Orders
    occurrences: tuple[Occurrence, ...]
    associations: tuple[Association, ...]
    ids: ItemIds
    seed: int
    not_examined: tuple[str, ...]

    @property
    def findings(self) -> list[str]:
        return [
            *self.reach.findings,
            *(
                f"a page was sent {field.field} (in reply to {field.act}), and nobody has said "
                "what that is: look at it"
                for field in self.sent
                if field.kind == UNKNOWN
            ),
            *(
                ["the orders of different annotators are more alike than chance makes them"]
                if self.orders.alike
                else []
            ),
            *(
                f"the {said.field} {said.value!r} stands in the text of {said.own} of its own "
                f"{said.own_items} items and of {said.others} of {said.other_items} others"
                for said in self._telling
            ),
            *(
                f"{found.field} goes with {found.place} (p = {found.adjusted:.3f}, corrected)"
                for found in self.associations
                if found.adjusted < LEVEL
            ),
            *(
                f"the id of item {item_id} is part of an identifier of the owner's"
                for item_id in self.ids.telling
            ),
            *(["ids are of several forms"] if len(self.ids.forms) > 1 else []),
            *(
                [f"a silent repeat came {self.ids.nearest} items after its original"]
                if self.ids.nearest is not None and self.ids.nearest < NEAR
                else []
            ),
        ]

    @property
    def _telling(self) -> list[Occurrence]:
        adjusted = holm([said.p for said in self.occurrences])
        return [said for said, p in zip(self.occurrences, adjusted, strict=True) if p < LEVEL]

    @property
    def verdict(self) -> str:
        count = len(self.findings)
        if count:
            return f"NOT SHOWN TO BE BLIND: {count} finding{'' if count == 1 else 's'}, see below"
        if len(self.not_examined) > 1:
            return (
                "nothing was found that tells more of an item than its text, of what was examined"
            )
        return "blind: nothing was found that tells more of an item than its text"

    def as_dict(self) -> dict[str, Any]:
        return {
            "verdict": self.verdict,
            "findings": self.findings,
            "not_examined": list(self.not_examined),
            "seed": self.seed,
            "reach": self.reach.as_dict(),
            "sent": [vars(field) for field in self.sent],
            "orders": self.orders.as_dict(),
            "occurrences": [said.as_dict() for said in self.occurrences],
            "associations": [found.as_dict() for found in self.associations],
            "ids": self.ids.as_dict(),
        }


def blindness_report(database: Database, study: Study, people: People) -> BlindnessReport:
    """Examine an open labels.db, and the owner's store beside it if there is one.

    Annotators are called as `people` says.
    """
    hidden = hidden_facts(study.pipeline, database)
    orders = shown_orders(database)
    seed = study_seed(database)
    ids = [row["item_id"] for row in database["items"].rows_where(order_by="rowid")]
    # The place in labels.db is told to no page; a sample that was extended has its repeats last.
    sequences = {"the item's id": sorted(ids)}
    gold = database.conn.execute("SELECT count(DISTINCT item_id) FROM gold").fetchone()[0]
    sent = tuple(sent_fields(database))
    called: Shown = {(people.called(who), of): items for (who, of), items in orders.items()}
    return BlindnessReport(
        reach=reach(database),
        sent=sent,
        orders=compare_orders(called),
        occurrences=tuple(occurrences(_texts(database), hidden.fields)),
        associations=tuple(associations(hidden.fields, orders, sequences, seed=seed)),
        ids=examine_ids(ids, gold, hidden.repeats, hidden.identifiers, orders),
        seed=seed,
        not_examined=tuple(_not_examined(hidden, sent, orders)),
    )


def _not_examined(hidden: Hidden, sent: tuple[SentField, ...], orders: Shown) -> list[str]:
    return [
        STYLE,
        *hidden.missing,
        *([] if sent else ["no page has been sent anything yet, so no field was examined"]),
        *([] if orders else ["nobody has been shown an item yet, so no order was examined"]),
    ]


def _texts(database: Database) -> dict[str, str]:
    """All that is shown of each item, as one text."""
    rows = database.conn.execute("SELECT item_id, messages, answer, turn FROM items")
    return {
        item_id: "\n".join([*(m["content"] for m in json.loads(messages)), answer, turn])
        for item_id, messages, answer, turn in rows
    }
