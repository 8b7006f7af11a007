"""How far two partitions are from each other, and element-centric similarity.

Dissimilarities come from the contingency table, as in R's clue. Element-centric similarity (Gates et al. 2019) is found
object by object, in closed form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from ensemblage.base.threads import check_stopped, parallel_map
from ensemblage.base.validation import check_choice, check_weights, weight_unit
from ensemblage.counting._contingency import all_pairs, sums_of_pairs, table_cells, tables_of_rows
from ensemblage.kernels._element_similarity import add_element_similarities
from ensemblage.labels.ensemble import Ensemble, as_ensemble
from ensemblage.metrics._agreement import information, summand

MOST_CELLS = 2**28
"""Of the contingency tables of all pairs: two gigabytes."""

Sums = NDArray[np.int64]


def maximum_overlap(table: NDArray[np.int64]) -> int:
    """t: most objects in the cells of clusters matched one to one."""
    return int(table[linear_sum_assignment(table, maximize=True)].sum())


def _transfer_distance(table: NDArray[np.int64]) -> float:
    """Objects to move from cluster to cluster until the partitions are equal."""
    return float(table.sum() - maximum_overlap(table))


def _gv1(table: NDArray[np.int64]) -> float:
    cost = table.sum(axis=1, keepdims=True) + table.sum(axis=0) - 2 * table
    return float(np.sqrt(cost[linear_sum_assignment(cost)].sum()))


def _lattice_distance(table: NDArray[np.int64]) -> float:
    """Merges and splits on the way over the join, whose clusters are the components of overlapping clusters."""
    height, width = table.shape
    rows, columns = np.nonzero(table)
    overlaps = csr_array((np.ones(len(rows)), (rows, columns + height)), shape=(height + width,) * 2)
    n_joined = int(connected_components(overlaps, directed=False)[0])
    return float(height + width - 2 * n_joined)


OF_TABLES: dict[str, Callable[[NDArray[np.int64]], float]] = {
    "euclidean": lambda table: float(np.sqrt(2 * _transfer_distance(table))),
    "manhattan": lambda table: 2 * _transfer_distance(table),
    "ba-a": _transfer_distance,
    "gv1": _gv1,
    "ba-c": _lattice_distance,
}
"""Of a table without empty rows or columns."""


def _disagreeing_pairs(sums: Sums) -> NDArray[np.float64]:
    """Pairs of objects that one of the partitions joins and the other parts."""
    cells, rows, columns, _ = sums
    return np.asarray((rows + columns - 2 * cells) / 2)


def _jaccard(sums: Sums) -> NDArray[np.float64]:
    cells, rows, columns, n = sums
    joined = (rows + columns - cells - n) / 2  # by one of them or both
    return np.asarray(_disagreeing_pairs(sums) / np.where(joined > 0, joined, 1))


OF_PAIRS: dict[str, Callable[[Sums], NDArray[np.float64]]] = {
    "comembership": lambda sums: np.sqrt(2 * _disagreeing_pairs(sums)),
    "symdiff": _disagreeing_pairs,
    "rand": lambda sums: _disagreeing_pairs(sums) / np.maximum(sums[3] * (sums[3] - 1) / 2, 1),
    "jaccard": _jaccard,
}
"""Of sums over squared counts."""


def _vi(first: Any, second: Any, shared: Any) -> Any:
    return first + second - 2 * shared


def _ba_e(first: Any, second: Any, shared: Any) -> Any:
    joint = first + second - shared
    return np.where(joint > 0, 1 - shared / np.where(joint > 0, joint, 1), 0.0)


OF_ENTROPIES: dict[str, Callable[[Any, Any, Any], Any]] = {"vi": _vi, "ba-e": _ba_e}
"""Of both entropies and the mutual information, in nats."""

DISTANCES = (*OF_TABLES, *OF_PAIRS, *OF_ENTROPIES)


def partition_distance(first: ArrayLike, second: ArrayLike, measure: str = "vi") -> float:
    """Use it for the distance between two partitions of the same objects.

    Parameters
    ----------
    first, second : array-like of shape (n_objects,)
        Labels; -1 and NaN are missing.
    measure : str, default "vi"
        Which dissimilarity, see `partition_distances`.

    Returns
    -------
    float
        0 for partitions that are equal but for the names of the labels; NaN if no object has both labels.

    Raises
    ------
    ValueError
        If the lengths differ, or ``measure`` is none of the names.

    See Also
    --------
    partition_distances : Of every pair of an ensemble's partitions, and what the measures are.

    Examples
    --------
    >>> from ensemblage.metrics import partition_distance
    >>> partition_distance([0, 0, 1, 1], [0, 0, 0, 1], "manhattan")  # one object to move
    2.0
    >>> round(partition_distance([0, 0, 1, 1], [0, 0, 0, 1]), 3)
    0.824
    """
    check_choice(measure, "measure of partition_distance", DISTANCES)
    return float(distance_matrix(Ensemble.from_partitions([first, second]), measure)[0, 1])


def partition_distances(
    labels: ArrayLike | Any, measure: str = "vi", *, n_jobs: int | None = None
) -> NDArray[np.float64]:
    """Use it for the distances between all partitions of an ensemble.

    Parameters
    ----------
    labels : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
        The ensemble. -1 and NaN mean missing.
    measure : str, default "vi"
        With the membership matrix M of each partition, of zeros and ones, padded with columns of zeros:

        - "euclidean": least Frobenius norm of M_a - M_b P over permutations P; √(2 (n - t)), where t objects are in
          the cells of clusters matched one to one so that they are most; "manhattan": its square, 2 (n - t); "ba-a":
          n - t, the objects to move;
        - "comembership": Frobenius norm of M_a M_aᵀ - M_b M_bᵀ; "symdiff": pairs of objects that exactly one partition
          joins, half its square; "rand": their share of all pairs, 1 - the Rand index; "jaccard": of the pairs that
          either joins;
        - "gv1": "euclidean" over matched columns only, as many as the partition with fewer clusters has;
        - "ba-c": k_a + k_b - 2 k of the join, the merges and splits that lead from one to the other;
        - "vi": variation of information H_a + H_b - 2 I in nats; "ba-e": 1 - I / H_ab.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.

    Returns
    -------
    ndarray of shape (n_partitions, n_partitions)
        Symmetric, 0 on the diagonal. Each pair is compared on the objects that both label; NaN where there is none.

    Raises
    ------
    ValueError
        If ``measure`` is none of the names, or the contingency tables of all pairs have more than 2²⁸ cells, for the
        measures that match or join clusters.

    Notes
    -----
    O(n p²) time for the contingency tables of p partitions; matching adds O(p² k³). Whole numbers are compared, so that
    copies of a partition under other names are exactly as far from everything.

    References
    ----------
    K. Hornik, "A CLUE for CLUster Ensembles", Journal of Statistical Software 14(12), 2005. M. Meilă, "Comparing
    clusterings: an information based distance", Journal of Multivariate Analysis 98, 2007 ("vi"). A. D. Gordon and M.
    Vichi, "Fuzzy partition models for fitting a set of partitions", Psychometrika 66, 2001 ("gv1").

    Examples
    --------
    >>> from ensemblage.metrics import partition_distances
    >>> partition_distances([[0, 0, 1], [0, 0, 1], [1, 0, 2], [1, 1, 2]], "symdiff")
    array([[0., 3., 0.],
           [3., 0., 3.],
           [0., 3., 0.]])
    """
    check_choice(measure, "measure of partition_distances", DISTANCES)
    return distance_matrix(as_ensemble(labels), measure, n_jobs)


def distance_matrix(ensemble: Ensemble, measure: str, n_jobs: int | None = None) -> NDArray[np.float64]:
    """`partition_distances` of an ensemble."""
    p = ensemble.shape[1]
    codes, counts, _ = ensemble.distinct
    distances, (first, second) = np.zeros((p, p)), np.triu_indices(p, 1)
    if measure in OF_TABLES:
        other = ", or take a measure that counts pairs, as 'vi' or 'symdiff'"
        check_cells(table_cells(ensemble.n_clusters), "measures that match or join clusters", other)
        tables = tables_of_rows(codes, counts, ensemble.n_clusters, n_jobs)
        of_pairs = [_distance_of_table(tables.table(i, j), OF_TABLES[measure]) for i, j in all_pairs(p).tolist()]
        distances[first, second] = of_pairs
    else:
        f = summand("ari" if measure in OF_PAIRS else "nmi", len(ensemble))
        sums = sums_of_pairs(codes, counts, ensemble.n_clusters, f, n_jobs)[:, first, second]
        shared = sums[3] > 0
        known = sums[:, shared]
        of_known = OF_PAIRS[measure](known) if measure in OF_PAIRS else OF_ENTROPIES[measure](*information(known, f))
        distances[first, second] = np.nan
        distances[first[shared], second[shared]] = of_known
    return distances + distances.T


def _distance_of_table(table: NDArray[np.int64], distance: Callable[[NDArray[np.int64]], float]) -> float:
    """Of the objects that both partitions label: the clusters that have some of them."""
    table = table[:-1, :-1]
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    return distance(table) if table.size else np.nan


def check_cells(cells: int, user: str, other: str) -> None:
    """Refuse contingency tables that are too many; ``other`` ends the advice."""
    if cells > MOST_CELLS:
        raise ValueError(
            f"The contingency tables of all pairs must have at most {MOST_CELLS:,} cells for {user}. Got {cells:,}. "
            f"Leave out the partitions with the most clusters{other}."
        )


BLOCKS = 16
"""Sums that are added in order, whatever the number of threads."""


def element_similarity(first: ArrayLike, second: ArrayLike) -> NDArray[np.float64]:
    """Use it to see where two partitions differ: agreement of the clusters of each object (element-centric).

    Parameters
    ----------
    first, second : array-like of shape (n_objects,)
        Labels; -1 and NaN are missing.

    Returns
    -------
    ndarray of shape (n_objects,)
        For each object the share that its two clusters have in common: objects in both over those in the larger one.
        Above 0, at most 1; 1 everywhere if the partitions are equal; NaN where a label is missing. The mean is the
        similarity of the partitions. It is not corrected for chance.

    Raises
    ------
    ValueError
        If the lengths differ.

    See Also
    --------
    element_consistency : Of all pairs of the partitions of an ensemble.

    Notes
    -----
    O(n) time and memory. Of partitions, the personalised PageRank of the paper has this closed form for any damping.
    Only objects that both label count.

    References
    ----------
    A. J. Gates, I. B. Wood, W. P. Hetrick and Y.-Y. Ahn, "Element-centric clustering comparison unifies overlaps and
    hierarchy", Scientific Reports 9, 8574, 2019.

    Examples
    --------
    >>> from ensemblage.metrics import element_similarity
    >>> element_similarity([0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 1]).round(3)
    array([0.75 , 0.75 , 0.75 , 0.25 , 0.667, 0.667])
    """
    sums, known = _similarities(Ensemble.from_partitions([first, second]), np.ones(2), 1)
    return _ratio(sums, known)


def element_consistency(
    labels: ArrayLike | Any, *, weights: ArrayLike | None = None, n_jobs: int | None = None
) -> NDArray[np.float64]:
    """Use it to find unstable objects: agreement of their clusters over all pairs of partitions (element-centric).

    Parameters
    ----------
    labels : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
        The ensemble. -1 and NaN mean missing.
    weights : array-like of shape (n_partitions,), optional
        How often each partition counts: whole numbers ≥ 0, two or more in all. Default: once.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.

    Returns
    -------
    ndarray of shape (n_objects,)
        Mean `element_similarity` over the pairs of partitions that both label the object; at most 1, NaN where there
        is no such pair.

    Raises
    ------
    ValueError
        If there are fewer than two partitions, or the weights are not such numbers.

    See Also
    --------
    confidence : Confidence of each object of a partition.

    Notes
    -----
    O(m p²) time for m distinct label rows, 8 m bytes for each of 16 blocks of pairs.

    The inconsistency of scICE is p / (1 + (p - 1) c) for p partitions and the mean consistency c: 1 if all are equal.

    References
    ----------
    A. J. Gates, I. B. Wood, W. P. Hetrick and Y.-Y. Ahn, "Element-centric clustering comparison unifies overlaps and
    hierarchy", Scientific Reports 9, 8574, 2019. A. Munteanu, A. Shahsavari and others: ``element_consistency`` of
    ClustAssess for R. H. Kim, I. Park, J.-E. Park, J. K. Kim, M. Seo and J. K. Kim, "scICE: enhancing clustering
    reliability and efficiency of scRNA-seq data with multi-cluster label consistency evaluation", Nature Communications
    16, 2025.

    Examples
    --------
    >>> from ensemblage.metrics import element_consistency
    >>> element_consistency([[0, 0, 1], [0, 0, 1], [1, 1, 0], [1, 0, 0]]).round(3)
    array([0.778, 0.778, 0.667, 0.556])
    """
    ensemble = as_ensemble(labels)
    copies = _check_copies(weights, ensemble.shape[1])
    sums, known = _similarities(ensemble, copies, n_jobs)
    codes, _, inverse = ensemble.distinct
    labelled = (codes[:] < ensemble.n_clusters) @ (copies * (copies - 1) / 2)
    return _ratio(sums + labelled[inverse], known + labelled[inverse])


def inconsistency(ensemble: Ensemble, n_jobs: int | None = None) -> float:
    """That of scICE: 1 / the mean similarity of all ordered pairs of partitions, each with itself included.

    1 if all are equal. With missing labels, the mean consistency of the objects that two partitions label stands for
    the pairs of different partitions; 1 where there are no such objects.
    """
    p, consistency = ensemble.shape[1], element_consistency(ensemble, n_jobs=n_jobs)
    known = ~np.isnan(consistency)
    mean = float(consistency[known].mean()) if known.any() else 1.0
    return p / (1 + (p - 1) * mean)


def _check_copies(weights: Any, p: int) -> NDArray[np.float64]:
    """How often each partition counts."""
    copies = check_weights(weights, p, "element_consistency") * weight_unit(weights)
    if (copies != np.rint(copies)).any() or copies.sum() < 2:
        raise ValueError(
            "weights of element_consistency must be whole numbers ≥ 0 with a sum of at least 2. Got "
            f"{copies.sum():g} as their sum. Give the count of each partition."
        )
    return copies


def _similarities(
    ensemble: Ensemble, weights: NDArray[np.float64], n_jobs: int | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(n,) weighted sum over the pairs of partitions of the similarities of each object, and of the weights."""
    codes, counts, inverse = ensemble.distinct
    columns, n_clusters = np.ascontiguousarray(codes[:].T), np.asarray(ensemble.n_clusters, dtype=np.int64)
    p, (largest, second) = len(columns), np.sort(np.append(n_clusters, 0))[[-1, -2]] + 1

    def of_block(block: int) -> NDArray[np.float64]:
        found = np.zeros((2, columns.shape[1]))
        table = np.empty(largest * second + largest + second, dtype=np.int64)
        for a in range(block, p, BLOCKS):
            check_stopped()
            add_element_similarities(columns, counts, n_clusters, weights, a, table, *found)
        return found

    sums, known = np.zeros((2, columns.shape[1]))
    for found in parallel_map(of_block, range(min(p, BLOCKS)), n_jobs):
        sums += found[0]
        known += found[1]
    return sums[inverse], known[inverse]


def _ratio(sums: NDArray[np.float64], known: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(known > 0, sums / np.where(known > 0, known, 1), np.nan)
