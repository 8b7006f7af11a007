"""HBGF: objects and clusters as the two sides of one graph (Fern & Brodley 2004), cut by one of three partitioners.

METIS and the singular vectors (`hbgf`) are those of the paper. The transfer cut (`transfer_cut`, Li, Wu & Chang 2012)
makes it the consensus of U-SENC (Huang et al. 2020, Sec. 4, Eqs. 15-19) and, with ECI as weights of the clusters, LWGP
(Huang, Wang & Lai 2018, Eqs. 5-8). The other half of U-SENC, many partitions by U-SPEC, is `generation/_uspec.py`; LWEA
makes a hierarchy with the weights of LWGP. LCE (`_lce.py`) and PTGP (`_ptgp.py`) cut graphs with more edges so.

H, (m, d), is the binary matrix of m label rows and of the d clusters of p partitions. It is made for METIS alone: what
the other two need of it are sums over the labels of a row, and the contingency tables H' D H (`label_products`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_array, csr_array, diags_array
from scipy.sparse.linalg import LinearOperator
from sklearn.cluster import kmeans_plusplus

from ensemblage.base.random import task_seeds
from ensemblage.base.threads import one_native_thread
from ensemblage.base.validation import Constraints, Flag, Words, format_value
from ensemblage.consensus._base import BaseConsensus
from ensemblage.consensus._capabilities import Capabilities
from ensemblage.consensus.diagnostics import Cut, Diagnostics
from ensemblage.consensus.graphs._partition_graph import (
    CUTS_OBJECTS,
    GRAPH_CONSTRAINTS,
    METIS_CONSTRAINTS,
    Spectrum,
    check_enough_labels,
    clusters_of_parts,
    joins_equal_rows,
    leading_eigenvectors,
    metis,
    orthogonal_rows,
    vertices_of,
)
from ensemblage.consensus.kmeans._label_kmeans import sample_counts
from ensemblage.counting._contingency import contingency_tables
from ensemblage.counting._points import lloyd
from ensemblage.labels.blocks import LabelRows, MembershipRows
from ensemblage.labels.counts import (
    binary_matrix,
    count_labels,
    embed,
    label_sizes,
    places_of_labels,
    shared_masses,
    sums_of_labels,
)
from ensemblage.labels.ensemble import Ensemble
from ensemblage.labels.rows import Rows
from ensemblage.metrics._cluster_weights import CLUSTER_WEIGHTS, local_weights

SMALLEST = 1e-10
"""Squared singular values below it, relative to the largest, are 0."""
LEAST = 1e-10
"""What a sum of no weights is taken for in the transfer cut, and what is added to the length of a point."""
MOST_DENSE = 3_000
"""Clusters up to which their d x d matrix is made."""
MOST_STEPS = 100
"""Of k-means."""
STARTS, STARTS_OF_FEW, FEW = 10, 100, 1_000
"""Of k-means, and of few rows, where they cost nothing; the published three often end in the second-best answer."""
ROWS_OF_STARTS = 2**13
"""Points that the starts run on, a sample if there are more; the best of them goes on with all."""
ROWS_OF_CLUSTER = 50
"""Of them at least."""


# ---- The cuts of the bipartite graph ----


def hbgf(
    codes: LabelRows,
    counts: NDArray[np.int64],
    offsets: NDArray[np.int64],
    W: NDArray[np.float64],
    k: int,
    random: np.random.RandomState,
    n_jobs: int | None = None,
) -> NDArray[np.int64]:
    """(m,) parts of the rows: k-means of rows and clusters as points on the sphere, from nearly orthogonal seeds.

    ``W``, (d,), are the weights of the clusters as columns of H. With D1 the sums of the weights in a row of H and D2
    those in a column, M = D1^-1/2 H W D2^-1/2 over the objects (Fern & Brodley 2004: the normalised cut of the
    bipartite graph). Its right singular vectors V, of the clusters, are eigenvectors of M' M. Its left ones, of the
    objects, are M V / σ, a sum over the labels of an object. M M' is the normalised hypergraph of Zhou et al. 2006.

    codes : (m, p)
    counts : (m,) objects of each row
    offsets : (p + 1,) first label of each partition, with one for missing
    """
    labels = places_of_labels(offsets)
    with one_native_thread():
        # M' M and its leading eigenvectors.
        of_labels = np.zeros(offsets[-1])
        of_labels[labels] = W
        D1 = sums_of_labels(codes, of_labels, offsets)
        sizes = label_sizes(codes, counts, offsets, n_jobs)[labels]
        scale = np.sqrt(W / sizes)  # W D2^-1/2, where D2 is W times the sizes
        MM = label_products(codes, offsets, counts / np.where(D1 > 0, D1, 1))
        squares, V = scaled_eigenvectors(MM, scale, k, random)
        used = squares > SMALLEST * squares.max()
        V, sigma = V[:, used], np.sqrt(squares[used])
        # Points of rows and clusters, of length one.
        table = np.zeros((offsets[-1], V.shape[1]))
        table[labels] = scale[:, None] * V / sigma
        lengths = np.sqrt((V**2).sum(axis=1))
        of_clusters = V / np.where(lengths > 0, lengths, 1)[:, None]
        points = np.empty((len(codes), V.shape[1]), dtype=np.float32)
        embed(codes, offsets, table, points, 0.0, n_jobs)
        points = np.concatenate([points, of_clusters.astype(np.float32)])
        counts = np.concatenate([counts, np.ones(len(of_clusters), dtype=np.int64)])
        # K-means of both.
        seeds = orthogonal_rows(points, counts, k, random)
        return kmeans_of_points(points, counts, seeds, n_jobs).clusters[: len(codes)]


class TransferCut(NamedTuple):
    """What the transfer cut found."""

    parts: NDArray[np.int64]
    """(m,) part of each row; some may be empty."""
    values: NDArray[np.float64]
    """(k,) leading eigenvalues, from the largest, which is 1."""
    association: float
    """Normalised association of the parts in the graph of the objects that the clusters make, B D_y^-1 B': k at most,
    and at most the sum of the eigenvalues."""


def transfer_cut(
    codes: LabelRows,
    counts: NDArray[np.int64],
    offsets: NDArray[np.int64],
    S: csr_array,
    k: int,
    random: np.random.RandomState,
    n_jobs: int | None = None,
) -> TransferCut:
    """Cut of the bipartite graph with the weights B = H S by way of the clusters alone (Li, Wu & Chang 2012).

    B ≥ 0 holds the weight of each edge, objects by clusters. With D_x the sums of its rows and D_y those of its
    columns, the leading eigenvectors of the walk from clusters to objects and back, D_y^-1/2 B' D_x^-1 B D_y^-1/2, have
    the length of the clusters; D_x^-1 B carries them over to the objects, where k-means of the directions finds the
    parts. As the authors' code does, and not their text, no eigenvector is divided by the root of its eigenvalue.

    Methods differ in S alone, (d, d): 1 on the diagonal in U-SENC, ECI in LWGP, and links of the clusters in LCE. W is
    S' (H' D_x^-1 H) S, and H' D_x^-1 H the contingency tables of the objects weighted by 1 / D_x. Beyond the points,
    (m, k) in float32, nothing is as long as the rows: O(m p² + d³) time. The other arguments are as of `hbgf`.
    """
    labels = places_of_labels(offsets)
    with one_native_thread():
        # W = B' D_x^-1 B and its leading eigenvectors.
        of_labels = np.zeros(offsets[-1])
        of_labels[labels] = S.sum(axis=1)
        D_x = sums_of_labels(codes, of_labels, offsets)
        D_y = np.asarray(S.T @ label_sizes(codes, counts, offsets, n_jobs)[labels].astype(np.float64))
        W = label_products(codes, offsets, counts / np.where(D_x > 0, D_x, LEAST), S)
        values, Y = coordinates_of_clusters(W, D_y, k, random)
        # Directions of D_x^-1 B Y, and their k-means.
        table = np.zeros((offsets[-1], Y.shape[1]))
        table[labels] = S @ Y
        points = np.empty((len(codes), Y.shape[1]), dtype=np.float32)
        embed(codes, offsets, table, points, LEAST, n_jobs)
        parts = best_kmeans(points, counts, k, random, n_jobs).clusters
    edges = count_labels(codes, parts, counts, offsets, k, 1)[:, labels] @ S
    return TransferCut(parts, values, normalized_association(edges, D_y))


def coordinates_of_clusters(
    W: Any, D_y: NDArray[np.float64], k: int, random: np.random.RandomState
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Leading eigenvalues of D_y^-1/2 W D_y^-1/2, (k,), and what their eigenvectors say of each cluster, (d, k).

    An eigenvector v says D_y^-1/2 v of each cluster: the constant one is 1 everywhere. A cluster of size 0 has no
    coordinates. There are no more eigenvectors than clusters of other sizes.
    """
    scale = np.sqrt(np.divide(1.0, D_y, out=np.zeros_like(D_y), where=D_y > 0))
    values, V = scaled_eigenvectors(W, scale, min(k, int(np.count_nonzero(D_y))), random)
    return values, np.sqrt(D_y.sum()) * scale[:, None] * V


