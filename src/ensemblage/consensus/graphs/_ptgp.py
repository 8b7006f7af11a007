"""PTGP: a graph of label rows and clusters, joined by probability trajectories, cut (Huang, Lai & Wang 2016).

Steps 1 to 3 are those of PTA (`hierarchies/_pta.py`): the graph W of the elite neighbours of m label rows, and the
cosines of the trajectories of its random walks. PTA makes a hierarchy of them.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ensemblage.base.memory import MAX_BYTES
from ensemblage.base.random import task_seeds
from ensemblage.base.threads import one_native_thread, parallel_map, row_blocks
from ensemblage.base.validation import Constraints
from ensemblage.consensus._capabilities import COMPARES_ROWS, Capabilities
from ensemblage.consensus.diagnostics import Cut, Diagnostics
from ensemblage.consensus.graphs._hbgf import (
    LEAST,
    TransferCut,
    best_kmeans,
    coordinates_of_clusters,
    normalized_association,
)
from ensemblage.consensus.graphs._partition_graph import GRAPH_CONSTRAINTS, check_enough_labels, clusters_of_parts
from ensemblage.consensus.hierarchies._pta import WIDTH, EliteGraph, TrajectoryConsensus, step_of
from ensemblage.kernels._vectors import LANES
from ensemblage.labels.ensemble import Ensemble
from ensemblage.labels.rows import Rows


def ptgp(
    W: EliteGraph,
    H: csr_array,
    weights: NDArray[np.float64],
    T: int,
    k: int,
    random: np.random.RandomState,
    n_jobs: int | None = None,
) -> TransferCut:
    """Parts of m label rows with the graph W of their elite neighbours, by walks of T steps.

    4. A row is joined to each cluster by its mean similarity to the rows of that cluster: B, (m, d).
    5. This bipartite graph is cut by the transfer cut, each row counting once (Li, Wu & Chang 2012, `transfer_cut`).

    H : (m, d), the binary matrix of rows and clusters
    weights : (d,) of the partition of each cluster: with edges twice as heavy it is two with these edges
    """
    B = cluster_similarities(W, H, T, n_jobs)  # 4
    B *= weights
    ones = np.ones(len(B))
    with one_native_thread():  # 5
        D_x, D_y = B.sum(axis=1), B.T @ ones
        to_clusters = 1 / np.where(D_x > 0, D_x, LEAST)
        values, Y = coordinates_of_clusters(B.T @ (to_clusters[:, None] * B), D_y, k, random)
        U = (B @ Y) * to_clusters[:, None]
        points = np.asarray(U / (np.sqrt((U**2).sum(axis=1)) + LEAST)[:, None], dtype=np.float32)
        parts = best_kmeans(points, np.ones(len(B), dtype=np.int64), k, random, n_jobs).clusters
    members = csr_array((ones, (parts, np.arange(len(B)))), shape=(k, len(B)))
    return TransferCut(parts, values, normalized_association(members @ B, D_y))


def cluster_similarities(W: EliteGraph, H: csr_array, T: int, n_jobs: int | None) -> NDArray[np.float64]:
    """B, (m, d): mean cosine of a row's trajectory with those of the rows of each cluster, without all pairs of rows.

    A row without neighbours is like itself alone. With Y = G_ii^-1/2 times H, its columns divided by their sums, B is
    G_ii^-1/2 times the sum over t of P^t (P^t)ᵀ Y. O(m nnz T) time for G_ii, O(d nnz T) for the rest.
    """
    m, forth, back = H.shape[0], step_of(W), step_of(W, back=True)
    H = (H / H.sum(axis=0)).tocsc()
    squares = np.zeros(m)

    def square(block: slice) -> None:
        points = np.zeros((m, block.stop - block.start))
        points[np.arange(block.start, block.stop), np.arange(points.shape[1])] = 1
        for _ in range(T):
            points = back(points)
            squares[block] += np.einsum("ij,ij->j", points, points)

    parallel_map(square, row_blocks(m, WIDTH), n_jobs)
    scale = np.sqrt(np.divide(1.0, squares, out=np.zeros(m), where=squares > 0))
    B = np.empty(H.shape)

    def fill(block: slice) -> None:
        share = H[:, block].toarray()
        steps = [scale[:, None] * share]
        for _ in range(T):
            steps.append(back(steps[-1]))
        points = np.zeros_like(share)
        while len(steps) > 1:
            points = forth(points + steps.pop())
        B[:, block] = np.where(scale[:, None] > 0, scale[:, None] * points, share)

    parallel_map(fill, row_blocks(H.shape[1], WIDTH), n_jobs)
    return B


@dataclass(eq=False, repr=False)
class PTGP(TrajectoryConsensus):
    """Use it as `PTA`, with k given: a cut of the graph of label rows and clusters, weighted by random walks.

    Parameters
    ----------
    n_clusters : int
        Number of clusters of the consensus, at most the number of distinct label rows and of clusters in the ensemble.
    n_neighbors : int, optional
        How many of a row's largest co-associations count. These K are its elite neighbours, and so are all that tie
        with the last of them. Default: min(20, ⌊√m / 2⌋) for m distinct label rows, at least 2; the paper advises 5 to
        20.
    n_steps : int, optional
        Steps of a random walk, T. Default: as many.
    max_bytes : int or str, default 2 GiB
        Most memory that the fit takes at its peak beyond the labels, in bytes or as text such as "4GB"; a fit that
        would take more is refused.
    weights : array-like of shape (n_partitions,) or "agreement", optional
        Weight of each partition; 0 leaves it out, 2 is the partition twice. Default: one each. "agreement":
        `metrics.agreement_weights`.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.
    random_state : int, RandomState, Generator or None
        Seed of the k-means.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,), int32
        Clusters numbered by decreasing size; -1 for an object that no partition labels.
    confidence_ : ndarray of shape (n_objects,)
        Confidence: for / (for + against), over the partitions that join the object with members of its own cluster or
        of another one but not of both; see `metrics.confidence`. 1: no partition supports another cluster. ½: two
        clusters have equal support. 1 for all objects if there is one cluster. Not a probability of being correct.
    runner_up_ : ndarray of shape (n_objects,), int32
        The other cluster with the most support; -1 if there is none.
    cohesion_ : ndarray of shape (n_objects,)
        Mean co-association of the object with the other members of its cluster, from 0 to 1: small if the
        partitions are fine, even if they agree.
    n_clusters_ : int
    n_neighbors_, n_steps_ : int
        The numbers that were used.
    eigenvalues_ : ndarray of shape (n_clusters,)
        Leading eigenvalues of the walk from clusters to rows and back; the first is 1.
    normalized_association_ : float
        Sum over the clusters of the share of their weight in the graph that stays among their own label rows, by way of
        the clusters of the ensemble; from 0 to ``n_clusters_``.
    n_features_in_, feature_names_in_
        As in scikit-learn: partitions and their names.

    Raises
    ------
    ValueError
        If ``n_clusters`` is missing or exceeds the number of distinct label rows or of clusters, a parameter is out of
        its range, or the fit would take more than ``max_bytes``.

    Notes
    -----
    Objects with equal labels are one vertex, the paper's microcluster. Two of them are joined, by their co-association,
    if either is an elite neighbour of the other; a random walk goes to a neighbour in proportion to that times its
    objects. Two are as similar as the cosine of their trajectories, the distributions after 1, 2, …, T steps, one after
    the other. One that shares no label with any other is similar to itself alone. With missing labels the co-
    association is that of the partitions that label both. Ties are the rule: of p partitions the co-association has p +
    1 values, so that K neighbours may be thousands.

    A label row is joined to a cluster by its mean similarity to the label rows of that cluster; the graph is cut by the
    transfer cut, each row counting once. The similarities of all pairs are never made.

    O(m² p + (m + d) e T + d³) time for m distinct label rows with e elite neighbours in all, T steps and d clusters;
    16 m d + 36 e bytes.

    References
    ----------
    D. Huang, J.-H. Lai, C.-D. Wang, "Robust ensemble clustering using probability trajectories", IEEE TKDE 28(5), 2016.
    Z. Li, X.-M. Wu, S.-F. Chang, "Segmentation using superpixels: a bipartite graph partitioning approach", CVPR 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from ensemblage.consensus import PTGP
    >>> members = ["1111222332", "1112222333", "1122233444", "1111122221"]
    >>> labels = np.array([[int(label) for label in member] for member in members]).T
    >>> PTGP(3, n_neighbors=2, n_steps=3, random_state=0).fit(labels).labels_
    array([0, 0, 0, 0, 1, 2, 2, 1, 1, 2], dtype=int32)
    """

    _parameter_constraints: ClassVar[Constraints] = GRAPH_CONSTRAINTS
    _capabilities: ClassVar[Capabilities] = Capabilities(in_memory=COMPARES_ROWS, compares_pairs=True)
    _bytes_per_entry: ClassVar[int] = 36

    n_clusters: int | None = None
    _: KW_ONLY
    n_neighbors: int | None = None
    n_steps: int | None = None
    max_bytes: int | str = MAX_BYTES
    weights: Any = None
    n_jobs: int | None = None
    random_state: Any = None

    eigenvalues_: NDArray[np.float64] = field(init=False)
    normalized_association_: float = field(init=False)

    def _fit(self, rows: Rows) -> NDArray[Any]:
        k = self._check_n_clusters(rows)
        check_enough_labels(self, rows, k)
        W, weights = self._elite_graph(rows), np.repeat(rows.weights, rows.n_clusters)
        (seed,) = task_seeds(self.random_state, 1).tolist()
        random = np.random.RandomState(seed)
        found = ptgp(W, rows.binary_matrix(), weights, self.n_steps_, k, random, self.n_jobs)
        self.eigenvalues_, self.normalized_association_ = found.values, found.association
        return clusters_of_parts(found.parts, k)

    def _diagnostics(self, ensemble: Ensemble, objects: NDArray[np.intp]) -> tuple[Diagnostics, ...]:
        return (Cut("normalized association", self.normalized_association_, float(self.n_clusters_)),)

    def _bytes_of_pairs(self, m: int, d: int, n_threads: int) -> int:
        k = int(self.n_clusters or 0)
        width = min(WIDTH, d + -d % LANES)
        walks = 8 * width * m * (self._count_steps(m) + 5) * n_threads
        return 8 * m * d + max(walks, 8 * m * d + 40 * d * d + 20 * m * k)
