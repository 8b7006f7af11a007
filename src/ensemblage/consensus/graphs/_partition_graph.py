"""How a graph is cut into parts: the normalised cut, and METIS and Mt-KaHyPar, whose parts are of like size.

Normalised cut (Shi & Malik 2000; Yu & Shi 2003): with the offset and the discretisation of the authors' ncut.m. Objects
with equal labels are one row with a count. That is exact: an eigenvector that tells them apart has the eigenvalue
0.5 / (degree + 1), at most 1/6, and the leading ones have more.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.sparse import coo_array, csr_array, diags_array
from scipy.sparse import linalg as sparse_linalg

from ensemblage.base.random import eigsh_start, task_seeds
from ensemblage.base.threads import check_stopped, one_native_thread, row_blocks
from ensemblage.base.validation import Constraints, Flag, Number, Seed, Whole, Words, check_bytes
from ensemblage.consensus._base import renumber_parts
from ensemblage.kernels._graphs import mark_diagonal, walk_in_place
from ensemblage.labels.rows import Rows, object_rows
from ensemblage.metrics._coassociation import Associations

OFFSET = 0.5
LEAST = 1e-6
"""Similarities below it are 0; so are rows of the embedding, relative to the longest."""
DENSE_ROWS = 400
"""Up to so many rows all eigenvectors cost less than a few by iteration."""
MOST_RESTARTS = 300
MOST_DENSE_ROWS = 3_000
"""Up to so many rows all eigenvectors are found where iteration has not come to an end by then, if that is allowed."""
RESTARTS_OF_LARGE = 3_000
"""Of more rows; where eigenvalues repeat, the second of a pair is found by rounding alone, or never."""
MOST_STEPS = 20
PLACED_ROWS = 64
"""Rows that are put into clusters at once."""
TOLERANCE = 0.03
"""Share by which the largest part may exceed the mean where ``imbalance`` is METIS' own."""
WHOLE = 10**8
"""What the whole edge weights of a graph add up to (Strehl & Ghosh's own code); more where there are more edges."""

GRAPH_CONSTRAINTS: Constraints = {"n_clusters": [Whole(1)], "random_state": [Seed()]}
"""Of every method that cuts a graph."""
METIS_CONSTRAINTS: Constraints = {
    "partitioner": [Words(["metis", "spectral"])],
    "recursive": [Flag()],
    "imbalance": [Number(above=0), None],
}
"""Of those that METIS may cut."""
CUTS_OBJECTS = "cuts a graph of all objects"
"""Why the rows of most of these must be in memory."""


# ---- What the methods share ----


def joins_equal_rows(model: Any) -> bool:
    """Whether objects of equal labels are one vertex in a graph of the objects: a balanced cut may part them."""
    return bool(model.distinct) or model.partitioner in ("spectral", "transfer")


def vertices_of(model: Any, rows: Rows) -> Rows:
    """The rows that are vertices of a graph of the objects: distinct ones, or one for each object."""
    if joins_equal_rows(model):
        return rows
    if rows.sample_weight is not None:
        raise ValueError(
            f"{type(model).__name__} must have distinct=True, or the normalised cut, with sample_weight. Got "
            f"distinct=False, in which every object is a vertex. Set distinct=True, or repeat the "
            "rows of X: np.repeat(X, sample_weight, axis=0)."
        )
    return object_rows(rows)


def check_enough_labels(model: Any, rows: Rows, k: int) -> None:
    """Raise unless the partitions have k clusters in all."""
    d = int(rows.n_clusters.sum())
    if k > d:
        raise ValueError(
            f"n_clusters of {type(model).__name__} must be ≤ the {d} clusters of all partitions. Got {k}. "
            "Ask for fewer clusters or add partitions."
        )


def clusters_of_parts(parts: NDArray[Any], k: int) -> NDArray[Any]:
    """Cluster of each row, empty parts left out. As many clusters as rows are the rows, whatever the parts are."""
    return renumber_parts(parts) if k < len(parts) else np.arange(k)