def normalized_association(edges: NDArray[np.float64], D_y: NDArray[np.float64]) -> float:
    """The share of the weight of each part that stays in it, summed; ``edges``, (k, d), are those to the clusters."""
    within = np.divide(edges**2, D_y, out=np.zeros_like(edges), where=D_y > 0).sum(axis=1)
    volumes = edges.sum(axis=1)
    return float(np.divide(within, volumes, out=np.zeros_like(within), where=volumes > 0).sum())


# ---- Their steps ----


def label_products(
    codes: LabelRows, offsets: NDArray[np.int64], share: NDArray[np.float64], S: csr_array | None = None
) -> Any:
    """P = H' diag(share) H of the labels, (d, d), or S' P S: an array, or an operator where that would be large."""
    k = np.diff(offsets) - 1
    starts = np.concatenate([[0], np.cumsum(k)])
    d = int(starts[-1])
    if isinstance(codes, MembershipRows):
        labels = places_of_labels(offsets)
        P = shared_masses(codes, share)[np.ix_(labels, labels)]
    elif d > MOST_DENSE:
        H = binary_matrix(codes[:], k, np.sqrt(share)[:, None])
        if S is None:
            return LinearOperator((d, d), lambda x: H.T @ (H @ x.ravel()))
        return LinearOperator((d, d), lambda x: S.T @ (H.T @ (H @ (S @ x.ravel()))))
    else:
        tables, P = contingency_tables(np.ascontiguousarray(codes[:].T), share, k, 1), np.zeros((d, d))
        for j, column in enumerate(codes[:].T):
            block = slice(starts[j], starts[j + 1])
            P[block, block] = np.diag(np.bincount(column, weights=share, minlength=k[j])[: k[j]])
            for i in range(j):
                across = tables.table(i, j)[:-1, :-1]
                P[starts[i] : starts[i + 1], block] = across
                P[block, starts[i] : starts[i + 1]] = across.T
    return P if S is None else S.T @ (P @ S)


