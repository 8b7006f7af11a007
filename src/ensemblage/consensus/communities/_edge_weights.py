"""What the edges of a graph tell of partitions of its nodes, and the steps of the methods that go by it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ensemblage.generation._communities import Objective, communities, quality
from ensemblage.kernels._graphs import count_joined_ends, peel
from ensemblage.labels.rows import Rows
from ensemblage.labels.threads import parallel_map, row_blocks

PAIR_BYTES = 40
"""Bytes for each entry of a matrix of all pairs that are joined, and of what is made of it."""


class EdgeLabels(NamedTuple):
    """Partitions of the nodes."""

    codes: NDArray[Any]
    """(n, p)"""
    n_clusters: NDArray[np.int64]
    """(p,) clusters per partition, and the code of a missing entry."""
    weights: NDArray[np.float64]
    """(p,)"""

    @classmethod
    def of_objects(cls, rows: Rows) -> EdgeLabels:
        """Of `object_rows` in memory; an object that no partition labels has missing entries alone."""
        labelled = rows.inverse < len(rows)
        codes = np.empty((len(labelled), len(rows.n_clusters)), dtype=rows.codes.dtype)
        codes[:] = rows.n_clusters
        codes[labelled] = rows.codes[:][rows.inverse[labelled]]
        return cls(codes, rows.n_clusters, rows.weights)

    @classmethod
    def of_runs(cls, labels: Sequence[NDArray[np.int32]]) -> EdgeLabels:
        """Partitions of equal weight without missing entries."""
        codes = np.column_stack(labels)
        return cls(codes, codes.max(axis=0).astype(np.int64) + 1, np.ones(codes.shape[1]))

    def associations(self, pattern: csr_array, n_jobs: int | None) -> NDArray[np.float64]:
        """(nnz,) for each entry of a matrix the weight of the partitions that join its nodes, by that of those that
        label both; NaN where none does. Equal weights give the number nearest to the share."""
        joined, both = np.empty(pattern.nnz), np.empty(pattern.nnz)
        missing = self.n_clusters.astype(self.codes.dtype)

        def count(rows: slice) -> None:
            indptr = pattern.indptr[rows.start : rows.stop + 1]
            count_joined_ends(indptr, pattern.indices, rows.start, self.codes, missing, self.weights, joined, both)

        parallel_map(count, row_blocks(pattern.shape[0]), n_jobs)
        with np.errstate(invalid="ignore"):
            return np.asarray(joined / both)

    def joined_pairs(self, check: Callable[[int], None] = lambda n_entries: None) -> csr_array:
        """(n, n) an entry for each pair that some partition joins; ``check`` is called with the most there may be."""
        labelled = self.codes < self.n_clusters
        columns = (self.codes + np.concatenate([[0], np.cumsum(self.n_clusters[:-1])]))[labelled]
        check(most_joined(np.bincount(columns), len(labelled)))
        indptr = np.concatenate([[0], np.cumsum(labelled.sum(axis=1))])
        members = csr_array((np.ones(len(columns), dtype=np.int32), columns, indptr))
        pairs = csr_array(members @ members.T)
        pairs.setdiag(0)
        pairs.eliminate_zeros()
        pairs.sort_indices()
        return pairs


def most_joined(sizes: NDArray[np.int64], n: int) -> int:
    """Entries of the pairs of n objects that clusters of these sizes join: fewer where several join the same pair."""
    n_pairs: int = sum(size * size for size in sizes.tolist())
    return min(n_pairs, n * n)


class Detector(NamedTuple):
    """Who finds the communities of a weighted graph."""

    algorithm: Any
    objective: Objective
    resolution: float
    n_jobs: int | None

    def runs(self, graph: csr_array, seeds: Sequence[int]) -> list[NDArray[np.int32]]:
        """Communities, one run for each seed."""

        def run(seed: int) -> NDArray[np.int32]:
            return communities(graph, self.resolution, self.objective, seed, self.algorithm)

        return parallel_map(run, seeds, self.n_jobs)

    def best_of(self, graph: csr_array, seeds: Sequence[int]) -> NDArray[np.int32]:
        """The run whose objective is largest, the first one on ties."""
        runs = self.runs(graph, seeds)
        if graph.nnz == 0:
            return runs[0]
        return max(runs, key=lambda labels: round(quality(graph, labels, self.resolution, self.objective), 12))


def replace_values(pattern: csr_array, values: NDArray[np.float64], kept: NDArray[np.bool_] | None = None) -> csr_array:
    """The matrix with other values, and only the entries that are kept."""
    matrix = csr_array((values, pattern.indices, pattern.indptr), shape=pattern.shape)
    if kept is not None:
        matrix = csr_array((np.where(kept, values, 0.0), pattern.indices.copy(), pattern.indptr.copy()), pattern.shape)
        matrix.eliminate_zeros()
    return matrix


def ecg_weights(graph: csr_array, associations: NDArray[np.float64], min_weight: float) -> NDArray[np.float64]:
    """(nnz,) ECG's weights: w* + (1 - w*) c for the edges of the 2-core, w* for the others."""
    degrees = np.diff(graph.indptr).astype(np.int64)
    peel(graph.indptr, graph.indices, 2, degrees, np.empty(len(degrees), dtype=np.int64))
    in_core = degrees >= 0
    inside = np.repeat(in_core, np.diff(graph.indptr)) & in_core[graph.indices]
    return np.where(inside, min_weight + (1 - min_weight) * np.nan_to_num(associations), min_weight)


def lf_graph(pattern: csr_array, associations: NDArray[np.float64], threshold: float) -> csr_array:
    """Lancichinetti & Fortunato's D: associations of at least the threshold; of a node that has none, its largest."""
    c = np.nan_to_num(associations)
    kept = c >= threshold
    rows = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
    alone = np.bincount(rows[kept], minlength=pattern.shape[0]) == 0
    candidates = np.flatnonzero(alone[rows] & (c > 0))
    order = candidates[np.lexsort((candidates, -c[candidates], rows[candidates]))]
    first = order[np.flatnonzero(np.diff(rows[order], prepend=-1))]
    kept[first] = True
    matrix = replace_values(pattern, c, kept)
    return csr_array(matrix.maximum(matrix.T))


def support(graph: csr_array, associations: NDArray[np.float64], labels: NDArray[Any]) -> NDArray[np.float64]:
    """(n,) mean association of each node's edges within its cluster, NaN where it has none."""
    rows = np.repeat(np.arange(len(labels)), np.diff(graph.indptr))
    inside = (labels[rows] == labels[graph.indices]) & (labels[rows] >= 0) & ~np.isnan(associations)
    n_inside = np.bincount(rows[inside], minlength=len(labels))
    with np.errstate(invalid="ignore"):
        return np.bincount(rows[inside], associations[inside], minlength=len(labels)) / n_inside
