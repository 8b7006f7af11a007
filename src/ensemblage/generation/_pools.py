"""The pools of partitions that Ohl & Lindsten rank (Sec. 4.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_array

from ensemblage.base.features import features_checked
from ensemblage.base.random import task_seeds
from ensemblage.base.validation import check_choice, check_flag, check_whole
from ensemblage.generation._clusterers import run_all
from ensemblage.labels.ensemble import Ensemble

POOLS = ("kmeans", "agglomerative", "dbscan", "all")
LINKAGES = ("single", "complete", "ward", "average")
FREE_K = range(2, 21)
Member = tuple[str, NDArray[np.int32]]
Task = Callable[[], list[Member]]


class Pool(NamedTuple):
    """Partitions of the same objects by several algorithms."""

    ensemble: Ensemble
    """The members that have more than one label; noise is a label like any other."""
    dropped: list[str]
    """Names of the members that have one label only."""


def make_pool(
    X: ArrayLike,
    pool: str = "all",
    *,
    n_clusters: int | None = None,
    standardize: bool = True,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> Pool:
    """Use it to compare rankers as Ohl & Lindsten do: features clustered by many algorithms and settings.

    Parameters
    ----------
    X : array-like of shape (n_objects, n_features)
        The features.
    pool : {"kmeans", "agglomerative", "dbscan", "all"}, default "all"
        Without ``n_clusters``: k-means 5 times for each k from 2 to 20; agglomerative clustering for each k by single,
        complete, Ward's and average linkage; DBSCAN with 20 radii from the 1 % to the 25 % quantile of the distances,
        each 5 times; or all of them. With ``n_clusters``: 50 k-means, or 7 agglomerative clusterings by the four
        linkages and the Euclidean and Manhattan distance (Ward's by the Euclidean only), or both; no DBSCAN.
    n_clusters : int, optional
        The number of clusters of every member.
    standardize : bool, default True
        Whether to bring the features to mean 0 and standard deviation 1 first, as in the paper.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.
    random_state : int, RandomState, Generator or None
        Seed of the k-means.

    Returns
    -------
    ensemble : Ensemble
        Members named by what made them, as in ``ward_k3``. DBSCAN's noise is one cluster, as in the paper.
    dropped : list of str
        Names of the members with a single cluster, which are left out.

    Raises
    ------
    ValueError
        If no member has more than one cluster, there are fewer objects than clusters, or an argument is none of these.

    Notes
    -----
    O(n²) time and memory for agglomerative clustering and the quantiles of the distances.

    References
    ----------
    Ohl & Lindsten 2025, Sec. 4.3.1 and 4.3.2. The equal runs of DBSCAN are those of the released code.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ensemblage.generation import make_pool
    >>> pool = make_pool(load_iris().data, "agglomerative", n_clusters=3)
    >>> pool.ensemble.names
    ['single_euclidean_k3', 'complete_euclidean_k3', 'ward_euclidean_k3', 'average_euclidean_k3', 'single_manhattan_k3',
     'complete_manhattan_k3', 'average_manhattan_k3']
    """
    check_choice(pool, "pool of make_pool", POOLS)
    check_flag(standardize, "standardize of make_pool")
    with features_checked("X of make_pool", X):
        checked: NDArray[np.float64] = check_array(X, dtype=np.float64)
    if standardize:
        checked = StandardScaler().fit_transform(checked)
    most = check_whole(max(FREE_K) if n_clusters is None else n_clusters, "n_clusters of make_pool", 2)
    if most > len(checked):
        raise ValueError(
            f"make_pool must have at least as many objects as clusters, {most}. Got {len(checked)} objects. "
            "Give n_clusters, or more objects."
        )
    tasks = [*_tasks(checked, pool, n_clusters, random_state)]
    members = [*chain.from_iterable(run_all(_run, tasks, n_jobs))]
    return _drop_degenerate(members)


def _run(task: Task) -> list[Member]:
    return task()


def _tasks(X: Any, pool: str, n_clusters: int | None, random_state: Any) -> Iterable[Task]:
    ks = FREE_K if n_clusters is None else [n_clusters]
    if pool in ("kmeans", "all"):
        names = [(k, run) for k in ks for run in range(5 if n_clusters is None else 50)]
        for (k, run), seed in zip(names, task_seeds(random_state, len(names)).tolist(), strict=True):
            yield partial(_kmeans, X, k, run, seed)
    if pool in ("agglomerative", "all"):
        for metric in ("euclidean",) if n_clusters is None else ("euclidean", "manhattan"):
            for linkage in LINKAGES:
                if (linkage, metric) != ("ward", "manhattan"):
                    yield partial(_agglomerative, X, linkage, metric, ks, n_clusters is not None)
    if pool == "dbscan" or (pool == "all" and n_clusters is None):
        yield from (partial(_dbscan, X, radius, i) for i, radius in enumerate(_radii(X)))


def _kmeans(X: Any, k: int, run: int, seed: int) -> list[Member]:
    return [(f"kmeans_k{k}_{run}", KMeans(k, n_init="auto", random_state=seed).fit_predict(X))]


def _agglomerative(X: Any, linkage: str, metric: str, ks: Iterable[int], name_metric: bool) -> list[Member]:
    tree = AgglomerativeClustering(linkage=linkage, metric=metric, compute_full_tree=True).fit(X)
    name = f"{linkage}_{metric}" if name_metric else linkage
    return [(f"{name}_k{k}", cut_children(tree.children_, k)) for k in ks]


def cut_children(children: NDArray[np.int64], k: int) -> NDArray[np.int32]:
    """Labels after all but the last k - 1 merges."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n, merges = len(children) + 1, len(children) + 1 - k
    parents = np.repeat(np.arange(n, n + merges), 2)
    nodes = n + merges
    edges = coo_array((np.ones(2 * merges), (children[:merges].ravel(), parents)), shape=(nodes, nodes))
    labels: NDArray[np.int32] = connected_components(edges, directed=False)[1][:n]
    return labels


def _radii(X: Any) -> NDArray[np.float64]:
    from scipy.spatial.distance import pdist

    low, high = np.quantile(pdist(X), [0.01, 0.25]).tolist()
    return np.linspace(low, high, 20)


def _dbscan(X: Any, radius: float, index: int) -> list[Member]:
    if radius <= 0:
        return [(f"dbscan_{index}_{run}", np.zeros(len(X), dtype=np.int32)) for run in range(5)]
    labels = DBSCAN(radius, min_samples=5).fit_predict(X).astype(np.int32)
    return [(f"dbscan_{index}_{run}", labels) for run in range(5)]


def _drop_degenerate(members: list[Member]) -> Pool:
    kept = [(name, labels) for name, labels in members if labels.min() < labels.max()]
    dropped = [name for name, labels in members if labels.min() == labels.max()]
    if not kept:
        raise ValueError(
            f"A pool must have a member with more than one cluster. All {len(dropped)} members have one. Scale the "
            f"features."
        )
    columns = np.column_stack([labels for _, labels in kept])
    return Pool(Ensemble._made(columns, names=[name for name, _ in kept], missing=None), dropped)
