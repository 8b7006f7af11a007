"""Communities of a graph: Leiden by graspologic-native; Louvain and label propagation here.

Leiden comes from graspologic-native (MIT), whose ``leiden_csr`` reads a sparse matrix as it is, without the GIL. 50,000
nodes with 453,000 edges take 0.32 s of one core; by way of its ``leiden``, which wants a Python list with two texts per
edge, 1 s. scikit-network (BSD) takes 0.46 s for the same modularity (0.928) and would be a second dependency; its
Louvain 0.22 s, the one here 0.12 s. igraph and leidenalg are GPL and are never imported.
"""

from __future__ import annotations

import importlib
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ensemblage.base.options import Message, Option
from ensemblage.base.threads import run_interruptibly
from ensemblage.kernels._graphs import move_nodes

Algorithm = Literal["leiden", "louvain", "label-propagation"]
Objective = Literal["modularity", "cpm"]

ALGORITHMS = ("leiden", "louvain", "label-propagation")
OBJECTIVES = ("modularity", "cpm")


def communities(
    graph: csr_array,
    resolution: float = 1.0,
    objective: Objective = "modularity",
    seed: int = 0,
    algorithm: Algorithm = "leiden",
    levels: int | None = None,
) -> NDArray[np.int32]:
    """(n,) the community of each node, numbered by their first nodes; an isolated node is one of its own.

    With edge weights A of total weight m (each edge once), degrees d and the sums over the pairs i < j of a community,
    "modularity" is sum(A_ij - resolution d_i d_j / 2m), "cpm", the constant Potts model, sum(A_ij - resolution).
    "label-propagation" (Raghavan, Albert & Kumara 2007) looks at neither, nor at the resolution: it is one level of
    local moving at resolution 0 (Barber & Clark 2009). ``levels`` is the most levels of "louvain" (Blondel et al.
    2008): 1 is what ECG takes, None all.

    ``graph`` is symmetric with weights ≥ 0 and an empty diagonal. About 50 ns per edge and level for "louvain", ten
    times as much for "leiden"; 16 bytes per edge beside the graph.
    """
    if graph.nnz == 0:
        return np.arange(graph.shape[0], dtype=np.int32)
    if algorithm == "leiden":
        return _leiden(graph, resolution, objective, seed)
    if algorithm == "label-propagation":
        resolution, levels = 0.0, 1
    return _louvain(graph, resolution, objective, seed, levels)


def quality(graph: csr_array, labels: NDArray[Any], resolution: float, objective: Objective) -> float:
    """What "modularity" or "cpm" is for these communities, divided by the total edge weight."""
    sizes, gamma = _sizes_and_penalty(graph, resolution, objective)
    inside = graph.data[labels[graph.indices] == np.repeat(labels, np.diff(graph.indptr))].sum()
    pairs = np.square(np.bincount(labels, sizes)).sum()
    if objective == "cpm":
        pairs -= np.square(sizes).sum()  # no node is a pair with itself
    return float((inside - gamma * pairs) / graph.data.sum())


def _sizes_and_penalty(graph: csr_array, resolution: float, objective: Objective) -> tuple[NDArray[np.float64], float]:
    """Node sizes s and γ such that the objective counts A_ij - γ s_i s_j for a pair."""
    if objective == "cpm":
        return np.ones(graph.shape[0]), resolution
    degrees = np.asarray(graph.sum(axis=1), dtype=np.float64)
    return degrees, resolution / float(degrees.sum())


def _leiden(graph: csr_array, resolution: float, objective: Objective, seed: int) -> NDArray[np.int32]:
    native = import_leiden()
    indptr, indices = graph.indptr.astype(np.int64, copy=False), graph.indices.astype(np.int32, copy=False)
    weights, n = graph.data.astype(np.float64, copy=False), graph.shape[0]
    if objective == "modularity":  # the square of the total weight is taken; a power of 2 changes nothing else
        weights = np.ldexp(weights, -int(np.frexp(weights.max())[1]))
    options = {"resolution": float(resolution), "use_modularity": objective == "modularity", "seed": int(seed)}
    _, found = native.leiden_csr(indptr, indices, weights, n, **options)
    labels = np.empty(n, dtype=np.int64)
    labels[np.fromiter(found.keys(), np.int64, n)] = np.fromiter(found.values(), np.int64, n)
    return renumber_communities(labels)


def import_leiden() -> Any:
    """The package that Leiden comes from, or how to do without."""
    try:
        return importlib.import_module("graspologic_native")
    except ImportError as error:
        raise ImportError(
            Message(
                "Leiden needs graspologic-native. It cannot be imported. Run `pip install ensemblage[graphs]`, or "
                "give ",
                Option("algorithm", "louvain"),
                ", which needs nothing.",
            )
        ) from error


def _louvain(
    graph: csr_array, resolution: float, objective: Objective, seed: int, levels: int | None
) -> NDArray[np.int32]:
    sizes, gamma = _sizes_and_penalty(graph, resolution, objective)
    random, labels, level = np.random.RandomState(seed), np.arange(graph.shape[0], dtype=np.int32), 0
    while levels is None or level < levels:
        moved = _move_nodes(graph, sizes, gamma, random.permutation(graph.shape[0]))
        labels, level = moved[labels], level + 1
        n_communities = int(moved.max()) + 1
        if n_communities == graph.shape[0]:
            break
        members = csr_array((np.ones(len(moved)), moved, np.arange(len(moved) + 1)))
        graph = csr_array(members.T @ graph @ members)
        graph.sort_indices()
        sizes = np.bincount(moved, sizes).astype(np.float64)
    return renumber_communities(labels)


def _move_nodes(
    graph: csr_array, sizes: NDArray[np.float64], gamma: float, order: NDArray[np.int64]
) -> NDArray[np.int32]:
    """(n,) communities by local moving, from each node alone."""
    n = graph.shape[0]
    labels, totals = np.arange(n, dtype=np.int64), sizes.copy()
    work = np.zeros(n), np.empty(n, dtype=np.int64), np.ones(n, dtype=bool)
    arrays = graph.indptr.astype(np.int64), graph.indices.astype(np.int32), graph.data.astype(np.float64)
    run_interruptibly(move_nodes, arrays, sizes, gamma, order, labels, totals, work, operations=20 * graph.nnz)
    return renumber_communities(labels)


def renumber_communities(labels: NDArray[Any]) -> NDArray[np.int32]:
    """The same communities, numbered by their first nodes."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    number = np.empty(len(first), dtype=np.int32)
    number[np.argsort(first)] = np.arange(len(first))
    return np.asarray(number[inverse], dtype=np.int32)
