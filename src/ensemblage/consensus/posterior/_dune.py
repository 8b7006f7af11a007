"""Dune (Roux de Bézieux et al. 2024): merge clusters of several partitions as long as they agree the better."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from itertools import combinations, permutations
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from ensemblage.base.sklearn import BaseEstimator
from ensemblage.base.threads import check_stopped
from ensemblage.base.validation import Constraints, Jobs, Words, check_parameters, takes_labels
from ensemblage.counting._contingency import table_cells, tables_of_rows
from ensemblage.labels.ensemble import as_ensemble
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


def dune(
    tables: dict[tuple[int, int], NDArray[np.float64]], measure: str = "ari"
) -> tuple[list[Merge], NDArray[np.float64]]:
    """Merge clusters of p partitions (Roux de Bézieux et al. 2024, Methods): the merges, and the mean agreements.

    1. Of all merges of two clusters of a partition take the one with which the mean agreement of all pairs of
       partitions rises most; on ties the first one.
    2. Go on until no merge raises it, or a partition has one cluster.

    The agreements are those before, and after each merge. O(p² k³) time for the first step, O(p k³) for each.

    tables : contingency tables, (k_i, k_j), of the partitions i and j, all ordered pairs; they are changed
    """
    gains_of, p = GAINS[measure], 1 + max(i for i, _ in tables)
    clusters = [np.arange(len(tables[i, (i + 1) % p])) for i in range(p)]  # numbers of those that there still are
    changes = {pair: gains_of(table) for pair, table in tables.items()}
    pairs, merges, agreements = [*combinations(range(p), 2)], list[Merge](), list[float]()
    while True:
        check_stopped()
        agreements.append(float(np.mean([changes[pair][0] for pair in pairs])))
        gain, i, k, m = LEAST_GAIN, -1, -1, -1
        if min(map(len, clusters)) > 1:  # 1: clusters k and m of partition i
            for a in range(p):
                gains = np.sum([changes[a, j][1] for j in range(p) if j != a], axis=0) / len(pairs)
                for b, c in zip(*np.triu_indices(len(clusters[a]), 1), strict=True):
                    if gains[b, c] > gain + LEAST_GAIN:
                        gain, i, k, m = float(gains[b, c]), a, int(b), int(c)
        if i < 0:  # 2
            return merges, np.array(agreements)
        merges.append(Merge(i, int(clusters[i][k]), int(clusters[i][m]), gain))
        clusters[i] = np.delete(clusters[i], m)
        for j in range(p):
            if j != i:
                tables[i, j][k] += tables[i, j][m]
                tables[i, j] = np.delete(tables[i, j], m, axis=0)
                tables[j, i] = tables[i, j].T
                changes[i, j], changes[j, i] = gains_of(tables[i, j]), gains_of(tables[j, i])


def ari_gains(table: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """Adjusted Rand index of a contingency table, and (k, k) by how much a merge of two of its rows raises it."""
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    pairs = [(x * (x - 1) / 2).sum() for x in (table, rows, columns, rows.sum(keepdims=True))]

    def score(both: Any, first: Any) -> Any:
        mean, chance = (first + pairs[2]) / 2, first * pairs[2] / max(pairs[3], 1)
        known = mean > chance
        return np.where(known, (both - chance) / np.where(known, mean - chance, 1), 1.0)

    now = float(score(pairs[0], pairs[1]))
    return now, score(pairs[0] + table @ table.T, pairs[1] + np.outer(rows, rows)) - now


def nmi_gains(table: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """The same of the normalised mutual information, by the mean of the entropies."""
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    t, v, u, of_n = (_xlogx(x).sum() for x in (table, rows, columns, rows.sum(keepdims=True)))

    def score(both: Any, first: Any) -> Any:
        entropies = 2 * of_n - first - u
        known = entropies > LEAST_GAIN
        return np.where(known, 2 * (of_n + both - first - u) / np.where(known, entropies, 1), 1.0)

    more = np.stack([_xlogx(table + one).sum(axis=1) - _xlogx(table).sum(axis=1) - _xlogx(one).sum() for one in table])
    larger = _xlogx(rows[:, None] + rows) - _xlogx(rows)[:, None] - _xlogx(rows)
    now = float(score(t, v))
    return now, score(t + more, v + larger) - now


def _xlogx(x: NDArray[Any]) -> NDArray[np.float64]:
    return np.asarray(x * np.log(np.maximum(x, 1)))


GAINS = {"ari": ari_gains, "nmi": nmi_gains}


@dataclass(eq=False, repr=False)
class Dune(BaseEstimator):
    """Use it if partitions differ in resolution: it merges clusters as long as the mean agreement rises (Dune).

    Partitions of the same objects by different algorithms or settings often differ in how finely they divide. Each
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
        self.merges_, self.agreements_ = dune(tables, self.measure)
        number = [np.append(np.argsort(order), -1).astype(np.int32) for order in orders]
        self.labels_ = np.column_stack([number[j][labels[:, j]] for j in range(p)])
        for i, kept, merged, _ in self.merges_:
            self.labels_[self.labels_[:, i] == merged, i] = kept
        self.labels_ = np.column_stack([_without_gaps(column) for column in self.labels_.T])
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
