"""The partitioners of the graph methods: METIS and Mt-KaHyPar (balanced), the normalised cut (not)."""

from __future__ import annotations

import ctypes
import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from ensemblage.base.random import task_seeds
from ensemblage.base.validation import Constraints, Flag, Number, Seed, Whole, Words, check_bytes
from ensemblage.consensus._base import renumber_parts
from ensemblage.consensus.graphs._ncut import NoConvergence, fallback_bytes, normalized_cut
from ensemblage.labels.rows import Rows, object_rows
from ensemblage.labels.threads import one_native_thread

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


def joins_twins(model: Any) -> bool:
    """Whether objects of equal labels are one vertex in a graph of the objects: a balanced cut may part them."""
    return bool(model.distinct) or model.partitioner in ("spectral", "transfer")


def vertices_of(model: Any, rows: Rows) -> Rows:
    """The rows that are vertices of a graph of the objects: distinct ones, or one for each object."""
    if joins_twins(model):
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
        with _silent():
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

    Each level of coarsening halves the vertices and holds 16 bytes per entry; without twins among the merged edges none
    of them vanish until the graph is complete. The input has whole weights and places, and a copy of the graph.
    """
    levels = [min(n_entries, (n_vertices >> level) ** 2) for level in range(max(n_vertices, 1).bit_length())]
    return 40 * n_entries + 16 * sum(levels) + 200 * n_vertices


def clusters_of_parts(parts: NDArray[Any], k: int) -> NDArray[Any]:
    """Cluster of each row, empty parts left out. As many clusters as rows are the rows, whatever the parts are."""
    return renumber_parts(parts) if k < len(parts) else np.arange(k)
