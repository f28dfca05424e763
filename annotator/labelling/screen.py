"""What an act on the labelling page is answered with: a message and, mostly, a new screen."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from annotator.annotation import Annotation
from annotator.assignment.assigner import End, Progress
from annotator.labelling.choice import Choice
from annotator.labels import BlindItem
from generation.item import Item
from rubrics import Rubric


@dataclass(frozen=True)
class Screen:
    """What the annotator sees: an item under a display nonce, or, with `shown` None, the `end`.

    `position` counts from 1 along what this annotator did. `progress` is the annotator's own where
    everybody labels everything, else the study's; only then is there a lease, of `lease_seconds`.
    `saved` is what stands for the item.
    """

    annotator: str
    rubric: Rubric
    progress: Progress
    lease_seconds: int | None
    labelled: int
    skipped: int
    position: int = 0
    end: End | None = None
    shown: BlindItem | None = None
    nonce: str | None = None
    choice: Choice = field(default_factory=Choice)
    saved: Annotation | None = None


@dataclass(frozen=True)
class Reply:
    """The answer to an act. A refusal stored nothing; it says why and what to do.

    `says` is a sentence with {names} that `values` fill, so that the page can say it in another
    language. `screen` None leaves the page as it is; `rendered` asks for the rendered view of an
    item, `recent` for what somebody saved last, `rubric` for its texts, without examples where
    these are `withheld`. `suspect`: no page of ours sends such a thing.
    """

    says: str
    refused: bool = False
    suspect: bool = False
    screen: Screen | None = None
    rendered: Item | None = None
    recent: tuple["Recent", ...] | None = None
    rubric: Rubric | None = None
    withheld: bool = False
    values: Mapping[str, object] = field(default_factory=dict)

    @property
    def message(self) -> str:
        return self.says.format_map(self.values)


@dataclass(frozen=True)
class Recent:
    """One of the labels that somebody saved last, with the start of its turn."""

    annotation: Annotation
    saved_as: str
    turn: str


OUT_OF_DATE = Reply(
    "Not saved: this page is out of date. Copy your note, then reload it.",
    refused=True,
    suspect=True,
)
