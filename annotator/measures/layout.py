"""Layout: which features stand where in a row, so that statistics ask for them by name."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from annotator.measures.replicates import Sums


class Layout:
    """Blocks of features side by side.

    >>> layout = Layout({"people × judge": (2, 3), "disagreement": ()})
    >>> layout.pick(np.arange(7.0), "people × judge").tolist()
    [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    """

    def __init__(self, shapes: Mapping[str, tuple[int, ...]]) -> None:
        self._shapes = dict(shapes)
        ends = np.cumsum([int(np.prod(shape)) for shape in shapes.values()]).tolist()
        self._starts = dict(zip(shapes, [0, *ends], strict=False))
        self.width = ends[-1] if ends else 0

    def pick(self, sums: Sums, name: str) -> NDArray[np.float64]:
        """One block of sums (..., F): (..., *shape)."""
        shape, start = self._shapes[name], self._starts[name]
        block = sums[..., start : start + int(np.prod(shape))]
        return block.reshape(*sums.shape[:-1], *shape)

    def pack(self, blocks: Mapping[str, NDArray]) -> NDArray[np.float64]:
        """Rows of features (P, F) from one array (P, *shape) per block, all of them."""
        if blocks.keys() != self._shapes.keys():
            raise KeyError(f"expected blocks {list(self._shapes)}, found {list(blocks)}")
        flat = [
            np.reshape(blocks[name], (len(blocks[name]), int(np.prod(shape))))
            for name, shape in self._shapes.items()
        ]
        return np.concatenate(flat, axis=1).astype(np.float64)


def pair_tables(
    first: NDArray[np.int64], second: NDArray[np.int64], rows: int, columns: int
) -> NDArray[np.int8]:
    """One table (rows, columns) per pattern with a 1 in its cell; empty where a rating is -1."""
    tables = np.zeros((len(first), rows, columns), dtype=np.int8)
    both = np.flatnonzero((first >= 0) & (second >= 0))
    tables[both, first[both], second[both]] = 1
    return tables
