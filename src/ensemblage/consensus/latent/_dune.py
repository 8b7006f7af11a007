"""Dune (Roux de Bézieux et al. 2024): merge clusters of several clusterings as long as they agree the better."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from itertools import permutations
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from ensemblage.base.sklearn import BaseEstimator
from ensemblage.base.validation import Constraints, Jobs, Words, check_parameters, takes_labels
from ensemblage.counting._contingency import table_cells, tables_of_rows
from ensemblage.labels.ensemble import as_ensemble
from ensemblage.labels.threads import check_stopped
from ensemblage.metrics._agreement import MEASURES
from ensemblage.metrics._partition_distance import check_cells

LEAST_GAIN = 1e-12
"""By how much a merge must raise the mean agreement; gains that differ by no more are the same."""


class Merge(NamedTuple):
    """Two clusters of a partition that became one."""

    partition: int
    kept: int
    """The cluster that took the other: the smaller number."""
    merged: int
    gain: float
    """By how much the mean agreement of all pairs of partitions rose."""


def _xlogx(x: NDArray[Any]) -> NDArray[np.float64]:
    return np.asarray(x * np.log(np.maximum(x, 1)))


def ari_after_merges(table: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """Adjusted Rand index of a contingency table, and (k, k) that with two of its rows merged."""
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    pairs = [(x * (x - 1) / 2).sum() for x in (table, rows, columns, rows.sum(keepdims=True))]

    def score(both: Any, first: Any) -> Any:
        mean, chance = (first + pairs[2]) / 2, first * pairs[2] / max(pairs[3], 1)
        known = mean > chance
        return np.where(known, (both - chance) / np.where(known, mean - chance, 1), 1.0)

    now = float(score(pairs[0], pairs[1]))
    return now, score(pairs[0] + table @ table.T, pairs[1] + np.outer(rows, rows))


def nmi_after_merges(table: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """The same of the normalised mutual information, by the mean of the entropies."""
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    t, v, u, of_n = (_xlogx(x).sum() for x in (table, rows, columns, rows.sum(keepdims=True)))

    def score(both: Any, first: Any) -> Any:
        entropies = 2 * of_n - first - u
        known = entropies > LEAST_GAIN
        return np.where(known, 2 * (of_n + both - first - u) / np.where(known, entropies, 1), 1.0)

    more = np.stack([_xlogx(table + one).sum(axis=1) - _xlogx(table).sum(axis=1) - _xlogx(one).sum() for one in table])
    larger = _xlogx(rows[:, None] + rows) - _xlogx(rows)[:, None] - _xlogx(rows)
    return float(score(t, v)), score(t + more, v + larger)


AFTER_MERGES = {"ari": ari_after_merges, "nmi": nmi_after_merges}


class Clusterings:
    """The partitions, their contingency tables, and what each merge would change."""

    def __init__(self, tables: dict[tuple[int, int], NDArray[np.float64]], p: int, measure: str) -> None:
        """tables : (k_i, k_j) of all ordered pairs"""
        self.tables, self.p, self.measure = tables, p, AFTER_MERGES[measure]
        self.clusters = [np.arange(tables[i, (i + 1) % p].shape[0]) for i in range(p)]
        """Numbers of the clusters that there still are."""
        self.changes = {pair: self._change(pair) for pair in tables}

    def _change(self, pair: tuple[int, int]) -> tuple[float, NDArray[np.float64]]:
        """The agreement of two partitions, and by how much each merge in the first would raise it."""
        now, after = self.measure(self.tables[pair])
        return now, after - now

    @property
    def agreement(self) -> float:
        """Mean over all pairs of partitions."""
        return float(np.mean([self.changes[i, j][0] for i in range(self.p) for j in range(i + 1, self.p)]))

    def best_merge(self) -> tuple[float, int, int, int]:
        """The gain of the best merge, its partition and the places of its clusters; ties: the first of all."""
        best, n_pairs = (LEAST_GAIN, -1, -1, -1), self.p * (self.p - 1) / 2
        for i in range(self.p):
            gains = np.sum([self.changes[i, j][1] for j in range(self.p) if j != i], axis=0) / n_pairs
            for k, m in zip(*np.triu_indices(len(self.clusters[i]), 1), strict=True):
                if gains[k, m] > best[0] + LEAST_GAIN:
                    best = float(gains[k, m]), i, int(k), int(m)
        return best

    def merge(self, i: int, k: int, m: int) -> None:
        """Merge the clusters at two places of partition i."""
        self.clusters[i] = np.delete(self.clusters[i], m)
        for j in range(self.p):
            if j != i:
                table = self.tables[i, j]
                table[k] += table[m]
                self.tables[i, j] = np.delete(table, m, axis=0)
                self.tables[j, i] = self.tables[i, j].T
                self.changes[i, j], self.changes[j, i] = self._change((i, j)), self._change((j, i))


@dataclass(eq=False, repr=False)
class Dune(BaseEstimator):
    """Use it if clusterings differ in resolution: it merges clusters as long as the mean agreement rises (Dune).

    Clusterings of the same objects by different algorithms or settings often differ in how finely they divide. Each
    step merges the two clusters of one of them with which the mean agreement of all pairs of partitions rises most.

    Parameters
    ----------
    measure : {"ari", "nmi"}, default "ari"
        Agreement of two partitions: adjusted Rand index, or normalised mutual information with the mean entropy.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects, n_partitions), int32
        The partitions after the merges; clusters numbered by first appearance in X, less those that were merged away;
        -1 for missing.
    merges_ : list of Merge
        In order: ``partition``, ``kept``, ``merged``, clusters numbered by first appearance in X, and the ``gain``.
    agreements_ : ndarray of shape (n_merges + 1,)
        Mean agreement before, and after each merge.
    names_in_ : ndarray of str
        Names of the members.
    n_features_in_ : int
        Number of partitions.

    Raises
    ------
    ValueError
        If there are fewer than two partitions, or their contingency tables have more than 2²⁸ cells.

    See Also
    --------
    ensemblage.metrics.element_consistency : How alike the partitions are, object by object.

    Notes
    -----
    There are no weights: a partition counts as often as it is there. It ends when no merge raises the agreement, or
    some partition has one cluster. Two partitions that share no object
    agree perfectly, so that they do not count. O(p² n) time for the tables of p partitions, O(p k³) for a merge
    and its update; memory 16 bytes per cell of the tables and per pair of clusters of each pair of partitions.

    References
    ----------
    H. Roux de Bézieux et al., "Improving replicability in single-cell RNA-Seq cell type discovery with Dune", BMC
    Bioinformatics 25, 198, 2024.

    Examples
    --------
    >>> from ensemblage.consensus import Dune
    >>> labels = [[0, 0], [0, 0], [1, 0], [1, 0], [2, 1], [2, 1]]
    >>> model = Dune().fit(labels)
    >>> model.labels_[:, 0], model.agreements_.round(3)
    (array([0, 0, 0, 0, 1, 1], dtype=int32), array([0.444, 1.   ]))
    """

    _parameter_constraints: ClassVar[Constraints] = {"measure": [Words(MEASURES)], "n_jobs": [Jobs()]}

    measure: str = "ari"
    _: KW_ONLY
    n_jobs: int | None = None

    labels_: NDArray[np.int32] = field(init=False)
    merges_: list[Merge] = field(init=False)
    agreements_: NDArray[np.float64] = field(init=False)
    names_in_: NDArray[Any] = field(init=False)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Merge clusters of the partitions of a label matrix.

        Parameters
        ----------
        X : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
            Labels. -1, NaN and None mean that the partition did not label the object.
        y : None
            Ignored.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_parameters(self)
        ensemble = as_ensemble(X)
        validate_data(self, X, skip_check_array=True)
        p = ensemble.shape[1]
        if p < 2:
            raise ValueError(f"X of Dune must have two partitions or more. Got {p} (n_features={p}). Add partitions.")
        check_cells(table_cells(ensemble.n_clusters), "Dune", "")
        codes, counts, _ = ensemble.distinct
        found = tables_of_rows(codes, counts, ensemble.n_clusters, self.n_jobs)
        labels = np.column_stack([np.asarray(ensemble.rows[:, j]) for j in range(p)]).astype(np.int32)
        orders = [_by_first_appearance(labels[:, j], int(k)) for j, k in enumerate(ensemble.n_clusters)]
        tables = {
            (i, j): found.table(i, j)[:-1, :-1][np.ix_(orders[i], orders[j])].astype(np.float64)
            for i, j in permutations(range(p), 2)
        }
        state = Clusterings(tables, p, self.measure)
        number = [np.append(np.argsort(order), -1).astype(np.int32) for order in orders]
        self.labels_ = np.column_stack([number[j][labels[:, j]] for j in range(p)])
        self.merges_, agreements = [], [state.agreement]
        while min(map(len, state.clusters)) > 1:
            check_stopped()
            gain, i, k, m = state.best_merge()
            if i < 0:
                break
            kept, merged = (int(state.clusters[i][place]) for place in (k, m))
            state.merge(i, k, m)
            self.labels_[self.labels_[:, i] == merged, i] = kept
            self.merges_.append(Merge(i, kept, merged, gain))
            agreements.append(state.agreement)
        self.labels_ = np.column_stack([_without_gaps(column) for column in self.labels_.T])
        self.agreements_ = np.array(agreements)
        self.names_in_ = np.array(ensemble.names, dtype=object)
        return self

    def __sklearn_tags__(self) -> Any:
        return takes_labels(super().__sklearn_tags__())


def _by_first_appearance(codes: NDArray[np.int32], n_clusters: int) -> NDArray[np.intp]:
    """(k,) the codes of the clusters in the order in which objects have them."""
    found, first = np.unique(codes, return_index=True)
    ordered = found[np.argsort(first)]
    return np.asarray(ordered[ordered < n_clusters], dtype=np.intp)


def _without_gaps(labels: NDArray[np.int32]) -> NDArray[np.int32]:
    """Clusters from 0, in the same order; -1 stays."""
    found = np.unique(labels[labels >= 0])
    return np.where(labels < 0, -1, np.searchsorted(found, labels)).astype(np.int32)
