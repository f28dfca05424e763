"""What `annotate adjudicate` prints, on a terminal that no study text can act on."""

from collections.abc import Sequence

from annotator.adjudication.adjudication import Adjudication
from annotator.adjudication.dispute import Dispute
from annotator.verbatim import is_invisible
from generation.item import Item


def listing(disputes: Sequence[Dispute], version: str, option: str) -> str:
    """The items to decide with the labels they were given, and what to type next.

    `option` is the study's, as commands take it.
    """
    if not disputes:
        return (
            f"nothing to adjudicate under rubric {version}: no undecided item is labelled "
            "differently or in doubt"
        )
    lines = [f"{dispute.item_id}  {_votes(dispute)}" for dispute in disputes]
    first = disputes[0].item_id
    return "\n".join(
        [
            f"items to decide under rubric {version}, labelled differently or in doubt: "
            f"{len(disputes)}",
            *lines,
            f"next: annotate adjudicate --show {first} --rubric {version}{option}",
            f"then: annotate adjudicate {first} CATEGORY --reason TEXT --rubric {version}{option}",
        ]
    )


def listing_dict(disputes: Sequence[Dispute], version: str) -> dict[str, object]:
    """The same for JSON."""
    items = [{"item_id": dispute.item_id, "labels": dict(dispute.labels)} for dispute in disputes]
    return {"rubric": version, "items": items}


def item_text(item: Item) -> str:
    """Every text of an item in reading order, whole, with what is invisible spelt out."""
    texts = [(message.role, message.content) for message in item.messages]
    texts += [("answer", item.answer), ("turn", item.turn)]
    return "\n\n".join(f"── {role} ──\n{_visible(text)}" for role, text in texts)


def decision_text(decision: Adjudication, left: int) -> str:
    """What was stored, and how many items are still to decide."""
    return f"{decision.item_id} is {decision.category} by adjudication; still undecided: {left}"


def _votes(dispute: Dispute) -> str:
    return ", ".join(f"{category} ×{count}" for category, count in dispute.labels)


def _visible(text: str) -> str:
    return "".join(f"<U+{ord(c):04X}>" if is_invisible(c) else c for c in text)
