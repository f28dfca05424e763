"""A bare table of counts, as typed: rows are one rater's labels, columns the other's."""

import json

import numpy as np
from numpy.typing import NDArray

from rubrics import InputError

EXPECTED = "expected counts such as '[[20,5],[10,15]]'"
LARGEST = 10**9  # items in all, up to which kappa is computed in exact whole numbers


def parse_table(text: str) -> NDArray[np.int64]:
    """Counts of shape (K, K), or (K, K + 1) with a last column that only the judge can give.

    Raises InputError for anything but a JSON list of K rows of whole numbers from 0 on, K ≥ 2.

    >>> parse_table("[[20,5],[10,15]]").tolist()
    [[20, 5], [10, 15]]
    """
    try:
        rows = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        raise InputError(f"not a table: {text[:60]!r}; {EXPECTED}") from None
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise InputError(f"not a list of rows: {text[:60]!r}; {EXPECTED}")
    k, widths = len(rows), {len(row) for row in rows}
    if k < 2 or widths not in ({k}, {k + 1}):
        found = f"{k} rows of {' or '.join(map(str, sorted(widths))) or 'no'} cells"
        raise InputError(
            f"{found}; expected as many columns as rows (two or more), or one more for what only "
            "the judge can say"
        )
    for number, row in enumerate(rows, start=1):
        for cell in row:
            if isinstance(cell, bool) or not isinstance(cell, int) or cell < 0:
                raise InputError(
                    f"row {number} holds {json.dumps(cell)[:40]}; expected whole numbers from 0 on"
                )
    if sum(map(sum, rows)) > LARGEST:
        raise InputError(f"more than {LARGEST:,} items in all; {EXPECTED}")
    return np.array(rows, dtype=np.int64)
