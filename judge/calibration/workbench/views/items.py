"""One item at a time: its texts, what people and judge said of it, and why they differ."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from annotator.annotation import Annotation, annotations_of_item
from annotator.labelling.view import item_view
from annotator.labels import blind_item
from judge.calibration.causes.cause import CAUSES, CauseNote
from judge.calibration.causes.cause_store import current_notes, notes_of_item, own_causes
from judge.calibration.causes.tally import tally_causes
from judge.calibration.workbench.bench import Bench
from judge.calibration.workbench.command_line import calibrate_command, judge_options
from judge.calibration.workbench.drafts import kept_draft
from judge.calibration.workbench.item_filter import NOT_NOTED, filtered
from judge.calibration.workbench.place import Place
from judge.calibration.workbench.readout import FEATURES, ItemRow, Readout
from judge.calibration.workbench.roster import Contender, named
from judge.calibration.workbench.stores import Stores
from judge.calibration.workbench.view import View
from judge.calibration.workbench.views.overview import COMPUTING
from judge.verdict_runs import judgments_of_item

NOTE_DRAFT = "note"  # the kind of draft that an item's note is


@dataclass(frozen=True)
class TypedNote:
    """A note as it stands in its form: `own` are other causes with commas between.

    `seen` is the number of the note that it would replace, "" for none.
    """

    judge: str
    item: str
    causes: list[str]
    own: str
    memo: str
    seen: str


@dataclass(frozen=True)
class Shown:
    """The item on screen: `number` of `total`, with its neighbours' ids, "" at an end.

    `typed` is what the owner has typed for it and not saved.
    """

    row: ItemRow
    number: int
    total: int
    before: str
    after: str
    parts: list[dict[str, Any]]
    annotations: Sequence[Annotation]
    verdicts: Sequence[Any]
    note: CauseNote | None
    typed: TypedNote | None
    other_notes: Sequence[CauseNote]


def items(bench: Bench, stores: Stores, place: Place) -> View:
    roster = bench.roster(stores)
    chosen = named(roster, place.judge)
    title = "Every item" if place.show == "all" else "Disagreements"
    if chosen is None:
        return View("items.html", title, {"roster": roster, "chosen": None})
    found = bench.readout(stores, chosen, place)
    options = (*judge_options(chosen, place), "--disagreements")
    command = calibrate_command(bench.study, "", *options)
    if found.value is None:
        values = {"roster": roster, "chosen": chosen, "found": found}
        return View("items.html", title, values, (command,), poll=0 if found.fresh else COMPUTING)
    readout = found.value
    notes = current_notes(stores.pipeline, chosen.judge_id)
    rows = filtered(readout.rows, place, notes)
    shown = _shown(stores, chosen, rows, place, notes)
    commands = [command]
    if shown:
        note = ("--cause", CAUSES[0], *judge_options(chosen, place)[:4])
        commands.append(calibrate_command(bench.study, "cause", shown.row.item_id, *note))
    return View(
        "items.html",
        title,
        {
            "roster": roster,
            "chosen": chosen,
            "found": found,
            "shown": shown,
            "causes": (*CAUSES, *(c for c in own_causes(stores.pipeline) if c not in CAUSES)),
            "tally": tally_causes(readout.rows, notes),
            "choices": _choices(readout),
            "not_noted": NOT_NOTED,
            "categories": readout.rubric.categories,
        },
        tuple(commands),
        poll=0 if found.fresh else COMPUTING,
    )


def _shown(
    stores: Stores,
    chosen: Contender,
    rows: Sequence[ItemRow],
    place: Place,
    notes: dict[str, CauseNote],
) -> Shown | None:
    """The item of the place, or the first that comes after where it would be."""
    if not rows:
        return None
    at = next((k for k, row in enumerate(rows) if row.item_id >= place.item), len(rows) - 1)
    row = rows[at]
    others = notes_of_item(stores.pipeline, row.item_id)
    return Shown(
        row=row,
        number=at + 1,
        total=len(rows),
        before=rows[at - 1].item_id if at else "",
        after=rows[at + 1].item_id if at + 1 < len(rows) else "",
        parts=item_view(blind_item(stores.labels, row.item_id).item, rendered=False),
        annotations=annotations_of_item(stores.labels, row.item_id, chosen.rubric_version),
        verdicts=judgments_of_item(stores.pipeline, chosen.judge_id, row.item_hash),
        note=notes.get(row.item_id),
        typed=_typed(stores, chosen, row, place, notes.get(row.item_id)),
        other_notes=[note for note in others if note.judge_id != chosen.judge_id],
    )


def _typed(
    stores: Stores, chosen: Contender, row: ItemRow, place: Place, note: CauseNote | None
) -> TypedNote | None:
    """The owner's draft for this item, if it says anything else than the note does."""
    kept = kept_draft(stores.pipeline, place.owner, NOTE_DRAFT)
    typed = TypedNote(**kept) if kept else None
    if typed is None or (typed.judge, typed.item) != (chosen.head, row.item_id):
        return None
    said = (set(note.causes), note.memo) if note else (set(), "")
    changed = (set(typed.causes), typed.memo.strip()) != said or typed.own.strip()
    return typed if changed else None


def _choices(readout: Readout) -> dict[str, list[str]]:
    """What can be filtered by: each feature's values, and the annotators."""
    found = {
        str(name): sorted(Counter(row.features[k] for row in readout.rows))
        for k, name in enumerate(FEATURES)
    }
    return found | {"annotator": sorted({name for row in readout.rows for name, _ in row.labels})}
