"""What the fields that pages were sent are: text of the study, an opaque id, or a person's own."""

import re
from dataclasses import dataclass

from sqlite_utils import Database

TEXT = "text of the study"
OPAQUE = "opaque id"
OWN = "the person's own work"
LABELS = "what people said of an item, without their names"
ADJUDICATORS = "what adjudicators said of an item"
EVERYTHING = "the owner's view: everything in labels.db, names too"
COUNT = "count over the study, of no item"
RUBRIC = "the rubric, the same for everybody"
TRAINING = "training, whose items are not in the study"
PROGRAM = "the program's own words, or the page's state"
UNKNOWN = "UNKNOWN"

_COMMON = (
    (r"(screen\.)?parts\[\]\.(html|role|characters|long)|recent\[\]\.html", TEXT),
    (r"(screen\.|recent\[\]\.)?(item_id|nonce)", OPAQUE),
    (
        r"(screen\.)?rubric_version|(rubric\.)?(version|categories|guidelines|changed|instructions)",
        RUBRIC,
    ),
    (r"message|says|values(\..*)?|refused|stopped|stored|screen|recent|parts|rubric", PROGRAM),
)

# By the page that an act is of; the first that fits the whole path counts.
_KINDS = {
    "label": (
        *_COMMON,
        (r"(screen\.)?(training|feedback|result)\b.*", TRAINING),
        (r"screen\.(given|wanted|shared)", COUNT),
        (r"screen\.(annotator|position|labelled|skipped|saved|choice\..*)", OWN),
        (r"recent\[\]\.(receipt|saved_at|saved)", OWN),
        (r"screen\.(end|renew_after)", PROGRAM),
    ),
    "adjudicate": (
        *_COMMON,
        (r"screen\.(adjudicator|position|in_decided)", OWN),
        (r"screen\.(undecided|decided)", COUNT),
        (r"screen\.(labels\[\]\.(name|people)|labels|notes|notes\[\])", LABELS),
        (r"screen\.(discussion|decision|after)\b.*", ADJUDICATORS),
    ),
    "dashboard": ((r"refused|message|title|poll", PROGRAM), (r"html", EVERYTHING)),
}


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
        SentField(row["act"], row["field"], kind_of(row["act"], row["field"]), row["first_sent_at"])
        for row in rows
    ]


def kind_of(act: str, field: str) -> str:
    """What a field is that an act was answered with; an act is told by its page and its name.

    UNKNOWN where nobody has said, which is for a person to look at.

    >>> kind_of("label: save_label", "screen.parts[].html")
    'text of the study'
    >>> kind_of("label: save_label", "screen.labels"), kind_of("adjudicate: decide", "judge")
    ('UNKNOWN', 'UNKNOWN')
    """
    kinds = _KINDS.get(act.split(":")[0], ())
    return next((kind for pattern, kind in kinds if re.fullmatch(pattern, field)), UNKNOWN)
