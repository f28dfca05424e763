"""Screens as what is sent to the page: escaped HTML and the few facts an annotator may know."""

from dataclasses import asdict
from typing import Any

from annotator.annotation import saved_as
from annotator.labelling.choice import Choice
from annotator.labelling.rendered import rendered_html
from annotator.labelling.rubric_view import rubric_html
from annotator.labelling.screen import Recent, Reply, Screen
from annotator.training.screen import Feedback, RoundResult, TrainingReply, TrainingScreen
from annotator.verbatim import verbatim_html
from generation.item import Item
from rubrics import Rubric

# A text longer than this is folded on the page, with a button that unfolds it.
FOLD_CHARACTERS = 1_500
FOLD_LINES = 24
RENEWALS = 3  # in the time of a lease, so that one may fail
EXCERPT = 120  # characters of a turn in the list of recent labels


def reply_view(reply: Reply) -> dict[str, Any]:
    """The JSON of a reply; `screen` is None where the page stays as it is."""
    view = {
        "message": reply.message,
        "says": reply.says,
        "values": dict(reply.values),
        "refused": reply.refused,
        "screen": screen_view(reply.screen) if reply.screen else None,
    }
    if reply.rendered:
        view["parts"] = item_view(reply.rendered, rendered=True)
    if reply.rubric:
        view["rubric"] = rubric_html(reply.rubric, withheld=reply.withheld)
    if reply.recent is not None:
        view["recent"] = [_recent_view(recent) for recent in reply.recent]
    return view


def screen_view(screen: Screen) -> dict[str, Any]:
    """The JSON of a screen: nothing of an item but its opaque id and its text."""
    view: dict[str, Any] = {
        "annotator": screen.annotator,
        "given": screen.progress.given,
        "wanted": screen.progress.wanted,
        "shared": screen.lease_seconds is not None,
        "renew_after": screen.lease_seconds / RENEWALS if screen.lease_seconds else None,
        "labelled": screen.labelled,
        "skipped": screen.skipped,
        "end": screen.end,
        "rubric_version": screen.rubric.version,
    }
    if screen.shown is None:
        return view
    return view | {
        "position": screen.position,
        "item_id": screen.shown.item_id,
        "nonce": screen.nonce,
        "parts": item_view(screen.shown.item, rendered=False),
        "choice": asdict(screen.choice),
        "saved": saved_as(screen.saved, screen.rubric) if screen.saved else None,
    }


def training_view(reply: TrainingReply, rubric: Rubric) -> dict[str, Any]:
    """The JSON of a reply in training, in the shape of those in the study.

    What is right of an item is in it only once the item was answered.
    """
    return {
        "message": reply.message,
        "says": reply.message,
        "values": {},
        "refused": reply.refused,
        "screen": _training_screen_view(reply.screen) if reply.screen else None,
        "feedback": _feedback_view(reply.feedback, rubric) if reply.feedback else None,
        "result": _result_view(reply.result) if reply.result else None,
    }


def item_view(item: Item, *, rendered: bool) -> list[dict[str, Any]]:
    """The texts of an item in reading order: every message of q, then a, then u."""
    texts = [(message.role, message.content) for message in item.messages]
    texts += [("answer", item.answer), ("turn", item.turn)]
    as_html = rendered_html if rendered else verbatim_html
    return [
        {
            "role": role,
            "html": as_html(text),
            "characters": len(text),
            "long": len(text) > FOLD_CHARACTERS or text.count("\n") > FOLD_LINES,
        }
        for role, text in texts
    ]


def _recent_view(recent: Recent) -> dict[str, Any]:
    return {
        "item_id": recent.annotation.item_id,
        "receipt": recent.annotation.event_id,
        "saved_at": recent.annotation.saved_at,
        "saved": recent.saved_as,
        "html": verbatim_html(recent.turn[:EXCERPT]),
    }


def _training_screen_view(screen: TrainingScreen) -> dict[str, Any]:
    return {
        "annotator": screen.annotator,
        "training": {"round": screen.round, "needed": screen.needed},
        "given": screen.position - 1,
        "wanted": screen.total,
        "shared": False,
        "renew_after": None,
        "labelled": screen.position - 1,
        "skipped": 0,
        "end": None,
        "rubric_version": screen.rubric_version,
        "position": screen.position,
        "item_id": screen.training_id,
        "nonce": screen.nonce,
        "parts": item_view(screen.item, rendered=False),
        "choice": asdict(Choice()),
        "saved": None,
    }


def _feedback_view(feedback: Feedback, rubric: Rubric) -> dict[str, Any]:
    return {
        "correct": feedback.correct,
        "given": rubric.category(feedback.given).name,
        "expected": rubric.category(feedback.expected).name,
        "why": feedback.why,
    }


def _result_view(result: RoundResult) -> dict[str, Any]:
    return asdict(result) | {"passed": result.passed}
