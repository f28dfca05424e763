"""Which tables of labels.db are the study's record, and which stay where they are."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """A table that is exported whole. `record` is what a line of the canonical file is called.

    `order` keeps what the order of rows means, such as what somebody was shown last. `people` are
    the columns that name one, `json` those that hold JSON.
    """

    name: str
    record: str
    order: str = "rowid"
    people: tuple[str, ...] = ()
    json: tuple[str, ...] = ()


EXPORTED = (
    Table("settings", "setting"),
    Table("rubrics", "rubric"),
    Table("items", "item", json=("messages",)),
    Table("annotators", "annotator", people=("annotator",)),
    Table("displays", "display", people=("annotator",)),
    Table("activity", "activity", json=("record",)),
    Table("drafts", "draft", people=("annotator",), json=("content",)),
    Table("events", "event", people=("annotator",)),
    Table("adjudications", "adjudication", people=("adjudicator",)),
    Table("adjudication_requests", "adjudication_request"),
    Table("discussion_notes", "discussion_note", people=("author",)),
    Table("gold", "gold"),
    Table("training_items", "training_item", json=("messages",)),
    Table(
        "training_rounds",
        "training_round",
        people=("annotator",),
        json=("training_ids",),
    ),
    Table("training_answers", "training_answer", people=("annotator",)),
    Table("sent_fields", "sent_field", order="act, field"),
    Table("merges", "merge", json=("summary",)),
)

# Why a table is never exported and never merged.
KEPT_BACK = {
    "accounts": "who may log in, with password hashes",
    "invitations": "who may log in",
    "logins": "who is logged in",
    "login_attempts": "who tried to log in, from where",
    "refusals": "what people asked for without the right to it",
    "leases": "who is at work right now",
    "standing_events": "follows from the events",
}
