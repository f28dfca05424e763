"""Few-shot examples for a judge prompt: labelled items of the development split, evenly spread."""

import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import chain, zip_longest

from sqlite_utils import Database

from annotator.annotation import Annotation, current_annotations
from annotator.labels import blind_items, recorded_rubric
from annotator.reference import reference_labels
from generation.canary import canary_items
from generation.item import Item
from judge.calibration.leak import labelling_items, leaked_items
from judge.calibration.quotation import Quoting
from judge.calibration.sampling.repeats import repeated_items, without_repeats
from judge.calibration.sampling.sample_store import sampled_items
from judge.calibration.splits.frozen_split import FrozenSplit, frozen_split, part_of
from judge.plural import counted
from judge.prompts.prompt_template import Shot
from rubrics import InputError, Rubric, fingerprint, short

logger = logging.getLogger(__name__)


def choose_shots(
    pipeline_db: Database, labels_db: Database, rubric: Rubric, n: int, option: str = ""
) -> tuple[Shot, ...]:
    """`n` items of the development split with the label that people agreed on under `rubric`.

    Spread over the categories in the rubric's order, within one in an order that says nothing;
    the same labels give the same shots. Ties and skips have no label, and an item that quotes one
    of the test split (as a longer conversation can) is passed over. An item whose data set asks
    never to be published is none either, for an export shows the shots; how many is logged.

    Raises InputError when there are fewer than `n`, saying how many, and when the labels were
    made under another text of the rubric. `option` names the study in what to type next.
    """
    with labels_db.atomic(), pipeline_db.atomic():
        recorded = recorded_rubric(labels_db, rubric.version)
        blind, annotations = without_repeats(
            repeated_items(pipeline_db),
            blind_items(labels_db),
            current_annotations(labels_db, rubric.version),
        )
        references = reference_labels(annotations, rubric)
        sampled = sampled_items(pipeline_db)
        to_label = list(labelling_items(pipeline_db))
        frozen, canary = frozen_split(pipeline_db), canary_items(pipeline_db)
    if recorded is not None and recorded.hash != rubric.hash:
        raise InputError(
            f"people labelled under another text of rubric {rubric.version} "
            f"({short(recorded.hash)}, here {short(rubric.hash)}); a changed rubric needs a new "
            "version"
        )
    labelled = [
        Shot(
            blind[item_id],
            label,
            _because(references.annotations[item_id], label),
            recorded.version,
        )
        for item_id, label in references.labels.items()
        if item_id in blind and sampled.get(item_id) == blind[item_id].hash
    ]
    developed = [shot for shot in labelled if part_of(shot.item, frozen) == "dev"]
    public = [shot for shot in developed if shot.item.hash not in canary]
    if len(public) < len(developed):
        logger.warning(
            "%s of the development split not shown, as their data sets ask never to be published "
            "(canary)",
            counted(len(developed) - len(public), "labelled item"),
        )
    usable, quoting = _without_leaks(public, to_label, frozen, rubric, n)
    if len(usable) < n:
        found = f"{counted(len(usable), 'item')} of the development split to show"
        left_out = f" ({quoting} more would quote the test split)" if quoting else ""
        fewer = f", or ask for fewer: --shots {len(usable)}" if usable else ""
        raise InputError(
            f"there {'is' if len(usable) == 1 else 'are'} {found} under rubric {rubric.version}"
            f"{left_out}, expected {n} ({len(labelled)} labelled in all, {len(references.ties)} "
            f"tied); label more: annotate --rubric {rubric.version}{option}{fewer}"
        )
    return tuple(spread(usable, rubric)[:n])


def spread(shots: Iterable[Shot], rubric: Rubric) -> list[Shot]:
    """One of each category in the rubric's order, then the next of each, and so on."""
    by_category: Mapping[str, list[Shot]] = defaultdict(list)
    for shot in sorted(shots, key=_place):
        by_category[shot.label].append(shot)
    rounds = zip_longest(*(by_category[category] for category in rubric.category_ids))
    return [shot for shot in chain.from_iterable(rounds) if shot is not None]


def _without_leaks(
    shots: list[Shot],
    to_label: list[tuple[str, Item]],
    frozen: FrozenSplit | None,
    rubric: Rubric,
    n: int,
) -> tuple[list[Shot], int]:
    """The shots less those found to quote the test split, until the first n of them do not."""
    usable = shots
    while True:
        first = spread(usable, rubric)[:n]
        together = Quoting("\n\n".join(map(shown_text, first)))
        leaked = {leak.item_id for leak in leaked_items(together, to_label, frozen)}
        quoted = [(item_id, item) for item_id, item in to_label if item_id in leaked]
        leaking = [
            shot for shot in first if any(leaked_items(Quoting(shown_text(shot)), quoted, frozen))
        ]
        if not leaking:
            return usable, len(shots) - len(usable)
        usable = [shot for shot in usable if shot not in leaking]


def shown_text(shot: Shot) -> str:
    """All that a prompt shows of a shot."""
    texts = [message.content for message in shot.item.messages]
    return "\n\n".join([*texts, shot.item.answer, shot.item.turn, shot.because or ""])


def _because(annotations: tuple[Annotation, ...], label: str) -> str | None:
    """The note of the first annotator, by name, who gave this label and left one."""
    notes = (said.note.strip() for said in annotations if said.category == label)
    return next((note for note in notes if note), None)


def _place(shot: Shot) -> str:
    return fingerprint({"shot": shot.item.hash})
