"""In which order partitions vote: by what they say, never by where they stand or what their labels are called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage._ensemble import Ensemble
from ensemblage.consensus._base import Rows
from ensemblage.consensus._content import content_of
from ensemblage.counting._profiles import label_profile
from ensemblage.kernels._votes import count_beside
from ensemblage.metrics._agreement import agreement_matrix, weighted_mean

_MOST_CELLS = 2**28  # two gigabytes


@dataclass(frozen=True)
class Ballot:
    """The partitions and their labels, in an order that does not depend on names and places."""

    partitions: NDArray[np.intp]
    """By decreasing entropy."""
    labels: list[NDArray[np.intp]]
    """Per partition its codes, by decreasing cluster size."""
    sizes: NDArray[np.int64]
    """(offsets[p],) objects of each label."""


def ballot(rows: Rows, ensemble: Ensemble, n_jobs: int | None = None) -> Ballot:
    """Order the partitions by decreasing entropy and the labels by decreasing size.

    Partitions of equal entropy go by decreasing agreement with all of them. Those that still tie, and labels of equal
    size, go by `content_of`: an order without meaning that depends on neither names nor places, but of what nothing
    else tells apart. O(n p), and with ties up to O(n p²) more.
    """
    sizes = label_profile(rows.codes, np.zeros(len(rows), np.int32), rows.counts, rows.offsets, 1, n_jobs)[0]
    by_partition = [sizes[a:b] for a, b in zip(rows.offsets[:-1], rows.offsets[1:] - 1, strict=True)]
    keys: list[tuple[Any, ...]] = [(-entropy(np.sort(s)),) for s in by_partition]
    if len(set(keys)) < len(keys):
        keys = [(*key, -mean) for key, mean in zip(keys, agreements(ensemble, rows.weights, n_jobs), strict=True)]
    ties = len(set(keys)) < len(keys) or any(len(np.unique(s)) < len(s) for s in by_partition)
    if not ties:
        labels = [np.argsort(-s) for s in by_partition]
    else:
        content = content_of(rows, sizes, n_jobs)
        of_labels = [content.labels[a:b].T for a, b in zip(rows.offsets[:-1], rows.offsets[1:] - 1, strict=True)]
        labels = [np.lexsort((first, colour, -s)) for s, (colour, first) in zip(by_partition, of_labels, strict=True)]
        keys = [key + more for key, more in zip(keys, content.partitions, strict=True)]
    return Ballot(np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.intp), labels, sizes)


def agreements(ensemble: Ensemble, weights: NDArray[np.float64], n_jobs: int | None = None) -> NDArray[np.float64]:
    """(p,) weighted mean adjusted Rand index of each partition with all of them, itself included.

    So a weight of 2 is the partition twice. Of two partitions the objects count that both label. Sums are exact: means
    of the same numbers in any order are equal. O(m p²) for m distinct rows.
    """
    return np.array([weighted_mean(row, weights) for row in agreement_matrix(ensemble, "ari", n_jobs=n_jobs)])


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


def tables_beside(rows: Rows, j: int, others: NDArray[np.intp], n_jobs: int | None = None) -> NDArray[np.int64]:
    """Contingency tables of partition j with others: objects by (label of the other, code of j), (offsets[p], k_j + 1).

    O(n) per partition; memory one such table per thread.
    """
    shape = (int(rows.offsets[-1]), int(rows.n_clusters[j]) + 1)
    check_cells(shape[0] * shape[1])
    codes, reads = rows.codes, [rows.counts]
    (table,) = codes.add(_add_beside, [shape], j, others, rows.offsets, reads=reads, n_jobs=n_jobs)
    return table


def _add_beside(codes: Any, counts: Any, table: Any, j: int, others: Any, offsets: Any) -> None:
    count_beside(codes, counts, j, others, offsets, table)
