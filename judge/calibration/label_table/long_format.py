"""Long tables: one row per rating, with the columns item, rater and label."""

import difflib
from collections.abc import Iterable, Mapping, Sequence

from judge.calibration.label_table.raw_rating import RawRating, RawTable
from rubrics import InputError

REQUIRED = ("item", "rater", "label")
OPTIONAL = ("kind", "cluster", "weight")
FORMAT = "long table"

Row = tuple[str, Mapping[str, object]]  # where it stands, and its cells by column


def is_long(columns: Iterable[str]) -> bool:
    return set(REQUIRED) <= set(columns)


def read_long(rows: Iterable[Row]) -> RawTable:
    """The ratings of rows that have the required columns; further columns are not read."""
    return RawTable(
        FORMAT,
        tuple(
            RawRating(
                row["item"],
                row["rater"],
                row["label"],
                where,
                row.get("kind"),
                row.get("cluster"),
                row.get("weight"),
            )
            for where, row in rows
        ),
    )


def refuse_columns(columns: Sequence[str], source: str) -> InputError:
    """What to say of a table that is not long: wide, transposed, or with a misspelt column."""
    missing = [name for name in REQUIRED if name not in columns]
    near = {name: _near(name, columns) for name in missing}
    hints = [f"rename {found!r} to {name!r}" for name, found in near.items() if found]
    if not hints:
        hints = ["one row per rating, not one column per rater or per item"]
    return InputError(
        f"{source}: no column {', '.join(map(repr, missing))}; expected item, rater, label "
        f"(and kind, cluster, weight if known), found {_listing(columns)}: {'; '.join(hints)}"
    )


def _near(name: str, columns: Sequence[str]) -> str | None:
    """The column that was probably meant, whatever its case and the blanks around it.

    None where several are as near: rater_1 and rater_2 are a wide table, not a misspelling.
    """
    folded = {column.strip().casefold(): column for column in columns if column not in REQUIRED}
    near = difflib.get_close_matches(name, folded, n=2, cutoff=0.75)
    return folded[near[0]] if len(near) == 1 else None


def _listing(columns: Sequence[str]) -> str:
    shown = ", ".join(map(repr, columns[:8]))
    return f"{shown} and {len(columns) - 8} more" if len(columns) > 8 else shown or "none"
