"""The rules by which what a file says becomes a label table.

Texts are compared in Unicode's NFC form without the blanks around them, numbers as their text (1
and "1" are one label), case as it is written. What is missing (None, NaN, an empty cell) is no
label and is counted; a text without a character is no label either, and as somebody gave it, it is
refused. The text "nan" is a label like any other.
"""

import difflib
import unicodedata
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, isnan

from annotator.measures.confusion import INVALID
from judge.calibration.label_table.raw_rating import (
    HUMAN,
    JUDGE,
    MULTIPLE_CHOICE,
    SEVERAL,
    RawRating,
    RawTable,
    Several,
)
from judge.calibration.label_table.table import LabelTable, Rating
from judge.calibration.pairing import Exclusion
from rubrics import InputError

NO_LABEL = "no label"
AGAIN = "rated again by the same rater; the last one counts"
SINGLE = "items with a single rating, which nothing can be compared with"
SHOWN = 40  # characters of a text that a message quotes


@dataclass(frozen=True)
class _Row:
    """A rating with its names in order; `label` is None where there is none."""

    item: str
    rater: str
    kind: str
    label: str | None
    where: str


def label_table(raw: RawTable, source: str, categories: Sequence[str] | None = None) -> LabelTable:
    """The table of `raw`, over `categories` or, without any, over the labels found, sorted.

    A person's label outside the categories raises InputError with the nearest one; a judge's is
    an outcome of its own. So do names, kinds, clusters and weights that are missing in part, blank
    or at odds with each other, and a table in which no item has two raters.
    """
    several = sum(isinstance(rating.label, Several) for rating in raw.ratings)
    if several and several == len(raw.ratings):
        raise InputError(f"{source}: {MULTIPLE_CHOICE}")
    single = [rating for rating in raw.ratings if not isinstance(rating.label, Several)]
    try:
        rows = [_row(rating) for rating in single]
        given = [row for row in rows if row.label is not None]
        _check_kinds(rows)
        known = _known(categories, given)
        clusters = _of_items("cluster", single, rows, _text)
        weights = _of_items("weight", single, rows, _weight)
        labelled = [
            Rating(
                row.item,
                row.rater,
                _category(row, known),
                row.kind,
                clusters.get(row.item),
                weights.get(row.item, 1.0),
            )
            for row in given
        ]
    except InputError as error:
        raise InputError(f"{source}: {error}") from None
    latest = {(rating.rater, rating.item): rating for rating in labelled}
    standing = {id(rating) for rating in latest.values()}
    repeats = tuple(rating for rating in labelled if id(rating) not in standing)
    ratings = tuple(latest[pair] for pair in sorted(latest))
    per_item = Counter(rating.item for rating in ratings)
    counts = Counter({exclusion.reason: exclusion.count for exclusion in raw.excluded})
    counts[SEVERAL] += several
    counts[NO_LABEL] += len(rows) - len(given)
    counts[AGAIN] += len(repeats)
    counts[SINGLE] += sum(count == 1 for count in per_item.values())
    ordered = sorted((+counts).items(), key=lambda entry: (-entry[1], entry[0]))
    table = LabelTable(ratings, known, tuple(Exclusion(*entry) for entry in ordered), repeats)
    _check_comparable(table, source)
    return table


def given_categories(text: str) -> tuple[str, ...]:
    """The categories of `--categories a,b,c`. Raises InputError for blank or equal ones.

    >>> given_categories("yes, no")
    ('yes', 'no')
    """
    names = tuple(_tidy(name) for name in text.split(","))
    if "" in names or len(set(names)) < len(names) or len(names) < 2:
        raise InputError(f"categories {text!r}: expected two or more different names, as in a,b,c")
    return names


def _row(raw: RawRating) -> _Row:
    item, rater = (_name(getattr(raw, field), field, raw.where) for field in ("item", "rater"))
    kind = _text(raw.kind, raw.where) or HUMAN
    if kind not in (HUMAN, JUDGE):
        raise InputError(
            f"{raw.where}: unknown kind {kind!r}: expected human or judge"
            f"{_hint(kind, HUMAN, JUDGE)}"
        )
    label = _text(raw.label, raw.where)
    return _Row(item, rater, kind, label, raw.where)


