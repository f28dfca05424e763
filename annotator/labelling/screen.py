"""What an act on the labelling page is answered with: a message and, mostly, a new screen."""

from dataclasses import dataclass, field

from annotator.annotation import Annotation
from annotator.labelling.choice import Choice
from annotator.labels import BlindItem
from generation.item import Item
from rubrics import Rubric


@dataclass(frozen=True)
class Screen:
    """What the annotator sees: an item under a display nonce, or, with `shown` None, the end.

    `position` counts from 1 in the annotator's own order. `saved` is the current annotation.
    """

    annotator: str
    rubric: Rubric
    total: int
    labelled: int
    skipped: int
    position: int = 0
    shown: BlindItem | None = None
    nonce: str | None = None
    choice: Choice = field(default_factory=Choice)
    saved: Annotation | None = None


@dataclass(frozen=True)
class Reply:
    """The answer to an act. A refusal stored nothing; its message says why and what to do.

    `screen` None leaves the page as it is; `rendered` asks for the rendered view of an item.
    """

    message: str
    refused: bool = False
    screen: Screen | None = None
    rendered: Item | None = None


OUT_OF_DATE = Reply("Not saved: this page is out of date. Copy your note, then reload it.", True)
