"""Screens as what is sent to the page: escaped HTML and the few facts an annotator may know."""

from dataclasses import asdict
from typing import Any

from annotator.annotation import saved_as
from annotator.labelling.rendered import rendered_html
from annotator.labelling.screen import Reply, Screen
from annotator.verbatim import verbatim_html
from generation.item import Item

# A text longer than this is folded on the page, with a button that unfolds it.
FOLD_CHARACTERS = 1_500
FOLD_LINES = 24


def reply_view(reply: Reply) -> dict[str, Any]:
    """The JSON of a reply; `screen` is None where the page stays as it is."""
    view = {
        "message": reply.message,
        "refused": reply.refused,
        "screen": screen_view(reply.screen) if reply.screen else None,
    }
    if reply.rendered:
        view["parts"] = item_view(reply.rendered, rendered=True)
    return view


def screen_view(screen: Screen) -> dict[str, Any]:
    """The JSON of a screen: nothing of an item but its opaque id and its text."""
    view: dict[str, Any] = {
        "annotator": screen.annotator,
        "total": screen.total,
        "labelled": screen.labelled,
        "skipped": screen.skipped,
        "finished": screen.shown is None,
    }
    if screen.shown is None:
        return view
    return view | {
        "position": screen.position,
        "item_id": screen.shown.item_id,
        "nonce": screen.nonce,
        "rubric_version": screen.rubric.version,
        "parts": item_view(screen.shown.item, rendered=False),
        "choice": asdict(screen.choice),
        "saved": saved_as(screen.saved, screen.rubric) if screen.saved else None,
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
