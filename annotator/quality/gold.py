"""Gold: items of the study whose label the owner knows, put before annotators like the others."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from random import Random

from sqlite_utils import Database

from annotator.labels import blind_item, item_ids, record_rubric, study_seed
from annotator.nearest import check_category, did_you_mean
from annotator.quality.repeats import repeated_items
from annotator.reason import checked_reason
from annotator.study_option import option_of
from annotator.trained_on import trained_on
from generation.clock import now
from generation.command import one_line
from generation.database import immediate
from rubrics import InputError, Rubric

EXCERPT = 80  # characters of a turn


@dataclass(frozen=True)
class Gold:
    """An item with its known label under a rubric version, and why it is that one.

    One that is retired counts no more; it stays in the store, as what was once held right.
    """

    item_id: str
    rubric_version: str
    category: str
    reason: str
    added_at: str
    retired_at: str | None = None

    def as_dict(self) -> dict[str, object]:
        return asdict(self)


def gold_items(
    database: Database, rubric_version: str, *, with_retired: bool = False
) -> list[Gold]:
    """Gold under a rubric version, oldest first."""
    where = "rubric_version = ?" + ("" if with_retired else " AND retired_at IS NULL")
    rows = database["gold"].rows_where(where, [rubric_version], order_by="gold_id")
    return [Gold(**{k: v for k, v in row.items() if k != "gold_id"}) for row in rows]


def add_gold(
    database: Database, rubric: Rubric, item_id: str, category: str, *, reason: str
) -> Gold:
    """Make an item gold.

    Raises InputError for an item or category that does not exist, naming the nearest, for a repeat
    of another item, for one that people train on, for an item that is gold already, and for an
    empty or overlong reason.
    """
    check_category(rubric, category)
    reason = checked_reason(reason)
    known, option = item_ids(database), option_of(database)
    if item_id not in known:
        raise InputError(
            f"labels.db has no item {item_id!r:.80}; expected the id of an item of the study"
            f"{did_you_mean(item_id, known)}; see some: annotate gold candidates{option}"
        )
    if original := repeated_items(database).get(item_id):
        raise InputError(
            f"item {item_id} is a silent repeat of {original}; make that one gold: "
            f"annotate gold add {original} {category} --reason TEXT{option}"
        )
    if training_id := trained_on(database).get(item_id):
        raise InputError(
            f"item {item_id} is training item {training_id}, whose right answer people are shown; "
            "take an item that nobody trains on"
        )
    record_rubric(database, rubric)
    with immediate(database):
        for gold in gold_items(database, rubric.version):
            if gold.item_id == item_id:
                raise InputError(
                    f"item {item_id} is gold already, as {gold.category}; to change that, first: "
                    f"annotate gold retire {item_id} --rubric {rubric.version}{option}"
                )
        made = Gold(item_id, rubric.version, category, reason, now())
        database["gold"].insert(asdict(made))
    return made


def candidates(database: Database, rubric_version: str, count: int) -> dict[str, str]:
    """Turns of items that may be made gold, by item id: `count` of them at random, by the seed.

    No repeats, none that people train on, and none that is gold.
    """
    out = {gold.item_id for gold in gold_items(database, rubric_version)}
    out |= repeated_items(database).keys() | trained_on(database).keys()
    free = sorted(item_id for item_id in item_ids(database) if item_id not in out)
    chosen = Random(study_seed(database)).sample(free, min(count, len(free)))
    return {item_id: blind_item(database, item_id).item.turn for item_id in chosen}


def candidates_text(found: Mapping[str, str], option: str) -> str:
    """A line per item with the start of its turn, and what to type next."""
    if not found:
        return "no item of the study is left that could be made gold"
    lines = [f"{item_id}  {one_line(turn)[:EXCERPT]}" for item_id, turn in found.items()]
    first = next(iter(found))
    return "\n".join(
        [
            *lines,
            f"the whole text: annotate adjudicate --show {first}{option}",
            f"next: annotate gold add {first} CATEGORY --reason TEXT{option}",
        ]
    )


def retire_gold(database: Database, item_id: str, rubric_version: str) -> None:
    """Take an item's gold out of use; raises InputError where it has none, naming the nearest."""
    with immediate(database):
        known = [gold.item_id for gold in gold_items(database, rubric_version)]
        if item_id not in known:
            raise InputError(
                f"no item {item_id!r:.80} is gold under rubric {rubric_version}"
                f"{did_you_mean(item_id, known)}; see which are: annotate gold list "
                f"--rubric {rubric_version}{option_of(database)}"
            )
        database.conn.execute(
            """UPDATE gold SET retired_at = ?
               WHERE item_id = ? AND rubric_version = ? AND retired_at IS NULL""",
            [now(), item_id, rubric_version],
        )


def listing(found: Sequence[Gold], version: str, option: str) -> str:
    """Gold in use as a terminal has it, or what to type for some; `option` names the study."""
    if not found:
        return (
            f"no gold under rubric {version} yet; make some: annotate gold add ITEM CATEGORY "
            f"--reason TEXT{option}"
        )
    lines = (f"{each.item_id}  {each.category}  {one_line(each.reason)}" for each in found)
    return "\n".join([f"gold under rubric {version}: {len(found)}", *lines])
