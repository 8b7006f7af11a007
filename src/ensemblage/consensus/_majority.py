"""Majority voting after relabelling: the plain baseline."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from ensemblage._ensemble import Ensemble
from ensemblage._parallel import map_rows
from ensemblage.consensus._base import BaseConsensus, Rows
from ensemblage.consensus._partition_graph import without_gaps
from ensemblage.kernels._contingency import ContingencyTables, tables_of_rows
from ensemblage.kernels._groups import assign_to_groups


class MajorityVoting(BaseConsensus):
    """Rename the clusters of every partition after those of a reference partition, then take each object's commonest.

    A baseline: `BipartiteVoting` and `CumulativeVoting` relabel to what the partitions have in common instead.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters of the consensus, at most the number of clusters of some partition. A cluster may win no
        object, so there may be fewer. None: as many as the reference has.
    weights : array-like of shape (n_partitions,), optional
        Weight of each partition's vote. Default: one each.
    n_jobs : int, optional
        Threads. Default: every core. The result does not depend on it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,), int32
        Clusters numbered by decreasing size; -1 for an object that no partition labels.
    confidence_ : ndarray of shape (n_objects,)
        Mean co-association of the object with the other members of its cluster, from 0 to 1.
    n_clusters_ : int
    reference_ : int
        The partition that lends its labels.
    n_features_in_, feature_names_in_
        As in scikit-learn: partitions and their names.

    Raises
    ------
    ValueError
        If ``n_clusters`` exceeds the number of distinct label rows or the clusters of every partition.

    Notes
    -----
    The reference is, of the partitions with the fewest clusters but at least ``n_clusters``, the one whose clusters the
    others' overlap most; the first on ties. Its ``n_clusters`` largest clusters count. Each other partition's clusters
    are matched to them one to one with the largest overlap (Hungarian method); those left over vote for the one that
    they overlap most, or not at all. Votes that tie go to the larger cluster of the reference, as do objects without
    any vote.

    O(p² m + p k³) time and O(m p) memory for m distinct label rows, on which it is exact.

    References
    ----------
    S. Dudoit, J. Fridlyand, "Bagging to improve the accuracy of a clustering procedure", Bioinformatics 19(9), 2003
    (BagClust1).

    Examples
    --------
    >>> from ensemblage import MajorityVoting
    >>> labels = [[0, 1, 0], [0, 1, 0], [0, 1, 1], [1, 0, 1], [1, 0, 1], [1, 2, 1]]
    >>> MajorityVoting(n_clusters=2).fit(labels).labels_
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """

    def __init__(self, n_clusters: int | None = None, *, weights: Any = None, n_jobs: int | None = None) -> None:
        self.n_clusters = n_clusters
        self.weights = weights
        self.n_jobs = n_jobs

    def _holds_rows(self) -> str:
        return ""

    def _fit(self, rows: Rows, ensemble: Ensemble) -> NDArray[Any]:
        least = 1 if self.n_clusters is None else self._check_n_clusters(len(rows))
        most = int(rows.n_clusters.max())
        if least > most:
            raise ValueError(
                f"n_clusters of MajorityVoting must be ≤ the {most} clusters of the partition with the most. Got "
                f"{least}. "
                "Ask for fewer clusters, or use a method that splits clusters, as KMeansConsensus."
            )
        tables = tables_of_rows(rows.codes, rows.counts, rows.n_clusters, self.n_jobs)
        reference = _reference(tables, least, self.n_clusters is None)
        self.reference_ = int(self._voting[reference])
        k = int(rows.n_clusters[reference]) if self.n_clusters is None else least
        return without_gaps(self._vote(rows, _matched(rows, tables, reference, k), k))

    def _vote(self, rows: Rows, meant: NDArray[np.int64], k: int) -> NDArray[np.int64]:
        votes, clusters = np.repeat(rows.weights, np.diff(rows.offsets)), np.empty(len(rows), dtype=np.int64)
        count = partial(_count, rows.offsets, meant, votes, np.ones(k))
        map_rows(count, [rows.codes, clusters], n_jobs=self.n_jobs)
        return clusters


def _count(offsets: Any, meant: Any, votes: Any, ones: Any, codes: Any, clusters: Any) -> None:
    assign_to_groups(codes, offsets, meant, votes, ones, np.zeros(len(codes)), clusters)


def _reference(tables: ContingencyTables, least: int, any_number: bool) -> int:
    """The partition that lends its labels."""
    p = len(tables.n_clusters)
    enough = np.flatnonzero(tables.n_clusters >= least)
    fewest = enough if any_number else enough[tables.n_clusters[enough] == tables.n_clusters[enough].min()]
    overlap = [sum(_table(tables, j, r).max(axis=1).sum() for j in range(p) if j != r) for r in fewest.tolist()]
    return int(fewest[np.argmax(overlap)])


def _table(tables: ContingencyTables, i: int, j: int) -> NDArray[np.int64]:
    return tables.table(i, j)[:-1, :-1]


def _matched(rows: Rows, tables: ContingencyTables, reference: int, k: int) -> NDArray[np.int64]:
    """For each label, in a table over labels, which of the reference's k largest clusters it means; -1 = none."""
    starts = np.concatenate([[0], np.cumsum(rows.n_clusters)])
    sizes = rows.label_counts()[starts[reference] : starts[reference + 1]]
    largest = np.argsort(-sizes, kind="stable")[:k]
    meant = np.full(rows.offsets[-1], -1)
    meant[rows.offsets[reference] + largest] = np.arange(k)
    for j in range(len(rows.n_clusters)):
        if j != reference:
            table = _table(tables, j, reference)[:, largest]
            block = meant[rows.offsets[j] : rows.offsets[j + 1] - 1]
            block[:] = np.where(table.max(axis=1) > 0, np.argmax(table, axis=1), -1)
            own, matched = linear_sum_assignment(-table)
            used = table[own, matched] > 0
            block[own[used]] = matched[used]
    return meant
