"""Training: items of the owner's, who is here, and the rounds that people went through."""

from annotator.exchange.merging.side_by_side import SideBySide, key_of
from generation.clock import now

ROUND = ("annotator", "rubric_version", "round")


def merge_training(sides: SideBySide) -> None:
    """Add what is new. A round that was begun on both sides cannot be both: the one here stays."""
    _merge_items(sides)
    rounds = {key_of(row, ROUND): row for row in sides.rows_here("training_rounds")}
    twice = set()
    for row in sides.rows_there("training_rounds"):
        of = key_of(row, ROUND)
        if of not in rounds:
            sides.append("training_rounds", row)
        elif rounds[of] != row:
            twice.add(of)
            sides.kept.append(f"training round {row['round']} of {row['annotator']}: differs there")
    answered = sides.keys_here("training_answers", (*ROUND, "training_id"))
    for row in sides.missing("training_answers", ("nonce",)):
        if key_of(row, (*ROUND, "training_id")) not in answered and key_of(row, ROUND) not in twice:
            sides.append("training_answers", row, without="answer_id")
        else:
            sides.kept.append(
                f"answer to training item {row['training_id']} in round {row['round']} of "
                f"{row['annotator']}: {row['category']} there"
            )


def _merge_items(sides: SideBySide) -> None:
    """New items arrive out of use: the set in use here, and the rounds under way, stay as they are.

    Which items are in use is each side's own, so that it makes no difference between two.
    """
    here = {row["training_id"]: row for row in sides.rows_here("training_items")}
    unused, at = 0, now()
    for row in sides.rows_there("training_items"):
        known = here.get(row["training_id"])
        if known is None:
            known = row | {"retired_at": row["retired_at"] or at}
            sides.append("training_items", known)
        elif known | {"retired_at": None} != row | {"retired_at": None}:
            sides.kept.append(f"training item {row['training_id']}: differs there")
        unused += row["retired_at"] is None and known["retired_at"] is not None
    if unused:
        sides.kept.append(
            f"training items in use there and not here: {unused}; people here train on what was "
            "set here"
        )
