"""A dispute as what is sent to the page: the item, its labels and notes, and nobody's name."""

from dataclasses import dataclass
from typing import Any

from annotator.adjudication.adjudication import Adjudication
from annotator.adjudication.discussion import DiscussionNote
from annotator.adjudication.dispute import Dispute
from annotator.labelling.rubric_view import rubric_html
from annotator.labelling.view import item_view
from annotator.verbatim import verbatim_html
from generation.item import Item
from rubrics import Rubric


@dataclass(frozen=True)
class DisputeScreen:
    """What the adjudicator sees: an item, or with `item` None that the list is empty.

    `position` counts from 1 in the list that the page is in, which is the decided items' where
    `in_decided` holds; None for an item that is not in it. `notes` are the annotators' own.
    """

    adjudicator: str
    rubric: Rubric
    in_decided: bool
    undecided: int
    decided: int
    position: int | None = None
    item: Item | None = None
    dispute: Dispute | None = None
    notes: tuple[str, ...] = ()
    discussion: tuple[DiscussionNote, ...] = ()
    decision: Adjudication | None = None


@dataclass(frozen=True)
class DisputeReply:
    """The answer to an act. A refusal stored nothing; its message says why and what to do.

    One that is `suspect` no page of ours asks for, and is kept for the owner. `screen` None leaves
    the page as it is. `stored` says that the act itself was done. `rendered` and `rubric` are what
    the page asked to see.
    """

    message: str
    refused: bool = False
    suspect: bool = False
    stored: bool = False
    screen: DisputeScreen | None = None
    rendered: Item | None = None
    rubric: Rubric | None = None


def reply_view(reply: DisputeReply) -> dict[str, Any]:
    view = {
        "message": reply.message,
        "refused": reply.refused,
        "stored": reply.stored,
        "screen": screen_view(reply.screen) if reply.screen else None,
    }
    if reply.rendered:
        view["parts"] = item_view(reply.rendered, rendered=True)
    if reply.rubric:
        view["rubric"] = rubric_html(reply.rubric)
    return view


def screen_view(screen: DisputeScreen) -> dict[str, Any]:
    """The JSON of a screen; study texts in it are escaped HTML."""
    view: dict[str, Any] = {
        "adjudicator": screen.adjudicator,
        "rubric_version": screen.rubric.version,
        "in_decided": screen.in_decided,
        "undecided": screen.undecided,
        "decided": screen.decided,
        "position": screen.position,
        "item_id": None,
    }
    if screen.item is None or screen.dispute is None:
        return view
    return view | {
        "item_id": screen.dispute.item_id,
        "parts": item_view(screen.item, rendered=False),
        "labels": [
            {"name": category_name(category, screen.rubric), "people": people}
            for category, people in screen.dispute.labels
        ],
        # In the order of their texts: that of saving or of people would say whose they are.
        "notes": [verbatim_html(note) for note in sorted(screen.notes)],
        "discussion": [
            {"author": said.author, "html": verbatim_html(said.note), "written_at": said.written_at}
            for said in screen.discussion
        ],
        "decision": _decision_view(screen.decision, screen.rubric) if screen.decision else None,
        "after": screen.decision.adjudication_id if screen.decision else None,
    }


def _decision_view(decision: Adjudication, rubric: Rubric) -> dict[str, Any]:
    return {
        "category": decision.category,
        "name": category_name(decision.category, rubric),
        "html": verbatim_html(decision.reason),
        "reason": decision.reason,
        "adjudicator": decision.adjudicator,
        "decided_at": decision.decided_at,
    }


def category_name(category: str, rubric: Rubric) -> str:
    """The name that people know; an id that the rubric does not have stands for itself."""
    return rubric.category(category).name if category in rubric.category_ids else category
