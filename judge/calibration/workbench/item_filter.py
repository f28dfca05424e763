"""Which of a judge's items a place asks for."""

from collections.abc import Mapping, Sequence

from judge.calibration.causes.cause import CauseNote
from judge.calibration.workbench.place import Place
from judge.calibration.workbench.readout import FEATURES, ItemRow

NOT_NOTED = "not noted"  # stands for a cause


def filtered(
    rows: Sequence[ItemRow], place: Place, notes: Mapping[str, CauseNote]
) -> list[ItemRow]:
    """The rows that pass every filter of the place, in order of item id.

    A cell is of the confusion matrix, whose tables count each run: an item is in it if any verdict
    that counts is. Without a cell disagreements alone, unless all are asked for.
    """
    return [row for row in rows if _passes(row, place, notes.get(row.item_id))]


def _passes(row: ItemRow, place: Place, note: CauseNote | None) -> bool:
    if place.reference and row.reference != place.reference:
        return False
    if place.outcome and place.outcome not in row.counted:
        return False
    if place.show != "all" and not place.outcome and row.agrees:
        return False
    for name, value in zip(FEATURES, row.features, strict=True):
        if getattr(place, name) not in ("", value):
            return False
    if place.annotator and place.annotator not in {name for name, _ in row.labels}:
        return False
    if place.stability and row.stable != (place.stability == "stable"):
        return False
    causes = note.causes if note else ()
    if place.cause == NOT_NOTED:
        return not causes
    return not place.cause or place.cause in causes