def cut_graph(
    model: Any,
    rows: Rows,
    graph: csr_array,
    sizes: NDArray[np.int64],
    k: int,
    loops: Any,
    seed: int,
    n_init: int = 1,
) -> NDArray[np.int64]:
    """Part of each vertex, by the ``partitioner`` of an estimator and within its ``max_bytes``; some may be empty.

    ``graph`` has no diagonal. ``loops``, a number or one per vertex, is what the normalised cut puts there.
    """
    if model.partitioner == "metis":
        return metis(graph, sizes, k, seed, model.recursive, model.imbalance, n_init, type(model).__name__)
    more = fallback_bytes(len(sizes), k)
    limit = check_bytes(model.max_bytes, f"max_bytes of {type(model).__name__}")
    may_be_dense = model._bytes(rows, k, graph.nnz, more).n_bytes <= limit
    with_loops = graph + diags_array(np.broadcast_to(loops, sizes.shape))
    try:
        with one_native_thread():
            return normalized_cut(with_loops, sizes, k, np.random.RandomState(seed), may_be_dense=may_be_dense)
    except NoConvergence:
        model._check_bytes(rows, k, graph.nnz, more)
        raise


# ---- The normalised cut ----


class NoConvergence(ValueError):
    """The iteration that finds eigenvectors did not end."""


class Spectrum(NamedTuple):
    """Leading eigenvalues, from the largest, and their eigenvectors."""

    values: NDArray[np.float64]
    """(k,)"""
    vectors: NDArray[np.float64]
    """(m, k)"""


def normalized_cut(
    graph: Any,
    counts: NDArray[np.int64],
    n_clusters: int,
    random: np.random.RandomState,
    whole: Any = None,
    may_be_dense: bool = True,
) -> NDArray[np.int64]:
    """Cluster of each row, numbered without gaps; now and then fewer than ``n_clusters``.

    ``graph`` is the (m, m) similarity of the rows, dense or sparse, its diagonal included; ``counts`` the objects of
    each row. A row outside the clusters that the eigenvectors show (isolated, or of a small component) goes to the one
    with the largest mean similarity in ``whole`` (default: ``graph``), ties to the lowest number. If ``whole`` is
    given, a sparse ``graph`` is overwritten. ``may_be_dense`` is as of `leading_eigenvectors`.
    """
    if n_clusters == 1:
        return np.zeros(len(counts), dtype=np.int64)
    W = csr_array(graph, dtype=np.float64, copy=whole is None)
    W.sum_duplicates()
    if W.nnz and W.data.min() < LEAST:
        W.data[np.abs(W.data) < LEAST] = 0
        W.eliminate_zeros()
    # Eigenvectors of the random walk, each of length √n over the objects.
    lengths = np.sqrt(counts * (W @ counts.astype(np.float64) + 2 * OFFSET))
    X = spectrum(W, counts, n_clusters, random, may_be_dense).vectors / lengths[:, None]
    del W
    clusters = discretise(X * np.sqrt(counts.sum() / (counts @ X**2)), counts, random)
    found, placed = np.unique(clusters[clusters >= 0], return_inverse=True)
    clusters[clusters >= 0] = placed
    _place_others(clusters, len(found), counts, graph if whole is None else whole)
    return clusters


def cut_bytes(m: int, n_clusters: int) -> int:
    """Bytes that `normalized_cut` of m rows takes at most beyond a graph that it overwrites, while iteration ends."""
    if m <= max(DENSE_ROWS, 3 * n_clusters):
        return dense_bytes(m, n_clusters)
    return 8 * m * (2 * _n_lanczos(m, n_clusters) + 10 * n_clusters + PLACED_ROWS + 12)


def dense_bytes(m: int, n_clusters: int) -> int:
    """Bytes that all eigenvectors of m rows take."""
    return 8 * m * (5 * m + 8 * n_clusters)


def fallback_bytes(m: int, n_clusters: int) -> int:
    """Bytes that all eigenvectors take where iteration does not end; 0 for more rows, which have no such way out."""
    return dense_bytes(m, n_clusters) if m <= MOST_DENSE_ROWS else 0