def scaled_eigenvectors(P: Any, scale: NDArray[np.float64], k: int, random: np.random.RandomState) -> Spectrum:
    """Up to k leading eigenvectors of diag(scale) P diag(scale), where P is as of `label_products`."""
    if isinstance(P, LinearOperator):
        scaled: Any = LinearOperator(P.shape, lambda x: scale * (P @ (scale * x.ravel())))
    else:
        scaled = P * np.outer(scale, scale)
    return leading_eigenvectors(scaled, min(k, len(scale)), random)


class Clustered(NamedTuple):
    """What k-means makes of m points of dimension q."""

    clusters: NDArray[np.int64]
    """(m,) nearest centre; some may have no point."""
    centres: NDArray[np.float32]
    """(k, q)"""


def kmeans_of_points(
    points: NDArray[np.float32], counts: NDArray[np.int64], seeds: NDArray[np.float32], n_jobs: int | None = None
) -> Clustered:
    """Lloyd's iterations until no point moves; an empty cluster stays empty."""
    clusters = np.full(len(points), -1)
    centres, _ = lloyd(points.__getitem__, counts, clusters, seeds.astype(np.float32), MOST_STEPS, n_jobs)
    return Clustered(clusters, centres)


def best_kmeans(
    points: NDArray[np.float32],
    counts: NDArray[np.int64],
    k: int,
    random: np.random.RandomState,
    n_jobs: int | None = None,
) -> Clustered:
    """K-means from the start, of several of k-means++, with the least inertia, the first on ties; k is at most m."""
    size = max(ROWS_OF_STARTS, ROWS_OF_CLUSTER * k)
    if len(points) > size:
        some, share = sample_counts(counts, size, random)
    else:
        some = np.flatnonzero(counts)
        share = counts[some]
    sample = points[some]
    least, best = np.inf, np.empty((0, points.shape[1]), dtype=np.float32)
    for _ in range(STARTS_OF_FEW if len(points) <= FEW else STARTS):
        seeds, _ = kmeans_plusplus(sample, k, sample_weight=share, random_state=random)
        clusters, centres = kmeans_of_points(sample, share, seeds, n_jobs)
        inertia = float(share @ ((sample.astype(np.float64) - centres[clusters]) ** 2).sum(axis=1))
        if inertia < least:
            least, best = inertia, centres
    return kmeans_of_points(points, counts, best, n_jobs)


