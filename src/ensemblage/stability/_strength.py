"""How many clusters predict each other: prediction strength (Tibshirani & Walther 2005)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.metrics import pairwise_distances, pairwise_distances_argmin
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state

from ensemblage.base.random import task_seeds
from ensemblage.base.text import backend_of
from ensemblage.base.threads import row_blocks
from ensemblage.base.validation import (
    MOST_TASKS,
    Jobs,
    check_choice,
    check_progress,
    check_value,
    check_whole,
    format_value,
)
from ensemblage.consensus.hierarchies._linkage import LINKAGES
from ensemblage.generation._clusterers import (
    check_labels,
    error_text,
    fold_warnings,
    k_parameter,
    nearest_rows,
    run_all,
)
from ensemblage.generation._kmeans import member_sums
from ensemblage.stability._clusters import SharedCounts, cells_of
from ensemblage.stability._records import PredictionStrength, StrengthRow
from ensemblage.stability._resamples import CLUSTERER, Data, check_data, check_rows, fresh, labels_of

Split = tuple[NDArray[np.intp], NDArray[np.intp]]
SUPPORTED = 0.8
"""Prediction strength above which a number of clusters is supported (Tibshirani & Walther 2005)."""
TRANSFERS = ("auto", "predict", "centroid", "nearest", "average")
CONNECTED = ("DBSCAN", "HDBSCAN", "OPTICS", "SpectralClustering")
"""Classes whose clusters are connected, of any shape: the nearest object decides."""
DISTANCES = 2**22
"""Distances that are held at a time."""


class Half(NamedTuple):
    """A half of the objects and what the estimator made of it."""

    rows: NDArray[np.intp]
    clusters: NDArray[np.int32]
    """(m,) from 0; -1 for noise."""
    fitted: Any


class Strength(NamedTuple):
    """What one direction of one split says of a number of clusters."""

    shares: NDArray[np.float64]
    """(q,) per cluster of the half: the pairs of its objects that the other half's clusters keep together."""
    agreement: float
    """Adjusted Rand index of both partitions of the half."""

    @property
    def least(self) -> float:
        """The strength: that of the worst cluster; 0 where there is none."""
        return float(self.shares.min(initial=1.0)) if len(self.shares) else 0.0


