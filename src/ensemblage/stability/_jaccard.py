"""How well another partition reproduces each cluster: the largest Jaccard similarity of the sets."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.kernels._contingency import contingency


class Cells(NamedTuple):
    """The contingency table of two partitions, where it is not zero; the last number of each stands for noise."""

    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    counts: NDArray[np.int64]
    """Objects in both."""

    @classmethod
    def of_table(cls, table: NDArray[np.int64]) -> Cells:
        rows, columns = np.nonzero(table)
        return cls(rows, columns, table[rows, columns])

    def adjusted_rand(self) -> float:
        """The adjusted Rand index of both partitions, noise a cluster like the others: bitwise scikit-learn's."""
        n, both = int(self.counts.sum()), _sum_of_squares(self.counts)
        one, other = (_sum_of_squares(np.bincount(of, self.counts)) for of in (self.rows, self.columns))
        joined, of_one, of_other = both - n, one - both, other - both
        apart = n * n - one - other + both
        if of_one == of_other == 0:
            return 1.0
        pairs = (joined + of_one) * (of_one + apart) + (joined + of_other) * (of_other + apart)
        return 2.0 * (joined * apart - of_one * of_other) / pairs


def _sum_of_squares(counts: NDArray[Any]) -> int:
    """Of whole numbers."""
    return int(np.square(counts.astype(np.int64)).sum())


def cells_of(a: NDArray[Any], b: NDArray[Any], counts: NDArray[np.int64], height: int, width: int) -> Cells:
    """The table of codes a < height and b < width of the same objects, each as often as it counts.

    O(n) time; by sorting, in O(n log n), where the whole table would be far larger than the data.
    """
    if height * width > max(2**16, 4 * len(a)):
        keys, places = np.unique(a.astype(np.int64) * width + b, return_inverse=True)
        return Cells(*np.divmod(keys, width), np.bincount(places, counts).astype(np.int64))
    table = np.zeros(height * width, dtype=np.int64)
    contingency(a, b, counts, width, table)
    return Cells.of_table(table.reshape(height, width))


def best_jaccard(cells: Cells, n_rows: int, n_columns: int) -> NDArray[np.float64]:
    """(n_rows + 1,) the largest Jaccard similarity of each cluster with a cluster of the other partition.

    The last entry compares noise, code ``n_rows``, with noise, code ``n_columns``; no cluster is compared with noise,
    but the sizes count it. NaN for a cluster without objects.
    """
    sizes = np.bincount(cells.rows, cells.counts, n_rows + 1)
    others = np.bincount(cells.columns, cells.counts, n_columns + 1)
    similar = cells.counts / (sizes[cells.rows] + others[cells.columns] - cells.counts)
    alike = (cells.rows == n_rows) == (cells.columns == n_columns)
    best = np.where(sizes > 0, 0.0, np.nan)
    np.maximum.at(best, cells.rows[alike], similar[alike])
    return best


def encode_noise(labels: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """Labels with noise, whatever is negative, as the number after the last; and that number, at most their length."""
    is_noise, n_labels = labels < 0, int(labels.max(initial=-1)) + 1
    if n_labels > len(labels):
        used, labels = np.unique(labels, return_inverse=True)
        n_labels = len(used)
    return np.where(is_noise, n_labels, labels), n_labels