def spectrum(
    W: csr_array,
    counts: NDArray[np.int64],
    n_clusters: int,
    random: np.random.RandomState,
    may_be_dense: bool = True,
) -> Spectrum:
    """Leading eigenvectors of D^-1/2 (W + I/2) D^-1/2 with D = diag(W 1 + 1), over objects that share their rows.

    An isolated object is an eigenvector of its own, with the eigenvalue 0.75 if its similarity to itself is 1: such
    vectors are not computed, and the first of the objects come first. ``W`` is overwritten.
    """
    present = np.empty(W.shape[0], dtype=np.bool_)
    mark_diagonal(W.indptr, W.indices, present)
    if not present.all():  # each element of the diagonal gets an entry, if only a 0
        W = csr_array(W + diags_array((~present).astype(np.float64)))
        diagonal = np.repeat(np.arange(W.shape[0]), np.diff(W.indptr)) == W.indices
        W.data[np.flatnonzero(diagonal)[~present]] = 0
    degrees, own = W @ counts.astype(np.float64) + 2 * OFFSET, W.diagonal()
    scale, offset = np.sqrt(counts / degrees), OFFSET / degrees
    isolated = (counts == 1) & (np.diff(W.indptr) == 1)
    rest, alone = np.flatnonzero(~isolated), np.flatnonzero(isolated)[:n_clusters]
    number = np.where(isolated, -1, np.cumsum(~isolated) - 1)
    n_entries = walk_in_place(W.indptr, W.indices, W.data, scale, offset, number)
    walk = csr_array(
        (W.data[:n_entries], W.indices[:n_entries], W.indptr[: len(rest) + 1]), shape=(len(rest), len(rest))
    )
    found = leading_eigenvectors(walk, min(n_clusters, len(rest)), random, may_be_dense)
    values = np.concatenate([found.values, (scale * own * scale + offset)[alone]])
    vectors = np.zeros((len(counts), len(values)))
    vectors[rest, : len(found.values)] = found.vectors
    vectors[alone, len(found.values) + np.arange(len(alone))] = 1
    order = np.argsort(-values, kind="stable")[:n_clusters]
    return Spectrum(values[order], vectors[:, order])


def _n_lanczos(m: int, k: int) -> int:
    """Vectors that ARPACK keeps."""
    return min(m, max(2 * k + 1, 40))


def leading_eigenvectors(matrix: Any, k: int, random: np.random.RandomState, may_be_dense: bool = True) -> Spectrum:
    """The k largest eigenvalues of a symmetric array, sparse array or linear operator, and their eigenvectors.

    Where iteration does not end, all eigenvectors of up to `MOST_DENSE_ROWS` rows are found if the matrix
    ``may_be_dense`` (`fallback_bytes`), else `NoConvergence` is raised. Raises `Stopped` where `check_stopped` does:
    many products of a large graph may take long.
    """
    m = matrix.shape[0]
    if k == 0:
        return Spectrum(np.empty(0), np.empty((m, 0)))
    if m <= max(DENSE_ROWS, 3 * k):
        values, vectors = _eigenvectors_of_dense(matrix @ np.eye(m), k)
    else:
        start, small = random.uniform(-1, 1, size=m), m <= MOST_DENSE_ROWS
        restarts = MOST_RESTARTS if small else RESTARTS_OF_LARGE

        def times(vector: NDArray[np.float64]) -> Any:
            check_stopped()
            return matrix @ vector

        product = sparse_linalg.LinearOperator((m, m), times, dtype=np.float64)
        options = {"ncv": _n_lanczos(m, k), "maxiter": restarts, **eigsh_start(start)}
        try:
            values, vectors = sparse_linalg.eigsh(product, k, which="LA", **options)
        except sparse_linalg.ArpackNoConvergence as error:
            if not small or not may_be_dense:
                raise NoConvergence(
                    f"The {k} eigenvectors of a spectral cut must converge. They did not, for a graph of {m:,} "
                    "vertices. Ask for fewer clusters, or remove fewer edges."
                ) from error
            values, vectors = _eigenvectors_of_dense(matrix @ np.eye(m), k)  # many eigenvalues are nearly equal
    order = np.argsort(-values, kind="stable")
    return Spectrum(values[order], vectors[:, order])


