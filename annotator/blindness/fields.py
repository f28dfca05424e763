"""What the fields that pages were sent are: text of the study, an opaque id, or a person's own."""

import re
from dataclasses import dataclass

from sqlite_utils import Database

TEXT = "text of the study"
OPAQUE = "opaque id"
OWN = "the annotator's own work"
COUNT = "count over the study, of no item"
RUBRIC = "the rubric, the same for everybody"
TRAINING = "training, whose items are not in the study"
PROGRAM = "the program's own words, or the page's state"
UNKNOWN = "UNKNOWN"

# The first that fits the whole path counts.
_KINDS = (
    (r"(screen\.)?parts\[\]\.(html|role|characters|long)|recent\[\]\.html", TEXT),
    (r"(screen\.|recent\[\]\.)?(item_id|nonce)", OPAQUE),
    (r"(screen\.)?(training|feedback|result)\b.*", TRAINING),
    (r"screen\.(given|wanted|total|shared)", COUNT),
    (r"screen\.(annotator|position|labelled|skipped|saved|choice\..*)", OWN),
    (r"recent\[\]\.(receipt|saved_at|saved)", OWN),
    (r"(screen\.)?rubric_version|version|categories|guidelines|changed|instructions", RUBRIC),
    (r"message|says|values(\..*)?|refused|stopped|screen|recent|parts|feedback|result", PROGRAM),
    (r"screen\.(end|finished|renew_after)", PROGRAM),
)


@dataclass(frozen=True)
class SentField:
    """A field of the replies to an act, and what it is."""

    act: str
    field: str
    kind: str
    first_sent_at: str


def sent_fields(database: Database) -> list[SentField]:
    """Every field that a page was ever sent, in order of act and field."""
    rows = database["sent_fields"].rows_where(order_by="act, field")
    return [
        SentField(row["act"], row["field"], kind_of(row["field"]), row["first_sent_at"])
        for row in rows
    ]


def kind_of(field: str) -> str:
    """What a field is; UNKNOWN where nobody has said, which is for a person to look at.

    >>> kind_of("screen.parts[].html"), kind_of("screen.judge_label")
    ('text of the study', 'UNKNOWN')
    """
    return next((kind for pattern, kind in _KINDS if re.fullmatch(pattern, field)), UNKNOWN)
