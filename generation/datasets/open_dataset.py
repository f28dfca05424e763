"""A data set of a plan, opened: the file that is named, else one in a data folder or on the hub."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from generation.datasets.chat import CHAT
from generation.datasets.coval import COVAL
from generation.datasets.dataset import Dataset, Rows
from generation.datasets.gpqa import GPQA_DIAMOND, GPQA_MAIN
from generation.datasets.gsm8k import GSM8K
from generation.datasets.healthbench import HEALTHBENCH
from generation.datasets.ifeval import IFBENCH, IFEVAL
from generation.datasets.known_source import KnownSource
from generation.datasets.mt_bench import MT_BENCH
from generation.datasets.open_assistant import OPEN_ASSISTANT
from generation.exchange.import_file import read_file
from generation.hub import hub_file
from generation.plan.plan import DatasetPlan
from generation.turn import Conversation
from rubrics import InputError

_SOURCES = (
    GSM8K, IFEVAL, IFBENCH, GPQA_MAIN, GPQA_DIAMOND, HEALTHBENCH, COVAL, MT_BENCH, OPEN_ASSISTANT,
    CHAT,
)  # fmt: skip
KNOWN_SOURCES = {source.name: source for source in _SOURCES}


def known_source(name: str) -> KnownSource:
    """What is known of a data set; raises InputError for an unknown one."""
    if name not in KNOWN_SOURCES:
        raise InputError(
            f"unknown data set {name!r}: the known ones are {', '.join(KNOWN_SOURCES)}; "
            f"conversations of your own are {CHAT.name}:FILE"
        )
    return KNOWN_SOURCES[name]


def expected_rows(source: str, setting: str) -> int | None:
    """How many rows a whole set has in a setting, None where that is not known before reading."""
    return known_source(source).expected.get(setting)


def dataset_plan_from(text: str, limit: int | None = None) -> DatasetPlan:
    """The data set that `NAME` or `NAME:FILE` asks for, as an option of a command has it.

    Conversations of your own go by the name of their file. Raises InputError for an unknown name.

    >>> dataset_plan_from("chat:logs/support.jsonl").name
    'support'
    """
    name, colon, path = text.partition(":")
    source = known_source(name)
    if (colon and not path) or (source is CHAT and not path):
        raise InputError(f"--data {text!r}: no file after the name; expected {name}:FILE")
    title = Path(path).stem if source is CHAT else name
    return DatasetPlan(source.name, title, path or None, limit)


def open_dataset(plan: DatasetPlan, data_dir: Path | None) -> Dataset:
    """Read the data set whole; the plan's limit is for later.

    Raises InputError where no file is found, or the file is not of this set or gives nothing.
    """
    source = known_source(plan.source)
    found = _found(source, plan, data_dir)
    file = read_file(found.path, expected=_wanted(source))
    reading = source.read(file, plan.name)
    rows = reading.rows
    if not rows.conversations and not rows.held_out:
        reasons = "; ".join(f"{count} rows: {why}" for why, count in rows.left_out.items())
        raise InputError(
            f"{found.path}: nothing in it can be asked or gone on from ({reasons or 'no rows'}); "
            f"expected {_wanted(source)}"
        )
    canary = source.canary or reading.canary
    return Dataset(
        name=plan.name,
        file_name=found.path.name,
        file_hash=file.hash,
        rows=_marked(rows) if canary else rows,
        licence=source.licence,
        expected=dict(source.expected),
        remarks=dict(source.remarks),
        canary=canary,
        choices=reading.choices,
        revision=found.revision,
    )


@dataclass(frozen=True)
class _Found:
    path: Path
    revision: str | None = None


def local_file(plan: DatasetPlan, data_dir: Path | None) -> Path | None:
    """The file that the plan names, else the set's own in a data folder, else None: the hub's.

    Raises InputError where there is no such folder.
    """
    if plan.file is not None:
        return Path(plan.file)
    if data_dir is None:
        return None
    if not data_dir.is_dir():
        raise InputError(f"--data-dir {data_dir}: no such folder; expected one with data files")
    source = known_source(plan.source)
    places = (*source.file_names, *([source.hub.local] if source.hub else []))
    return next((data_dir / place for place in places if (data_dir / place).is_file()), None)


def _found(source: KnownSource, plan: DatasetPlan, data_dir: Path | None) -> _Found:
    if local := local_file(plan, data_dir):
        return _Found(local)
    looked = f"{source.name}: no {_names(source.file_names)}" + (
        f" in {data_dir}" if data_dir else " given"
    )
    if source.hub is None:
        raise InputError(f"{looked}; expected {_wanted(source)}")
    try:
        fetched = hub_file(source.hub)
    except InputError as error:
        raise InputError(
            f"{looked}, and {error}; have a copy of your own: --data {source.name}:FILE, or "
            f"--data-dir FOLDER with {_names(source.file_names)}"
        ) from error
    return _Found(fetched.path, fetched.commit)


def _names(file_names: Iterable[str]) -> str:
    return " or ".join(file_names) or "file"


def _wanted(source: KnownSource) -> str:
    what = source.expects if source is CHAT else f"your copy of {source.name}, {source.expects}"
    return f"{what}: --data {source.name}:FILE"


def _marked(rows: Rows) -> Rows:
    """The rows with the mark by which exports leave them out."""
    held_out = (
        replace(answer, conversation=_canaried(answer.conversation)) for answer in rows.held_out
    )
    return replace(
        rows, conversations=tuple(map(_canaried, rows.conversations)), held_out=tuple(held_out)
    )


def _canaried(conversation: Conversation) -> Conversation:
    return replace(conversation, meta=conversation.meta | {"canary": True})
