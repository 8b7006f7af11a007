"""JS-ALink (Ayad & Kamel 2008; 2010, Sec. 3.2): clusters of a soft partition merge by Jensen-Shannon divergence."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from ensemblage.base.threads import check_stopped, row_blocks, rows_per_call
from ensemblage.consensus._lifetime import cut, lifetimes, longest_lifetime, merges_of_scipy
from ensemblage.consensus.diagnostics import Dendrogram, Diagnostics, Lifetimes
from ensemblage.consensus.voting._aggregation import ROWS_AT_ONCE, AggregatedPartition, entropy, scale_of
from ensemblage.kernels._votes import sum_entropies
from ensemblage.labels.rows import Rows


def sum_of_entropies(rows: Rows, aggregate: AggregatedPartition, n_jobs: int | None = None) -> NDArray[np.float64]:
    """(k, k) sums over the objects: -u log u on the diagonal, (u + v) log(u + v) - u log u - v log v below it.

    O(n k²) logarithms for n objects; memory one (k, k) table per thread.
    """
    k, scale = aggregate.W.shape[1], scale_of(rows)

    def add(codes: Any, counts: Any, sums: Any) -> None:
        for few in row_blocks(len(codes), rows_per_call(2 * k * (k + 1), ROWS_AT_ONCE)):
            check_stopped()
            sum_entropies(aggregate.rows_of(codes[few]), counts[few], scale, sums)

    (sums,) = rows.codes.add(add, [(k, k)], reads=[rows.counts], n_jobs=n_jobs)
    own = np.diag(sums).copy()
    np.fill_diagonal(sums, 0)
    return (np.tril(sums - own[:, None] - own, -1) - np.diag(own)) / scale


def js_divergences(masses: NDArray[np.float64], entropies: NDArray[np.float64]) -> NDArray[np.float64]:
    """Generalised Jensen-Shannon divergences (nats) between the clusters of a soft partition U.

    Cluster l is the distribution p(x|l) = u_xl / S_l over the objects, with weight S_l = Σ_x u_xl.

    Parameters
    ----------
    masses : ndarray of shape (k,)
        S_l > 0.
    entropies : ndarray of shape (k, k)
        Below the diagonal Σ_x (u + v) log(u + v) - u log u - v log v for the two clusters; the rest is not read.

    Returns
    -------
    ndarray of shape (k, k)
        H(a p_l + b p_m) - a H(p_l) - b H(p_m) with a = S_l / (S_l + S_m), b = 1 - a.
    """
    shared = np.tril(entropies, -1)
    shared = shared + shared.T
    total = masses[:, None] + masses
    a = masses[:, None] / total
    part = a * np.log(a)
    divergences = np.maximum(-(part + part.T) - shared / total, 0)
    np.fill_diagonal(divergences, 0)
    return divergences


def js_alink(
    rows: Rows,
    aggregate: AggregatedPartition,
    masses: NDArray[np.float64],
    entropies: NDArray[np.float64],
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Average linkage of the divergences: a SciPy linkage matrix (k - 1, 4), empty for k = 1. O(k²)."""
    divergences = js_divergences(masses, entropies)
    if len(divergences) < 2:
        return np.empty((0, 4))
    return np.asarray(linkage(squareform(divergences, checks=False), "average"))


def bottleneck_linkage(
    rows: Rows,
    aggregate: AggregatedPartition,
    masses: NDArray[np.float64],
    entropies: NDArray[np.float64],
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Agglomerative information bottleneck (Slonim & Tishby): merge the two clusters that cost the least I(C; X).

    Returns a SciPy linkage matrix (k - 1, 4). The cost of a merge is (p(l) + p(m)) JS(l, m), the divergence between the
    merged distributions; a height is at least the one before. O(n k³) logarithms for n rows.

    ``entropies`` are those of `sum_of_entropies` of the clusters as they are before the first merge.
    """
    k = len(masses)
    merges = np.empty((k - 1, 4))
    groups, numbers, sizes = np.arange(k), np.arange(k), np.ones(k, dtype=np.intp)
    for step in range(k - 1):
        if step:
            entropies = sum_of_entropies(rows, aggregate.merge(groups), n_jobs)
        weights: NDArray[np.float64] = np.bincount(groups, weights=masses).astype(np.float64)
        costs = js_divergences(weights, entropies) * (weights[:, None] + weights) / masses.sum()
        costs[np.tril_indices(len(costs))] = np.inf
        a, b = divmod(int(np.argmin(costs)), len(costs))
        height = max(costs[a, b], merges[step - 1, 2] if step else 0.0)
        merges[step] = *sorted((numbers[a], numbers[b])), height, sizes[a] + sizes[b]
        numbers[a], sizes[a] = k + step, sizes[a] + sizes[b]
        numbers, sizes = np.delete(numbers, b), np.delete(sizes, b)
        groups = np.where(groups == b, a, groups - (groups > b))
    return merges


LINKAGES = {"average": js_alink, "aib": bottleneck_linkage}


class Extraction(NamedTuple):
    """What becomes of the k0 columns of an aggregated partition."""

    entropy: float
    """H(C) of the columns."""
    mutual_information: float
    """I(C; X) between them and the objects (Eq. 7)."""
    linkage_matrix: NDArray[np.float64]
    """(k0 - 1, 4)"""
    lifetimes: dict[int, float]
    groups: NDArray[np.int64]
    """(k0,) cluster of each column."""


def extract_clusters(
    rows: Rows,
    aggregate: AggregatedPartition,
    masses: NDArray[np.float64],
    method: str,
    include_singletons: bool,
    k: int | None,
    n_jobs: int | None = None,
) -> Extraction:
    """Merge the columns of Ū, of these ``masses``, to k clusters; None: the number with the longest lifetime."""
    entropies = sum_of_entropies(rows, aggregate, n_jobs)
    of_columns = entropy(masses)
    information = of_columns - float(np.trace(entropies) / masses.sum())
    matrix = LINKAGES[method](rows, aggregate, masses, entropies, n_jobs)
    lives = lifetimes(matrix[:, 2], include_singletons=include_singletons)
    groups = cut(merges_of_scipy(matrix), k or longest_lifetime(lives, len(masses)))
    return Extraction(of_columns, information, matrix, lives, groups)


def diagnostics_of_merges(voting: Any) -> tuple[Diagnostics, ...]:
    """Of a fitted `CumulativeVoting` or `BipartiteVoting`: the lifetimes, and the hierarchy of the columns."""
    found: list[Diagnostics] = []
    if voting.lifetimes_:
        found.append(Lifetimes(voting.lifetimes_, voting.n_clusters))
    if len(voting.linkage_matrix_):
        clusters, distance = voting.clusters_of_reference_.astype(np.int64), "Jensen–Shannon divergence"
        found.append(Dendrogram(voting.linkage_matrix_, np.empty(0), clusters, "cluster", voting.linkage, distance))
    return tuple(found)
