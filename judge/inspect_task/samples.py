"""Samples out of files: turns to be judged, and judged items that people labelled."""

from collections.abc import Iterator, Set
from dataclasses import dataclass
from pathlib import Path

from inspect_ai.dataset import Sample
from pyarrow import ArrowException, parquet

from generation.exchange.importer import read_turns
from generation.item import Item
from generation.store import item_from
from judge.calibration.leak import quoted_items
from judge.calibration.pairing import conversation_of
from judge.calibration.quotation import Quoting
from judge.exported import Export
from judge.inspect_task.conversation import messages_of
from judge.inspect_task.pinned_judge import chat_messages
from rubrics import InputError

AGAIN = "write the data set again: calibrate dataset FOLDER"


def turn_samples(path: Path) -> list[Sample]:
    """One sample per turn: its conversation up to u, with what is known of how u was made.

    `path` is a folder that `calibrate dataset` or `generate export --format hf` wrote, or a file
    of turns. Raises InputError naming the file and the line of what is wrong.
    """
    if not path.exists():
        raise InputError(f"{path} does not exist; expected turns: calibrate dataset FOLDER")
    file = path / "data" / "turns.parquet" if path.is_dir() else path
    return [
        Sample(
            id=turn.turn_id,
            input=messages_of(turn.item),
            metadata={
                "item_hash": turn.item.hash,
                "conversation": conversation_of(turn.item),
                "dataset": turn.answer.conversation.dataset,
                "setting": turn.setting,
                "model": turn.model,
                "temperature": turn.temperature,
                "perturbation": turn.perturbation,
                "condition": turn.condition,
            },
        )
        for turn in read_turns(file)
    ]


@dataclass(frozen=True)
class ReferenceSamples:
    """What a judge is sent of items with people's label, which is the target.

    `shown` counts the items left out because the prompt shows them as examples: a judge is not
    tested on them.
    """

    samples: tuple[Sample, ...]
    shown: int


def reference_samples(export: Export, folder: Path) -> ReferenceSamples:
    """One sample per item of a published data set that has a label under the export's rubric.

    Raises InputError where the folder is no such data set, was changed, or has no such item.
    """
    if not folder.exists():
        raise InputError(
            f"{folder} does not exist; expected a data set with labels: calibrate dataset FOLDER"
        )
    labels = _references(export, folder)
    items = _items(folder, labels.keys())
    shown = {leak.item_id for leak in quoted_items(Quoting(export.prompt.text), items.items())}
    samples = tuple(
        Sample(
            id=item_hash,
            input=chat_messages(export, item),
            target=labels[item_hash],
            metadata={"item_hash": item_hash, "conversation": conversation_of(item)},
        )
        for item_hash, item in items.items()
        if item_hash not in shown
    )
    if not samples:
        raise InputError(
            f"the prompt of {export.folder.name} shows all {len(shown)} items with labels in "
            f"{folder} as examples, so none is left to test it on; have more labelled"
        )
    return ReferenceSamples(samples, len(shown))


def _references(export: Export, folder: Path) -> dict[str, str]:
    version = export.rubric.version
    rows = _rows(folder / "data" / "references.parquet", ("item_hash", "rubric", "label"))
    found = {item_hash: label for item_hash, rubric, label in rows if rubric == version}
    if not found:
        raise InputError(
            f"{folder} has no label by people under rubric {version}, which the export "
            f"{export.folder.name} is of; {AGAIN}"
        )
    unknown = sorted(set(found.values()) - set(export.rubric.category_ids))
    if unknown:
        raise InputError(f"{folder}: rubric {version} has no label {unknown[0]!r}; {AGAIN}")
    return found


def _items(folder: Path, hashes: Set[str]) -> dict[str, Item]:
    """The items of these hashes, in order of the turns; each is checked against its hash."""
    path = folder / "data" / "turns.parquet"
    found: dict[str, Item] = {}
    for item_hash, *texts in _rows(path, ("item_hash", "q", "a", "u")):
        if item_hash in hashes and item_hash not in found:
            item = found[item_hash] = item_from(*texts)
            if item.hash != item_hash:
                raise InputError(f"{path}: the text of item {item_hash} was changed; {AGAIN}")
    missing = hashes - found.keys()
    if missing:
        raise InputError(f"{path} lacks item {min(missing)}, which has a label; {AGAIN}")
    return found


def _rows(path: Path, columns: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """These columns of a table, a batch at a time."""
    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(columns=list(columns)):
                yield from zip(*(batch[name].to_pylist() for name in columns), strict=True)
    except (ArrowException, OSError, KeyError) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{path} cannot be read: {reason}; {AGAIN}") from error