def prediction_strength(
    estimator: Any,
    X: ArrayLike | Any,
    k_range: Iterable[int] = range(2, 11),
    *,
    n_splits: int = 50,
    splits: Sequence[tuple[ArrayLike, ArrayLike]] | None = None,
    transfer: Literal["auto", "predict", "centroid", "nearest", "average"] = "auto",
    parameter: str | None = None,
    n_jobs: int | None = None,
    random_state: Any = None,
    progress: Callable[[int, int], None] | None = None,
) -> PredictionStrength:
    """Use it to choose k: numbers whose clusters in one half of the objects predict those in the other half.

    Both halves are clustered; each is then given to the clusters of the other. The strength of a split is the share of
    the pairs in a cluster that stay together so, in the worst cluster.

    Parameters
    ----------
    estimator : clusterer
        Anything with ``fit_predict`` and a parameter for the number of clusters; with ``predict`` or without. Every
        ``random_state`` of it is set in a copy. Its optimum counts: the worst cluster decides, so give k-means 10
        starts, as in ``KMeans(n_init=10)``. With 2 of them the right number was found on 65 % of 62 Gaussian designs,
        with 10 on 94 %.
    X : array-like, sparse matrix or data frame of shape (n_objects, n_features)
        The features; sparse where the estimator takes it. Rows of a data frame stay one, for estimators that read its
        columns. For an estimator with ``metric="precomputed"``, the (n_objects, n_objects) distances.
    k_range : iterable of int, default 2 to 10
        Numbers of clusters to compare, up to half of the objects. That of 1 is 1 by definition.
    n_splits : int, default 50
        How often the objects are halved at random; the same halves for every number.
    splits : sequence of pairs of array-like of int, optional
        Row numbers of both halves of each split, instead of drawing them.
    transfer : {"auto", "predict", "centroid", "nearest", "average"}, default "auto"
        How an object is given to a cluster of the other half: as the estimator predicts; by the nearest mean; by the
        nearest object; by the least mean distance. "auto" is "predict" where the estimator can; else "average" for
        average linkage, "nearest" for single linkage, DBSCAN, HDBSCAN, OPTICS, spectral clustering and distances, and
        "centroid" for all others. Distances are Euclidean in X, whatever the estimator does to X.
    parameter : str, optional
        Name of the estimator's parameter for the number of clusters. Default: its ``n_clusters``, or of a mixture
        ``n_components``, those of the last step of a pipeline included.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the splits and of every partition.
    progress : callable or None, default=None
        Called as ``progress(done, total)`` after every number of every split, by the calling thread. An error that it
        raises ends the work. No result depends on it.

    Returns
    -------
    PredictionStrength
        ``table`` with a row per number of clusters, ``values`` of each split, ``supported`` and ``best``, the largest
        number that is; ``to_frame()``, ``plot()``.

    Raises
    ------
    ValueError
        If a parameter is out of its range, or the estimator has no parameter for the number of clusters or fails.
    TypeError
        If the estimator has no ``fit_predict``, or ``k_range`` or ``splits`` is no list.

    See Also
    --------
    cluster_stability : Which clusters are reproduced.

    Notes
    -----
    A number is supported if the mean and one standard error over the splits exceed 0.8 together. Clusters of fewer than
    some 20 objects in a half, and such as the estimator cannot see, as long ones for k-means, are not supported.
    A cluster of one object has a strength of 1.

    Time: 2 fits of half of the objects per split and number; O(n d k) for the transfer, O(n² d) for "average" and at
    worst for "nearest". Memory: O(n d) for each split that is being clustered, and what the estimator itself takes.

    References
    ----------
    R. Tibshirani and G. Walther, "Cluster validation by prediction strength", Journal of Computational and Graphical
    Statistics 14, 2005.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import make_blobs
    >>> from ensemblage.stability import prediction_strength
    >>> X, _ = make_blobs(150, centers=[(0, 0), (0, 9), (9, 0)], random_state=0)
    >>> found = prediction_strength(KMeans(n_init=10), X, range(2, 5), n_splits=10, random_state=0)
    >>> found.best, found.transfer
    (3, 'predict')
    """
    name = "prediction_strength"
    check_value(estimator, f"estimator of {name}", [CLUSTERER])
    check_whole(n_splits, f"n_splits of {name}", 1, MOST_TASKS)
    check_choice(transfer, f"transfer of {name}", TRANSFERS)
    check_value(n_jobs, f"n_jobs of {name}", [Jobs()])
    check_progress(progress, f"progress of {name}")
    parameter = _check_parameter(estimator, parameter)
    data = check_data(X, estimator, name)
    halves = None if splits is None else _check_splits(splits, len(data))
    most = len(data) // 2 if halves is None else min(len(half) for pair in halves for half in pair)
    ks = check_k_range(k_range, name, 1, most)
    chosen = _check_transfer(estimator, data, transfer)
    split_seed, fit_seed = task_seeds(random_state, 2).tolist()
    if halves is None:
        halves = random_halves(len(data), n_splits, split_seed)
    tasks = [(k, split) for k in ks if k > 1 for split in range(len(halves))]
    seeds = task_seeds(fit_seed, 2 * len(tasks)).reshape(-1, 2).tolist()

    def strengths(task: int) -> list[Strength] | Exception:
        k, split = tasks[task]
        try:
            return both_directions(estimator, data, halves[split], chosen, {parameter: k}, seeds[task])
        except Exception as error:
            return error

    def fails(outcome: Any) -> bool:
        return isinstance(outcome, Exception)

    with fold_warnings():
        outcomes = run_all(strengths, range(len(tasks)), n_jobs, fails, progress, "split in halves")
    if outcomes and isinstance(outcomes[-1], Exception):
        k, split = tasks[len(outcomes) - 1]
        raise ValueError(
            f"prediction_strength must cluster both halves of every split. Got {error_text(outcomes[-1])} for k = {k} "
            f"in split {split}. Change the estimator or k_range."
        ) from outcomes[-1]
    return _summary(ks, outcomes, len(halves), chosen, backend_of(X))


