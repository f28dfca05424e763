"""The hardest items, and one of them with its texts and what everybody said."""

from collections.abc import Sequence

from sqlite_utils import Database

from annotator.adjudication.adjudication import current_adjudications
from annotator.annotation import Annotation
from annotator.dashboard.figures import Figures
from annotator.dashboard.fresh_figures import Shown
from annotator.dashboard.hardness import ItemHardness
from annotator.dashboard.place import Place
from annotator.dashboard.view import View
from annotator.labelling.view import item_view
from annotator.labels import blind_item
from rubrics import InputError

AT_ONCE = 25


def items(shown: Shown, place: Place, database: Database) -> View:
    """Raises InputError for an item that does not exist."""
    found = shown.figures
    chosen = _chosen(found, place)
    if place.item:
        return _one_item(found, chosen, place, database)
    return View(
        "items.html",
        "Hardest items",
        {
            "chosen": chosen[place.before : place.before + AT_ONCE],
            "total": len(chosen),
            "at_once": AT_ONCE,
            "cell": _cell(found, place),
        },
    )


def _chosen(found: Figures, place: Place) -> Sequence[ItemHardness]:
    if place.first or place.second:
        return [item for item in found.hardest if _in_cell(found.by_item[item.item_id], place)]
    if place.show == "flagged":
        return [item for item in found.hardest if item.flags]
    if place.show == "skipped":
        return [item for item in found.hardest if item.skips]
    return [item for item in found.hardest if item.disagreement or item.flags or item.skips]


def _in_cell(said: Sequence[Annotation], place: Place) -> bool:
    """Whether somebody gave the first label and somebody else the second."""
    firsts = {
        one.annotator
        for one in said
        if one.category == place.first and place.annotator in ("", one.annotator)
    }
    seconds = {one.annotator for one in said if one.category == place.second}
    return bool(firsts) and bool(seconds) and len(firsts | seconds) > 1


def _cell(found: Figures, place: Place) -> tuple[str, str] | None:
    """The names of the two labels that were chosen; raises InputError for unknown ones."""
    if not place.first and not place.second:
        return None
    rubric = found.reading.rubric
    return rubric.category(place.first).name, rubric.category(place.second).name


def _one_item(
    found: Figures, chosen: Sequence[ItemHardness], place: Place, database: Database
) -> View:
    reading = found.reading
    if place.item not in reading.items.conversations:
        raise InputError(f"labels.db has no item {place.item!r:.80}; go to the list of items")
    ids = [item.item_id for item in chosen]
    at = ids.index(place.item) if place.item in ids else None
    decisions = current_adjudications(database, reading.rubric.version)
    repeats = [repeat for repeat, item in reading.items.repeats.items() if item == place.item]
    return View(
        "item.html",
        f"Item {place.item}",
        {
            "parts": item_view(blind_item(database, place.item).item, rendered=False),
            "said": found.by_item.get(place.item, ()),
            "again": [said for repeat in repeats for said in found.by_item.get(repeat, ())],
            "original": reading.items.repeats.get(place.item),
            "hardness": next((i for i in found.hardest if i.item_id == place.item), None),
            "gold": next((gold for gold in reading.gold if gold.item_id == place.item), None),
            "decision": next((d for d in decisions if d.item_id == place.item), None),
            "names": {category.id: category.name for category in reading.rubric.categories},
            "number": None if at is None else at + 1,
            "total": len(ids),
            "before": ids[at - 1] if at else None,
            "after": ids[at + 1] if at is not None and at + 1 < len(ids) else None,
        },
        (
            f"annotate gold add {place.item} CATEGORY --reason TEXT",
            f"annotate adjudicate --show {place.item}",
        ),
    )
