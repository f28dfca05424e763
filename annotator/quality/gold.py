"""Gold: items of the study whose label the owner knows, put before annotators like the others."""

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from sqlite_utils import Database

from annotator.labels import item_ids, record_rubric
from annotator.quality.repeats import repeated_items
from generation.clock import now
from generation.command import one_line
from generation.database import immediate
from generation.item import is_storable
from rubrics import InputError, Rubric

REASON_LIMIT = 2_000  # characters


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
    of another item, for an item that is gold already, and for an empty or overlong reason.
    """
    if category not in rubric.category_ids:
        raise InputError(
            f"rubric {rubric.version} has no category {category!r:.80}; expected one of "
            f"{', '.join(rubric.category_ids)}{_nearest(category, rubric.category_ids)}"
        )
    reason = _checked_reason(reason)
    known = item_ids(database)
    if item_id not in known:
        raise InputError(
            f"labels.db has no item {item_id!r:.80}; expected the id of an item of the study"
            f"{_nearest(item_id, known)}"
        )
    if original := repeated_items(database).get(item_id):
        raise InputError(
            f"item {item_id} is a silent repeat of {original}; make that one gold: "
            f"annotate gold add {original} {category} --reason TEXT"
        )
    record_rubric(database, rubric)
    with immediate(database):
        for gold in gold_items(database, rubric.version):
            if gold.item_id == item_id:
                raise InputError(
                    f"item {item_id} is gold already, as {gold.category}; to change that, first: "
                    f"annotate gold retire {item_id} --rubric {rubric.version}"
                )
        made = Gold(item_id, rubric.version, category, reason, now())
        database["gold"].insert(asdict(made))
    return made


def retire_gold(database: Database, item_id: str, rubric_version: str) -> None:
    """Take an item's gold out of use; raises InputError where it has none, naming the nearest."""
    with immediate(database):
        known = [gold.item_id for gold in gold_items(database, rubric_version)]
        if item_id not in known:
            raise InputError(
                f"no item {item_id!r:.80} is gold under rubric {rubric_version}"
                f"{_nearest(item_id, known)}; see which are: annotate gold list "
                f"--rubric {rubric_version}"
            )
        database.conn.execute(
            """UPDATE gold SET retired_at = ?
               WHERE item_id = ? AND rubric_version = ? AND retired_at IS NULL""",
            [now(), item_id, rubric_version],
        )


def listing(found: Sequence[Gold], version: str) -> str:
    """Gold in use as a terminal has it, or what to type for some."""
    if not found:
        return (
            f"no gold under rubric {version} yet; make some: annotate gold add ITEM CATEGORY "
            "--reason TEXT"
        )
    lines = (f"{each.item_id}  {each.category}  {one_line(each.reason)}" for each in found)
    return "\n".join([f"gold under rubric {version}: {len(found)}", *lines])


def _checked_reason(reason: str) -> str:
    reason = reason.strip()
    if not reason or len(reason) > REASON_LIMIT or not is_storable(reason):
        raise InputError(
            f"the reason has {len(reason):,} characters, expected 1 to {REASON_LIMIT:,}; say why "
            'in a sentence: --reason "…"'
        )
    return reason


def _nearest(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f"; did you mean {near[0]}?" if near else ""
