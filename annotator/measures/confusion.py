"""Confusion: how often the judge said which label where people said which."""

import difflib
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rubrics import InputError

INVALID = "invalid"  # the judge's answer held no label: an outcome of its own, never dropped

# A view turns tables of shape (..., K, K + E) into smaller ones, so that the conversations' tables
# and their bootstrap resamples go through the same door.
View = Callable[[NDArray[np.int64]], NDArray[np.int64]]


def outcome_of(label: str | None) -> str:
    """A judge's label, or the outcome of its own that an unreadable verdict is."""
    return INVALID if label is None else label


@dataclass(frozen=True)
class Confusion:
    """Counts of (reference label, judge outcome); equal pairs once, order of pairs forgotten.

    `categories` name the K rows and the first K columns: the rubric's, in its order, whether they
    occur or not. `judge_only` name E further columns that no reference label can have.
    """

    categories: tuple[str, ...]
    judge_only: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return self.categories + self.judge_only

    @property
    def table(self) -> NDArray[np.int64]:
        """The counts, shape (K, K + E)."""
        return np.array(self.counts, dtype=np.int64).reshape(
            len(self.categories), len(self.columns)
        )

    @property
    def n(self) -> int:
        return sum(map(sum, self.counts))

    def as_dict(self) -> dict[str, object]:
        return {
            "rows": list(self.categories),
            "columns": list(self.columns),
            "counts": [list(row) for row in self.counts],
        }


def tally(
    pairs: Iterable[tuple[Hashable, Hashable]],
    categories: Sequence[str],
    judge_only: Sequence[str] = (),
) -> Confusion:
    """Count (reference, outcome) pairs over fixed categories, occurring or not.

    Raises InputError for a label outside the categories, with the nearest one: None, NaN, blank or
    misspelt labels are never taken for a class, nor left out. Raises it for names given twice.
    """
    row, column = positions(categories), positions(categories, judge_only)
    table = np.zeros((len(categories), len(categories) + len(judge_only)), dtype=np.int64)
    for reference, outcome in pairs:
        table[row(reference), column(outcome)] += 1
    return from_table(table, categories, judge_only)


def positions(
    categories: Sequence[str], judge_only: Sequence[str] = ()
) -> Callable[[Hashable], int]:
    """The number of a label by its name; it raises InputError for a label of another name."""
    names = (*categories, *judge_only)
    if len(set(names)) < len(names):
        raise InputError(f"categories and outcomes share a name: {', '.join(names)}")
    known = {name: position for position, name in enumerate(names)}
    return lambda label: _position(label, known)


def from_table(
    table: NDArray[np.int64], categories: Sequence[str], judge_only: Sequence[str] = ()
) -> Confusion:
    return Confusion(tuple(categories), tuple(judge_only), tuple(map(tuple, table.tolist())))


def parseable(tables: NDArray[np.int64]) -> NDArray[np.int64]:
    """The view without judge-only columns: shape (..., K, K + E) to (..., K, K)."""
    return tables[..., : tables.shape[-2]]


def collapsing(groups: Sequence[int]) -> View:
    """The view that adds up categories: category k goes to group `groups[k]`; judge-only stay.

    Turns shape (..., K, K + E) into (..., G, G + E) for groups numbered 0 to G - 1.
    """
    membership = np.eye(max(groups) + 1, dtype=np.int64)[list(groups)]  # (K, G)

    def view(tables: NDArray[np.int64]) -> NDArray[np.int64]:
        k = len(groups)
        inner = np.einsum("...ij,jh->...ih", tables[..., :k], membership)
        columns = np.concatenate([inner, tables[..., k:]], axis=-1)
        return np.einsum("ig,...ij->...gj", membership, columns)

    return view


def _position(label: Hashable, positions: Mapping[Hashable, int]) -> int:
    # 1 == True == 1.0 as keys of a mapping: only what is spelt as a category is one.
    if isinstance(label, str) and label in positions:
        return positions[label]
    near = difflib.get_close_matches(str(label), [str(known) for known in positions], n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise InputError(
        f"unknown label {label!r}: expected one of {', '.join(map(str, positions))}{hint}"
    )