def _known(categories: Sequence[str] | None, rows: Iterable[_Row]) -> tuple[str, ...]:
    if categories is None:
        return tuple(sorted({row.label for row in rows if row.label}))
    return tuple(_tidy(category) for category in categories)


def _category(row: _Row, known: tuple[str, ...]) -> str:
    if row.label in known:
        return row.label
    shown = f"{row.where}: {_quoted(row.label)} of {row.rater!r}"
    if row.kind == JUDGE:
        if INVALID in known:
            raise InputError(
                f"{shown} is no category, and what a judge says beyond them is counted as "
                f"{INVALID!r}, which is one: rename that category"
            )
        return INVALID
    if not row.label:
        raise InputError(f"{shown}: a blank label; leave the cell empty where there is none")
    expected = ", ".join(known)
    raise InputError(
        f"{shown}: unknown label, expected one of {expected}{_hint(row.label, *known)}"
    )


def _check_kinds(rows: Iterable[_Row]) -> None:
    kinds: dict[str, str] = {}
    for row in rows:
        if kinds.setdefault(row.rater, row.kind) != row.kind:
            raise InputError(
                f"{row.where}: rater {row.rater!r} is both human and judge; give them two names"
            )


def _of_items(field, raws: Sequence[RawRating], rows: Sequence[_Row], read) -> dict[str, Hashable]:
    """One value per item, or of a column without any value nothing.

    Raises InputError where rows of an item differ, or where some items have none: items without a
    cluster are no cluster together, and an unknown weight is not 1.
    """
    found: dict[str, Hashable] = {}
    for raw, row in zip(raws, rows, strict=True):
        value = read(getattr(raw, field), raw.where)
        if value is None:
            continue
        if value == "":
            raise InputError(f"{raw.where}: a blank {field}; leave the cell empty or name one")
        if found.setdefault(row.item, value) != value:
            raise InputError(
                f"{raw.where}: item {row.item!r} has {field} {value!r} here and "
                f"{found[row.item]!r} before; expected one per item"
            )
    without = next((row for row in rows if found and row.item not in found), None)
    if without:
        raise InputError(
            f"{without.where}: item {without.item!r} has no {field}, others have; give every item "
            "its own, or leave the column out"
        )
    return found


def _check_comparable(table: LabelTable, source: str) -> None:
    if not table.ratings:
        raise InputError(f"{source}: no label in it; expected two raters' labels of some items")
    if len(table.raters) == 1:
        raise InputError(
            f"{source}: a single rater, {table.raters[0]!r}; agreement takes two raters' labels "
            "of the same items"
        )
    if len(table.items) == len(table.ratings):
        first, second = table.raters[:2]
        raise InputError(
            f"{source}: no item has two raters: {_some_of(table, first)}, "
            f"{_some_of(table, second)}; check that both name the items alike"
        )


def _some_of(table: LabelTable, rater: str) -> str:
    items = list(table.labels_of(rater))
    more = ", …" if len(items) > 3 else ""
    return f"{rater!r} rated {', '.join(map(repr, items[:3]))}{more}"


def _name(value: object, field: str, where: str) -> str:
    text = _text(value, where)
    if not text:
        raise InputError(f"{where}: no {field}: expected a name or a number, found {value!r}")
    return text


def _text(value: object, where: str) -> str | None:
    """The text of a value, None of a missing one.

    A whole float is written as the whole number: a column of numbers with gaps is one of floats.
    """
    if value is None or (isinstance(value, float) and isnan(value)):
        return None
    if isinstance(value, str):
        return _tidy(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, Mapping | list | bytes):
        raise InputError(f"{where}: {_quoted(value)}: expected a text or a number")
    return str(value)


def _weight(value: object, where: str) -> float | None:
    text = _text(value, where)
    if text is None:
        return None
    try:
        weight = float(text)
    except ValueError:
        weight = 0.0
    if not isfinite(weight) or weight <= 0:
        raise InputError(f"{where}: weight {value!r}: expected a number above 0")
    return weight


def _tidy(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip()


def _hint(text: str, *known: str) -> str:
    folded = {name.casefold(): name for name in reversed(known)}
    near = difflib.get_close_matches(text.casefold(), folded, n=1)
    return f"; did you mean {folded[near[0]]!r}?" if near else ""


def _quoted(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}…"
