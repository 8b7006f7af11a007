"""In which order partitions vote: by what they say, never by where they stand or what their labels are called."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage._ensemble import Ensemble
from ensemblage._parallel import add_rows
from ensemblage.consensus._base import Rows
from ensemblage.kernels._profiles import label_profile
from ensemblage.kernels._votes import count_beside

_MOST_CELLS = 2**28  # two gigabytes


@dataclass(frozen=True)
class Ballot:
    """The partitions that vote (weight > 0) and their labels, in an order of their own."""

    partitions: NDArray[np.intp]
    """By decreasing entropy."""
    labels: list[NDArray[np.intp]]
    """Per partition (all of them) its codes, by decreasing cluster size."""
    sizes: NDArray[np.int64]
    """(offsets[p],) objects of each label."""


def ballot(rows: Rows, ensemble: Ensemble, n_jobs: int | None = None) -> Ballot:
    """Order the partitions by decreasing entropy and the labels by decreasing size.

    Partitions of equal entropy and labels of equal size go by how they cross the other partitions (sums of squared
    contingency tables); partitions that are still equal by the first object of each cluster, labels by their code.
    O(n p), and O(n p) more per partition with ties.
    """
    check_cells(int(rows.offsets[-1] * (rows.n_clusters.max() + 1)))
    sizes = label_profile(rows.codes, np.zeros(len(rows), np.int32), rows.counts, rows.offsets, 1, n_jobs)[0]
    voting = np.flatnonzero(rows.weights > 0)
    by_partition = [sizes[a:b] for a, b in zip(rows.offsets[:-1], rows.offsets[1:] - 1, strict=True)]
    entropies = [entropy(np.sort(s)) for s in by_partition]
    shared = Counter(entropies[j] for j in voting)
    labels, keys = [], []
    for j, s in enumerate(by_partition):
        _, size, labels_of_size = np.unique(s, return_inverse=True, return_counts=True)
        tied = (labels_of_size[size] > 1) | (shared[entropies[j]] > 1)
        squares = _squared_tables(rows, j, voting, tied, n_jobs)
        labels.append(np.lexsort((-squares, -s)))
        keys.append((-entropies[j], tuple(squares[labels[-1]].tolist())))
    repeated = Counter(keys[j] for j in voting)

    def key(j: int) -> tuple[Any, ...]:
        return (*keys[j], *(_content(ensemble.codes[:, j], rows.weights[j]) if repeated[keys[j]] > 1 else ()))

    return Ballot(np.array(sorted(voting.tolist(), key=key), dtype=np.intp), labels, sizes)


def check_cells(cells: int) -> None:
    """Refuse a table that does not fit, before it is made."""
    if cells > _MOST_CELLS:
        raise ValueError(
            f"Voting needs tables of labels by labels, of at most {_MOST_CELLS:,} cells. Got {cells:,}. "
            "Leave out the partitions with the most clusters (names or numbers of the objects?)."
        )


def entropy(masses: NDArray[Any]) -> float:
    """Shannon entropy in nats of the distribution proportional to ``masses``."""
    share = masses[masses > 0] / masses.sum()
    return float(-(share * np.log(share)).sum()) + 0.0


def tables_beside(
    rows: Rows, j: int, others: NDArray[np.intp], n_jobs: int | None = None, counted: NDArray[np.bool_] | None = None
) -> NDArray[np.int64]:
    """Contingency tables of partition j with others: objects by (label of the other, code of j), (offsets[p], k_j + 1).

    Only the codes of j that are ``counted``, (k_j + 1,), by default all. O(n) per partition; memory one such table per
    thread.
    """
    shape = (int(rows.offsets[-1]), int(rows.n_clusters[j]) + 1)
    counted = np.ones(shape[1], dtype=bool) if counted is None else counted
    shared = (j, others, counted, rows.offsets)
    (table,) = add_rows(_add_beside, [rows.codes, rows.counts], [shape], *shared, n_jobs=n_jobs)
    return table


def _add_beside(codes: Any, counts: Any, table: Any, j: int, others: Any, counted: Any, offsets: Any) -> None:
    count_beside(codes, counts, j, others, counted, offsets, table)


def _squared_tables(
    rows: Rows, j: int, others: NDArray[np.intp], tied: NDArray[np.bool_], n_jobs: int | None
) -> NDArray[np.int64]:
    """Per tied label of partition j: the sum of its squared counts with every label of the others; 0 for the rest."""
    if not tied.any():
        return np.zeros(len(tied), dtype=np.int64)
    tables = tables_beside(rows, j, others, n_jobs, np.append(tied, False))
    squares: NDArray[np.int64] = np.square(tables[:, :-1]).sum(axis=0)
    return squares


def _content(codes: NDArray[Any], weight: float) -> tuple[bytes, float, bytes]:
    """What tells two partitions apart that have the same tables: clusters by first object, weight, codes."""
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse].astype(np.int32).tobytes(), float(weight), codes.tobytes()
