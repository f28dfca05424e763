"""What labels rest on: items, rubrics and annotators, which must be the same on both sides."""

from collections.abc import Sequence

from annotator.exchange.merging.side_by_side import Row, SideBySide
from rubrics import InputError, short


def merge_ground(sides: SideBySide) -> None:
    """Add items, rubrics and annotators that are new; settings stay as they are here.

    Raises InputError where the other file is of another study, or has an item or a rubric version
    with another text.
    """
    _refuse_another_study(sides)
    for row in sides.rows_there("rubrics"):
        _same_or_new(sides, "rubric", "version", row, ("hash",))
    for row in sides.rows_there("items"):
        _same_or_new(sides, "item", "item_id", row, ("messages", "answer", "turn"))
    for row in sides.missing("annotators", ("annotator",)):
        sides.append("annotators", row)
    _compare_settings(sides)


def _refuse_another_study(sides: SideBySide) -> None:
    here = sides.keys_here("items", ("item_id",))
    there = {(row["item_id"],) for row in sides.rows_there("items")}
    if here and not here & there:
        raise InputError(
            f"{sides.source} has none of the {len(here)} items that are here: it is of another "
            "study or sample; expected a copy of this study's labels.db"
        )


def _same_or_new(sides: SideBySide, what: str, key: str, row: Row, content: Sequence[str]) -> None:
    known = sides.here.conn.execute(
        f"SELECT {', '.join(content)} FROM {what}s WHERE {key} = ?", [row[key]]
    ).fetchone()
    if known is None:
        sides.append(f"{what}s", row)
    elif known != tuple(row[name] for name in content):
        hashes = f" ({short(known[0])} here, {short(row['hash'])} there)" if "hash" in row else ""
        raise InputError(
            f"{what} {row[key]} reads otherwise in {sides.source} than here{hashes}: what people "
            "said of one text must not count for another; nothing was merged"
        )


def _compare_settings(sides: SideBySide) -> None:
    here = {row["name"]: row["value"] for row in sides.rows_here("settings")}
    for row in sides.rows_there("settings"):
        if here.get(row["name"]) != row["value"]:
            ours = here.get(row["name"], "not set")
            sides.kept.append(f"setting {row['name']}: {ours} here, {row['value']} there")