def both_directions(
    estimator: Any, data: Data, split: Split, transfer: str, parameters: dict[str, Any], seeds: Sequence[int]
) -> list[Strength]:
    """The strength of the clusters of either half, predicted by those of the other."""
    halves = []
    for rows, seed in zip(split, seeds, strict=True):
        fitted = fresh(estimator, seed, **parameters)
        labels = labels_of(fitted, data.part(rows), len(rows))
        clusters = np.full(len(labels), -1, dtype=np.int32)
        clusters[labels >= 0] = np.unique(labels[labels >= 0], return_inverse=True)[1]
        halves.append(Half(rows, clusters, fitted))
    first, second = halves
    return [strength_of(data, first, second, transfer), strength_of(data, second, first, transfer)]


def strength_of(data: Data, half: Half, other: Half, transfer: str) -> Strength:
    """How far the clusters of a half stay together when its objects are given to the clusters of the other half."""
    if transfer == "predict":
        given = check_labels(other.fitted.predict(data.part(half.rows)), len(half.rows))
    else:
        given = transfer_labels(data, other.rows, other.clusters, half.rows, transfer)
    n_own, n_given = (int(labels.max(initial=-1)) + 1 for labels in (half.clusters, given))
    own = np.where(half.clusters < 0, n_own, half.clusters)
    counts = np.ones(len(own), dtype=np.int64)
    cells = cells_of(own, np.where(given < 0, n_given, given), counts, n_own + 1, n_given + 1)
    return Strength(pairs_kept(cells, n_own, n_given), cells.adjusted_rand())


def pairs_kept(cells: SharedCounts, n_own: int, n_given: int) -> NDArray[np.float64]:
    """(n_own,) share of the pairs of each cluster that are in one cluster of the columns; 1 for a cluster of one.

    Objects in no cluster of the columns, code ``n_given``, are together with none.
    """
    sizes = np.bincount(cells.rows, cells.counts, n_own + 1)[:n_own]
    together = np.where(cells.columns < n_given, cells.counts * (cells.counts - 1), 0)
    kept = np.bincount(cells.rows, together, n_own + 1)[:n_own]
    pairs = sizes * (sizes - 1)
    return np.where(pairs > 0, kept / np.maximum(pairs, 1), 1.0)