def bipartite_graph(H: csr_array) -> csr_array:
    """W = [[0, H], [Hᵀ, 0]] (Fern & Brodley 2004) of the m rows and d clusters."""
    return csr_array(block_array([[None, H], [H.T, None]]))


# ---- The estimator ----


@dataclass(eq=False, repr=False)
class HBGF(BaseConsensus):
    """Use it with k given, for many objects and any members: a cut of the bipartite graph of objects and clusters.

    Parameters
    ----------
    n_clusters : int
        Number of clusters of the consensus, at most the number of distinct label rows and of clusters in the ensemble.
    partitioner : {"spectral", "metis", "transfer"}, default "spectral"
        The graph partitioner. "metis" makes parts of like size; "spectral" takes the leading singular vectors
        of the object-cluster matrix, then k-means of objects and clusters from nearly orthogonal seeds, as in the
        paper. "transfer" is the transfer cut of LWGP and U-SENC: k-means of the objects alone, the best of ten starts,
        on singular vectors that are not divided by their singular values.
    recursive : bool, default True
        Only for METIS: whether it bisects again and again, or makes all parts at once. The default is what was better
        on the real ensembles tried: True for objects as vertices (CSPA, HBGF), False for clusters weighted by their
        sizes (MCLA).
    imbalance : float, optional
        Share by which a part may exceed the mean. Only for METIS. Default: METIS' own, 0.03 (0.001 if recursive).
    distinct : bool, default True
        Only for METIS: whether objects with equal labels stay together, as one vertex of that weight. False is the
        paper's graph; the cut may then part them.
    cluster_weights : {"eci"}, float or list of array-like, optional
        Weight of each cluster: "eci" or a number θ > 0 is that of `metrics.cluster_weights`, with θ = .4 or that
        number; a list has for each partition the numbers, from 0 to 1, of its clusters in the order of their labels.
        Default: 1.
    weights : array-like of shape (n_partitions,) or "agreement", optional
        Weight of each partition; 0 leaves it out. Default: one each. "agreement": `metrics.agreement_weights`.
        It is that of its edges. "transfer" takes 2 for the partition twice. The others do not: to them a cluster is one
        point or vertex, whatever its weight.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.
    random_state : int, RandomState, Generator or None
        Seed of the k-means or of METIS.

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
    cluster_weights_ : list of ndarray of shape (n_clusters_of_partition,)
        The weights of each partition's clusters, none for a partition of weight 0. Only with ``cluster_weights``.
    normalized_association_ : float
        Only with "transfer": sum over the clusters of the share of their weight in the graph that stays among their own
        objects, by way of the clusters of the ensemble; from 0 to ``n_clusters_``.
    n_features_in_, feature_names_in_
        As in scikit-learn: partitions and their names.

    Raises
    ------
    ValueError
        If ``n_clusters`` is missing or exceeds the number of distinct label rows or of clusters, or a parameter is out
        of its range.
    ImportError
        If METIS is asked for and pymetis is not there.

    Notes
    -----
    "spectral": O(p² m + d² k + m p k + m k² t) time for m distinct label rows, d = Σ k_i clusters and t steps of
    k-means; 4 m k bytes for the points and 8 d² for the products of the clusters' columns (d ≤ 3000; above, the matrix
    is kept sparse, 24 m p bytes). On distinct rows it is exact. With missing labels, objects have unequal degrees, by
    which their rows are divided.

    "metis": METIS and its copies of the m p edges take about 4 kB per row and longer than linear time: 400 MB and some
    seconds for m = 10⁵ and p = 20, 4 GB and minutes for 10⁶. It copes badly with the few vertices of very many edges
    that clusters of large ensembles are.

    "transfer": the same, but d³ where d ≤ 3000 and k-means starts on 8,192 points at most.

    As many clusters as vertices of objects are these. Copies of all objects change "spectral" and "metis", to which a
    cluster stays one point or vertex beside more objects. Other names of the labels are as another seed.

    References
    ----------
    X. Z. Fern, C. E. Brodley, "Solving cluster ensemble problems by bipartite graph partitioning", ICML 2004.
    Z. Li, X.-M. Wu, S.-F. Chang, "Segmentation using superpixels: a bipartite graph partitioning approach", CVPR 2012.
    D. Huang, C.-D. Wang, J.-H. Lai, "Locally weighted ensemble clustering", IEEE Transactions on Cybernetics 48(5),
    2018: LWGP.
    D. Huang, C.-D. Wang, J.-S. Wu, J.-H. Lai, C.-K. Kwoh, "Ultra-scalable spectral clustering and ensemble clustering",
    IEEE TKDE 32(6), 2020: U-SENC.

    Examples
    --------
    >>> from ensemblage.consensus import HBGF
    >>> labels = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
    >>> HBGF(n_clusters=2, random_state=0).fit(labels).labels_
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **GRAPH_CONSTRAINTS,
        **METIS_CONSTRAINTS,
        "cluster_weights": CLUSTER_WEIGHTS,
        "distinct": [Flag()],
        "partitioner": [Words(["metis", "spectral", "transfer"])],
    }

    n_clusters: int | None = None
    _: KW_ONLY
    partitioner: str = "spectral"
    recursive: bool = True
    imbalance: float | None = None
    distinct: bool = True
    cluster_weights: Any = None
    weights: Any = None
    n_jobs: int | None = None
    random_state: Any = None

    cluster_weights_: list[NDArray[np.float64]] = field(init=False)
    normalized_association_: float = field(init=False)

    _capabilities: ClassVar[Capabilities] = Capabilities(memberships=True, in_memory=CUTS_OBJECTS)

    def _restrict(self, able: Capabilities) -> Capabilities:
        memberships = not any(self._against_memberships())
        return replace(able, sample_weight=joins_equal_rows(self), must_link=self.distinct, memberships=memberships)

    def _make_rows(self, rows: Rows) -> Rows:
        return vertices_of(self, rows)

    def _against_memberships(self) -> Iterator[tuple[str, str]]:
        """Parameters with which memberships cannot be counted, and what they must be."""
        if self.partitioner == "metis":
            yield "partitioner", "'spectral' or 'transfer'"
        if self.cluster_weights is not None:
            yield "cluster_weights", "None"

    def _check_memberships(self, ensemble: Any) -> None:
        for name, rule in self._against_memberships():
            raise ValueError(
                f"{name} of HBGF must be {rule} with memberships. Got {format_value(getattr(self, name))}. "
                "Change this parameter, or give soft.to_labels()."
            )

    def _fit(self, rows: Rows) -> NDArray[Any]:
        k = self._check_n_clusters(rows)
        for name in ("cluster_weights_", "normalized_association_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        (seed,) = task_seeds(self.random_state, 1).tolist()
        check_enough_labels(self, rows, k)
        local = None if self.cluster_weights is None else local_weights(self, rows)
        of_clusters: Any = 1.0 if local is None else local[rows.labels]
        edge_weights = np.repeat(rows.weights, rows.n_clusters) * of_clusters
        given = rows.codes, rows.counts, rows.offsets
        random = np.random.RandomState(seed)
        if self.partitioner == "transfer":
            found = transfer_cut(*given, csr_array(diags_array(edge_weights)), k, random, self.n_jobs)
            self.normalized_association_, parts = found.association, found.parts
        elif self.partitioner == "spectral":
            parts = hbgf(*given, edge_weights, k, random, self.n_jobs)
        else:
            H = rows.binary_matrix(rows.counts[:, None] * rows.weights)
            if local is not None:
                H = csr_array(H @ diags_array(of_clusters))
            sizes = np.append(rows.counts, np.ones(H.shape[1], dtype=np.int64))
            parts = metis(bipartite_graph(H), sizes, k, seed, self.recursive, self.imbalance, 1, "HBGF")[: len(rows)]
        return clusters_of_parts(parts, k)

    def _diagnostics(self, ensemble: Ensemble, objects: NDArray[np.intp]) -> tuple[Diagnostics, ...]:
        if self.partitioner != "transfer":
            return ()
        return (Cut("normalized association", self.normalized_association_, float(self.n_clusters_)),)