def _eigenvectors_of_dense(matrix: NDArray[np.float64], k: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The k largest eigenvalues, in increasing order, and their eigenvectors."""
    m = len(matrix)
    try:
        values, vectors = linalg.eigh(matrix, subset_by_index=(m - k, m - 1))
    except linalg.LinAlgError:
        values = np.empty(0)
    if len(values) < k:
        # LAPACK finds some of the eigenvectors by inverse iteration, which can fail where eigenvalues repeat, or give
        # fewer without a word; all of them by divide and conquer, which does not.
        values, vectors = linalg.eigh(matrix, driver="evd")
    return values[-k:], vectors[:, -k:]


def discretise(X: NDArray[np.float64], counts: NDArray[np.int64], random: np.random.RandomState) -> NDArray[np.int64]:
    """Cluster of each row of an embedding: the rotation that brings the rows closest to unit vectors; -1 for zeros."""
    length = np.sqrt((X**2).sum(axis=1))
    known = length > LEAST * length.max()
    rows, n_objects = X[known] / length[known, None], counts[known].astype(np.float64)
    weighted = rows * n_objects[:, None]
    rotation, value = orthogonal_rows(rows, n_objects, rows.shape[1], random).T, np.inf
    for _ in range(MOST_STEPS):
        nearest = np.argmax(rows @ rotation, axis=1)
        sums = [np.bincount(nearest, weights=column, minlength=rows.shape[1]) for column in weighted.T]
        left, singular, right = np.linalg.svd(np.array(sums).T)
        before, value = value, 2 * float(n_objects.sum() - singular.sum())
        if abs(before - value) < np.finfo(np.float64).eps * n_objects.sum():
            break
        rotation = right.T @ left.T
    clusters = np.full(len(X), -1, dtype=np.int64)
    clusters[known] = nearest
    return clusters


def orthogonal_rows(
    rows: NDArray[Any], counts: NDArray[Any], n_rows: int, random: np.random.RandomState
) -> NDArray[Any]:
    """Nearly orthogonal rows of a matrix: one of a random object, then again and again the least aligned one."""
    share = np.cumsum(counts)
    chosen = [int(np.searchsorted(share, random.uniform() * share[-1], side="right"))]
    aligned = np.zeros(len(rows))
    for _ in range(n_rows - 1):
        aligned += np.abs(rows @ rows[chosen[-1]])
        chosen.append(int(np.argmin(aligned)))
    return rows[chosen]


def _place_others(clusters: NDArray[np.int64], k: int, counts: NDArray[np.int64], whole: Any) -> None:
    """Put each row without a cluster where its mean similarity to the members is largest."""
    others, members = np.flatnonzero(clusters < 0), np.flatnonzero(clusters >= 0)
    if not len(others):
        return
    sizes = np.bincount(clusters[members], weights=counts[members], minlength=k)
    member_of = coo_array((counts[members] / sizes[clusters[members]], (members, clusters[members])), (len(counts), k))
    member_of = member_of.tocsr()
    for block in row_blocks(len(others), PLACED_ROWS):
        some = others[block]
        means = (whole.rows(some) if isinstance(whole, Associations) else whole[some]) @ member_of
        clusters[some] = np.argmax(means.toarray() if hasattr(means, "toarray") else means, axis=1)


# ---- METIS and Mt-KaHyPar ----


def metis(
    graph: csr_array,
    sizes: NDArray[np.int64],
    n_parts: int,
    seed: int,
    recursive: bool,
    imbalance: float | None,
    n_init: int,
    owner: str,
) -> NDArray[np.int64]:
    """Parts of nearly equal total size that cut little weight of a graph without diagonal; some may be empty.

    Of ``n_init`` runs the one that cuts the least, of those whose largest part is no larger than that of the first run
    or than the imbalance allows; the first of equals. So more runs never cut more, nor give up the balance. METIS takes
    whole weights: edges whose weight rounds to 0 vanish. ``owner`` is who needs it.
    """
    pymetis = import_partitioner("pymetis", owner, "pip install pymetis")
    if n_parts == 1:
        return np.zeros(len(sizes), dtype=np.int64)
    whole = whole_weights(graph.data, max(WHOLE, 1000 * graph.nnz))
    graph = csr_array((whole, graph.indices, graph.indptr), shape=graph.shape)
    graph.eliminate_zeros()
    adjacency = pymetis.CSRAdjacency(graph.indptr.astype(np.int64), graph.indices.astype(np.int64))
    tolerance, options = TOLERANCE, dict[str, int]()
    if imbalance is not None:
        tolerance, options = float(imbalance), {"ufactor": max(1, round(1000 * min(float(imbalance), n_parts)))}
    largest, least, best = (1 + tolerance) * float(sizes.sum()) / n_parts, np.inf, np.empty(0, dtype=np.int64)
    for run, seed_of_run in enumerate([seed, *task_seeds(seed, n_init - 1).tolist()]):
        with _STDOUT, _silent():
            cut, found = pymetis.part_graph(
                n_parts,
                adjacency=adjacency,
                recursive=bool(recursive),
                options=pymetis.Options(seed=seed_of_run % (2**31 - 1), **options),
                vweights=sizes,
                eweights=graph.data,
            )
        parts = np.array(found, dtype=np.int64)
        heaviest = float(np.bincount(parts, weights=sizes).max())
        if run == 0:
            largest = max(largest, heaviest)
        if heaviest <= largest and cut < least:
            least, best = cut, parts
    return best


def mtkahypar(
    edges: list[NDArray[np.intp]],
    edge_weights: NDArray[np.float64],
    sizes: NDArray[np.int64],
    n_parts: int,
    seed: int,
    cost: str,
    imbalance: float,
) -> NDArray[np.int64]:
    """Parts of the vertices of a hypergraph, by Mt-KaHyPar as it stands in its documentation."""
    module = import_partitioner("mtkahypar", "HGPA", "pip install ensemblage[hypergraph]")
    if n_parts == 1:
        return np.zeros(len(sizes), dtype=np.int64)
    tool = module.initialize(1, False)
    module.set_seed(seed)
    context = tool.context_from_preset(module.PresetType.DETERMINISTIC)
    # A part of all objects exceeds the mean by n_parts - 1: beyond, there is no limit.
    imbalance = min(float(imbalance), n_parts)
    context.set_partitioning_parameters(n_parts, imbalance, getattr(module.Objective, cost.upper()))
    context.logging = False
    whole = np.maximum(whole_weights(edge_weights), 1)
    hypergraph = tool.create_hypergraph(context, len(sizes), len(edges), edges, sizes, whole)
    return np.array(hypergraph.partition(context).get_partition(), dtype=np.int64)


_STDOUT = threading.Lock()
"""Held while standard output is another file: threads that restore it in another order would lose it."""


@contextmanager
def _silent() -> Iterator[None]:
    """Keep METIS from writing to standard output, where the caller may be writing an answer.

    It complains there where a part stays empty. Python's other threads do not write meanwhile: METIS holds the GIL.
    """
    try:
        stdout = os.dup(1)
    except OSError:
        yield
        return
    if sys.stdout is not None:
        sys.stdout.flush()
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    try:
        yield
    finally:
        # What C's library has buffered for standard output, where Python finds that library.
        with suppress(OSError, TypeError, AttributeError):
            ctypes.CDLL("ucrtbase" if os.name == "nt" else None).fflush(None)
        os.dup2(stdout, 1)
        os.close(stdout)


def import_partitioner(module: str, owner: str, install: str) -> Any:
    """Import what a partitioner needs, or say how to do without."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{owner} needs {module} for this partitioner. It cannot be imported. Run "
            f"`{install}`, if there is a wheel for your platform, or give partitioner='spectral'."
        ) from error


def whole_weights(weights: NDArray[Any], total: int = WHOLE) -> NDArray[np.int64]:
    """Whole numbers in proportion to the weights that add up to about ``total``."""
    sum_ = weights.sum()
    return np.asarray(np.rint(weights * (total / sum_ if sum_ > 0 else 0)), dtype=np.int64)


def metis_bytes(n_vertices: int, n_entries: int) -> int:
    """Bytes that METIS and its input take at most for a graph of so many vertices and entries (two per edge).

    Each level of coarsening halves the vertices and holds 16 bytes per entry; without duplicates among the merged edges
    none of them vanish until the graph is complete. The input has whole weights and places, and a copy of the graph.
    """
    levels = [min(n_entries, (n_vertices >> level) ** 2) for level in range(max(n_vertices, 1).bit_length())]
    return 40 * n_entries + 16 * sum(levels) + 200 * n_vertices