def random_halves(n: int, n_splits: int, seed: int) -> list[Split]:
    """Halves of the objects, the second one larger where n is odd."""
    orders = (check_random_state(s).permutation(n) for s in task_seeds(seed, n_splits).tolist())
    return [(np.sort(order[: n // 2]), np.sort(order[n // 2 :])) for order in orders]


def _summary(
    ks: list[int], outcomes: list[list[Strength]], n_splits: int, transfer: str, backend: str | None
) -> PredictionStrength:
    values, table = np.ones((len(ks), n_splits)), []
    agreement, found = np.ones((len(ks), n_splits)), iter(outcomes)
    for row, k in enumerate(ks):
        for split in range(n_splits if k > 1 else 0):
            directions = next(found)
            values[row, split] = np.mean([direction.least for direction in directions])
            agreement[row, split] = np.mean([direction.agreement for direction in directions])
        mean = float(values[row].mean())
        error = float(values[row].std(ddof=1) / np.sqrt(n_splits)) if n_splits > 1 else 0.0
        table.append(StrengthRow(k, mean, error, mean + error > SUPPORTED, float(agreement[row].mean())))
    return PredictionStrength(table, values, transfer, backend)


def _check_parameter(estimator: Any, parameter: str | None) -> str:
    known = estimator.get_params() if hasattr(estimator, "get_params") else {}
    found = k_parameter(estimator) if known and parameter is None else parameter
    if not isinstance(found, str) or found not in known:
        got = f"{format_value(estimator)}" + ("" if parameter is None else f" and parameter={format_value(parameter)}")
        raise ValueError(
            "parameter of prediction_strength must be the estimator's parameter for the number of clusters. "
            f"Got {got}. Name one of get_params(), or use an estimator that has n_clusters."
        )
    return found


def check_k_range(k_range: Iterable[int], subject: str, least: int, most: int | None = None) -> list[int]:
    """The numbers of clusters to compare, each once, ascending."""
    try:
        given = list(k_range)
    except TypeError:
        raise TypeError(
            f"k_range of {subject} must be several numbers. Got {format_value(k_range)}. Give range(2, 11), for "
            "example."
        ) from None
    ks = sorted({check_whole(k, f"Every k in k_range of {subject}", least, most) for k in given})
    if not ks:
        raise ValueError(
            f"k_range of {subject} must hold at least one number. Got none. Give range(2, 11), for example."
        )
    return ks


def _check_splits(splits: Any, n: int) -> list[Split]:
    rule = "splits of prediction_strength must be a list of pairs of arrays of row numbers"
    if isinstance(splits, str | bytes) or not isinstance(splits, Sequence) or not len(splits):
        raise TypeError(f"{rule}. Got {format_value(splits)}. Give one pair per split.")
    found: list[Split] = []
    for pair in splits:
        if not isinstance(pair, Sequence) or len(pair) != 2:
            raise TypeError(f"{rule}. Got {format_value(pair)} among them. Give one pair per split.")
        first, second = (np.unique(check_rows(rows, n, "Every half of prediction_strength")) for rows in pair)
        shared = len(np.intersect1d(first, second))
        if shared:
            raise ValueError(
                f"{rule} that have no row in common. Got {len(first)} and {len(second)} rows, {shared} of them in "
                "both. Give the halves of a split."
            )
        found.append((first, second))
    return found


def _check_transfer(estimator: Any, data: Data, transfer: str) -> str:
    chosen = transfer_of(estimator, data.pairwise) if transfer == "auto" else transfer
    if chosen == "predict" and not hasattr(estimator, "predict"):
        raise ValueError(
            f"transfer of prediction_strength must be another than 'predict' for an estimator without predict. "
            f"Got {format_value(estimator)}. Use 'centroid', 'nearest' or 'average'."
        )
    if data.pairwise and chosen in ("centroid", "predict"):
        raise ValueError(
            f"transfer of prediction_strength must be 'nearest' or 'average' for distances of all pairs. "
            f"Got {transfer!r}. Use one of them."
        )
    if chosen != "predict" and not data.pairwise:
        data.numbers  # noqa: B018  refused in a sentence before the work begins
    return chosen


def transfer_of(estimator: Any, pairwise: bool) -> str:
    """What "auto" is for an estimator."""
    if hasattr(estimator, "predict") and not pairwise:
        return "predict"
    while isinstance(estimator, Pipeline):
        _, estimator = estimator.steps[-1]
    linkage = getattr(estimator, "linkage", None)
    if type(estimator).__name__ in CONNECTED:
        return "nearest"
    known = LINKAGES.get(str(linkage))
    return (known and known.nearest) or ("nearest" if pairwise else "centroid")


def transfer_labels(
    data: Data, rows: NDArray[np.intp], clusters: NDArray[np.int32], others: NDArray[np.intp], transfer: str
) -> NDArray[np.int32]:
    """(len(others),) cluster of other objects, by the clusters 0 to k - 1 of some; -1 for all where there is none.

    "centroid": of the cluster with the nearest mean; "nearest": of the nearest object; "average": of the cluster with
    the least mean distance to its objects. Objects in no cluster, -1, have no part in it.
    """
    rows, clusters = rows[clusters >= 0], clusters[clusters >= 0]
    if not len(rows):
        return np.full(len(others), -1, dtype=np.int32)
    k = int(clusters.max()) + 1
    if data.pairwise:
        return _assign_by_distances(data.cross_distances(others, rows), clusters, k, transfer)
    X, new = data.numbers[rows], data.numbers[others]
    if transfer == "centroid":
        sums, sizes = member_sums(X, clusters, k)
        return np.asarray(pairwise_distances_argmin(new, sums / sizes[:, None]), dtype=np.int32)
    if transfer == "nearest":
        return clusters[nearest_rows(X, new)]
    blocks = row_blocks(len(others), max(1, DISTANCES // len(rows)))
    return np.concatenate([_assign_by_distances(pairwise_distances(new[b], X), clusters, k, transfer) for b in blocks])


def _assign_by_distances(distances: Any, clusters: NDArray[np.int32], k: int, transfer: str) -> NDArray[np.int32]:
    """(m,) cluster of m objects by their (m, n) distances to those that have one."""
    distances = distances.toarray() if issparse(distances) else distances
    if transfer == "nearest":
        return np.asarray(clusters[distances.argmin(axis=1)])
    of_cluster = np.eye(k)[clusters]
    return np.asarray((distances @ of_cluster / of_cluster.sum(axis=0)).argmin(axis=1), dtype=np.int32)
