"""A labels.db in which every table of the study's record has rows; written without any page."""

from pathlib import Path

from sqlite_utils import Database

from annotator.annotation import append_event
from annotator.labelling.display import put_display
from annotator.labels import BlindItem, add_items, open_labels, record_rubric
from generation.item import Item, Message
from rubrics import canonical_json, load_rubric

RUBRIC = load_rubric("v3")
GENUINE, NEW_TASK, MALFORMED = "genuine_followup", "new_task_prompt", "malformed"
PLAIN = tuple(f"turn {n}" for n in range(5))


def ids(count: int) -> list[str]:
    return [f"{n:012x}" for n in range(count)]


def at(second: int) -> str:
    return f"2030-01-01T00:{second // 60:02d}:{second % 60:02d}.000+00:00"


def new_labels(path: Path, turns=PLAIN) -> Database:
    """An open labels.db with these turns to label and two people."""
    database = open_labels(path, create=True)
    items = [
        BlindItem(item_id, Item((Message("user", f"q {turn}"),), f"a {turn}", turn))
        for item_id, turn in zip(ids(len(turns)), turns, strict=True)
    ]
    add_items(database, items, seed=7)
    record_rubric(database, RUBRIC)
    for name in ("zoe", "ann"):
        database["annotators"].insert({"annotator": name, "first_seen_at": at(0)})
    return database


def say(
    database: Database,
    who: str,
    item: int,
    category: str | None = GENUINE,
    *,
    second: int,
    note: str = "",
    active_ms: int | None = None,
) -> str:
    """One save, a skip without a category; returns its nonce."""
    of = {"annotator": who, "item_id": ids(item + 1)[-1], "rubric_version": "v3"}
    stands = database.conn.execute(
        """SELECT event_id FROM standing_events WHERE annotator = :annotator
           AND item_id = :item_id AND rubric_version = :rubric_version""",
        of,
    ).fetchone()
    shown = put_display(database, **of, last_event_id=stands[0] if stands else None)
    append_event(
        database, nonce=shown.nonce, **of, category=category, note=note, active_ms=active_ms,
        skip_reason=None if category else "too long", confidence="sure" if category else None,
        flagged=bool(note), saved_at=at(second),
    )  # fmt: skip
    return shown.nonce


def draft(database: Database, who: str, item: int, *, second: int, note: str) -> None:
    key = {"annotator": who, "item_id": ids(item + 1)[-1], "rubric_version": "v3"}
    content = canonical_json({"category": None, "confidence": None, "note": note, "flagged": False})
    database["drafts"].upsert(key | {"content": content, "saved_at": at(second)}, pk=tuple(key))


def decide(database: Database, item: int, category: str, *, second: int) -> None:
    database["adjudications"].insert(
        {
            "item_id": ids(item + 1)[-1],
            "rubric_version": "v3",
            "category": category,
            "reason": "It asks on.",
            "adjudicator": "dee",
            "decided_at": at(second),
        }
    )


def everything(path: Path, turns=PLAIN) -> Database:
    """Corrections, a skip, a draft, a dispute that was decided, gold, training, logins."""
    database = new_labels(path, turns)
    nonce = say(database, "ann", 0, GENUINE, second=10, active_ms=1_200)
    say(database, "zoe", 0, NEW_TASK, second=11, note=turns[-1])
    say(database, "ann", 1, None, second=12)
    say(database, "ann", 0, MALFORMED, second=13)
    draft(database, "zoe", 1, second=14, note=turns[0])
    decide(database, 0, GENUINE, second=15)
    item = {"item_id": ids(1)[0], "rubric_version": "v3"}
    tables = {
        "activity": {"nonce": nonce, "record": '[["shown", 0]]'},
        "adjudication_requests": item | {"after_adjudication": 1, "requested_at": at(16)},
        "discussion_notes": item | {"author": "dee", "note": turns[-1], "written_at": at(17)},
        "gold": item | {"category": GENUINE, "reason": "clear", "added_at": at(18)},
        "sent_fields": {"act": "open", "field": "screen.nonce", "first_sent_at": at(19)},
        "merges": {"source_hash": "sha256:0", "summary": "{}", "merged_at": at(20)},
        "training_items": {
            "training_id": "t1", "rubric_version": "v3", "messages": "[]", "answer": turns[-1],
            "turn": "u", "category": GENUINE, "why": "it asks on",
        },
        "training_rounds": {
            "annotator": "ann", "rubric_version": "v3", "round": 1, "training_ids": '["t1"]',
            "needed": 1, "opened_at": at(1),
        },
        "training_answers": {
            "nonce": "n1", "annotator": "ann", "rubric_version": "v3", "round": 1,
            "training_id": "t1", "category": GENUINE, "correct": 1, "answered_at": at(2),
        },
        # What must never leave.
        "accounts": {
            "name": "ann", "role": "annotator", "password_hash": "$argon2id$SECRET",
            "created_at": at(0),
        },
        "invitations": {
            "token_hash": "SECRET-i", "name": "ann", "created_at": at(0), "expires_at": at(9),
        },
        "logins": {
            "token_hash": "SECRET-l", "name": "ann", "created_at": at(0), "expires_at": at(9),
        },
        "login_attempts": {
            "name": "SECRET-a", "address": "SECRET-b", "succeeded": 0, "tried_at": at(0),
        },
        "refusals": {"name": "ann", "what": "SECRET-r", "why": "no", "refused_at": at(0)},
        "leases": item | {"annotator": "ann", "expires_at": at(99)},
    }  # fmt: skip
    for table, row in tables.items():
        database[table].insert(row)
    return database


def study_rows(database: Database) -> dict[str, list]:
    """Every row of the study's record, by table, in the order that means something."""
    from annotator.exchange.tables import EXPORTED

    found = {
        table.name: [
            tuple(row.values()) for row in database[table.name].rows_where(order_by=table.order)
        ]
        for table in EXPORTED
    }
    return found | {
        "standing_events": sorted(tuple(r.values()) for r in database["standing_events"].rows)
    }
