"""Which clusters are reproduced, in resamples of the data (Hennig's clusterboot) or by the members of an ensemble.

How well another partition reproduces a cluster is the largest Jaccard similarity of the sets.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import FitFailedWarning

from ensemblage.base.random import task_seeds
from ensemblage.base.renamed import renamed_parameters
from ensemblage.base.text import backend_of
from ensemblage.base.validation import (
    MOST_TASKS,
    Jobs,
    check_choice,
    check_fitted,
    check_flag,
    check_progress,
    check_value,
    check_weights,
    check_whole,
)
from ensemblage.counting._pairs import LARGE_TABLE
from ensemblage.generation._clusterers import error_text, failures_text, fold_warnings, run_all
from ensemblage.labels.counts import count_labels
from ensemblage.labels.ensemble import Ensemble, as_ensemble
from ensemblage.stability._records import ClusterStability, cluster_row
from ensemblage.stability._resamples import (
    CLUSTERER,
    FRACTIONS,
    Data,
    Resample,
    Scheme,
    check_data,
    check_resamples,
    fresh,
    labels_of,
)


class SharedCounts(NamedTuple):
    """The contingency table of two partitions, where it is not zero; the last number of each stands for noise."""

    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    counts: NDArray[np.int64]
    """Objects in both."""

    @classmethod
    def of_table(cls, table: NDArray[np.int64]) -> SharedCounts:
        rows, columns = np.nonzero(table)
        return cls(rows, columns, table[rows, columns])

    def adjusted_rand(self) -> float:
        """The adjusted Rand index of both partitions, noise a cluster like the others: bitwise scikit-learn's."""
        n, both = int(self.counts.sum()), _sum_of_squares(self.counts)
        one, other = (_sum_of_squares(np.bincount(of, self.counts)) for of in (self.rows, self.columns))
        joined, of_one, of_other = both - n, one - both, other - both
        apart = n * n - one - other + both
        if of_one == of_other == 0:
            return 1.0
        pairs = (joined + of_one) * (of_one + apart) + (joined + of_other) * (of_other + apart)
        return 2.0 * (joined * apart - of_one * of_other) / pairs


def _sum_of_squares(counts: NDArray[Any]) -> int:
    """Of whole numbers."""
    return int(np.square(counts.astype(np.int64)).sum())


def cells_of(a: NDArray[Any], b: NDArray[Any], counts: NDArray[np.int64], height: int, width: int) -> SharedCounts:
    """The table of codes a < height and b < width of the same objects, each as often as it counts.

    O(n) time; by sorting, in O(n log n), where the whole table would be far larger than the data.
    """
    if height * width > max(2**16, 4 * len(a)):
        keys, places = np.unique(a.astype(np.int64) * width + b, return_inverse=True)
        return SharedCounts(*np.divmod(keys, width), np.bincount(places, counts).astype(np.int64))
    table = np.bincount(a.astype(np.int64) * width + b, counts, height * width)
    return SharedCounts.of_table(table.astype(np.int64).reshape(height, width))


def best_jaccard(cells: SharedCounts, n_rows: int, n_columns: int) -> NDArray[np.float64]:
    """(n_rows + 1,) the largest Jaccard similarity of each cluster with a cluster of the other partition.

    The last entry compares noise, code ``n_rows``, with noise, code ``n_columns``; no cluster is compared with noise,
    but the sizes count it. NaN for a cluster without objects.
    """
    sizes = np.bincount(cells.rows, cells.counts, n_rows + 1)
    others = np.bincount(cells.columns, cells.counts, n_columns + 1)
    similar = cells.counts / (sizes[cells.rows] + others[cells.columns] - cells.counts)
    alike = (cells.rows == n_rows) == (cells.columns == n_columns)
    best = np.where(sizes > 0, 0.0, np.nan)
    np.maximum.at(best, cells.rows[alike], similar[alike])
    return best


def encode_noise(labels: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """Labels with noise, whatever is negative, as the number after the last; and that number, at most their length."""
    is_noise, n_labels = labels < 0, int(labels.max(initial=-1)) + 1
    if n_labels > len(labels):
        used, labels = np.unique(labels, return_inverse=True)
        n_labels = len(used)
    return np.where(is_noise, n_labels, labels), n_labels


PLACES = {
    "bootstrap": "bootstraps",
    "subsample": "subsamples",
    "jitter": "jittered copies",
    "noise": "noisy copies",
    "given": "given resamples",
}
"""What each scheme makes, in sentences."""


class Reference(NamedTuple):
    """The clusters whose stability is asked for."""

    names: list[Any]
    """(k,) their labels, ascending."""
    clusters: NDArray[Any]
    """(n,) place among them; k for objects in no cluster."""


class _Failure(NamedTuple):
    """A resample that could not be clustered."""

    name: str
    error: Exception


@renamed_parameters(clustering="partition")
def cluster_stability(
    estimator: Any,
    X: ArrayLike | Any,
    partition: ArrayLike | None = None,
    *,
    scheme: Literal["bootstrap", "subsample", "jitter", "noise"] = "bootstrap",
    n_resamples: int = 100,
    tuning: float | None = None,
    resamples: Sequence[ArrayLike] | None = None,
    keep_duplicates: bool = False,
    not_drawn: Literal["skip", "zero"] = "skip",
    on_error: Literal["warn", "raise"] = "warn",
    n_jobs: int | None = None,
    random_state: Any = None,
    progress: Callable[[int, int], None] | None = None,
) -> ClusterStability:
    """Use it to check the clusters of a clusterer: how well resamples reproduce each one (Hennig's clusterboot).

    The estimator clusters every resample. A cluster, restricted to the objects that were drawn, is compared with the
    cluster of the resample that is most like it: the largest Jaccard similarity, |both| / |either|.

    Parameters
    ----------
    estimator : clusterer
        Anything with ``fit_predict``, as the clusterers and mixtures of scikit-learn, pipelines that end in one, and
        ``ConsensusClustering``; with ``predict`` or without. Every ``random_state`` of it is set in a copy.
    X : array-like, sparse matrix or data frame of shape (n_objects, n_features)
        The features; sparse where the estimator takes it. Rows of a data frame stay one, for estimators that read its
        columns. For an estimator with ``metric="precomputed"``, the (n_objects, n_objects) distances.
    partition : array-like of shape (n_objects,), optional
        The clusters whose stability is asked for, numbers or text; -1 and NaN are in none. Default: those that the
        estimator finds in X.
    scheme : {"bootstrap", "subsample", "jitter", "noise"}, default "bootstrap"
        What is clustered again. Objects drawn with replacement, each of them once; a part of the objects; all objects,
        moved by normal noise along each principal axis; all objects, some of them replaced by noise that is uniform
        within 4 standard deviations of each principal axis, and left out of the comparison.
    n_resamples : int, default 100
        How many. The similarities of a cluster have a standard deviation of .2 or less, as a rule: the mean of 100 is
        known to ± .02, a fifth of the steps between the verdicts.
    tuning : float, optional
        What the scheme does by halves, in (0, 1]: draws, as a part of the objects (default 1.0 for "bootstrap", 0.5 for
        "subsample"); the quantile of the gaps between neighbours on an axis that is the standard deviation of "jitter"
        (0.05); the part of the objects that "noise" replaces (0.05). The defaults are those of fpc.
    resamples : sequence of array-like of int, optional
        Row numbers of the objects of each resample, instead of drawing them.
    keep_duplicates : bool, default False
        Whether an object that was drawn repeatedly is clustered, and counted, as often. Copies of objects make clusters
        seem denser than they are.
    not_drawn : {"skip", "zero"}, default "skip"
        What a resample without any object of a cluster counts for it: nothing, or a similarity of 0, as in fpc, which
        punishes small clusters.
    on_error : {"warn", "raise"}, default "warn"
        What a resample does that the estimator fails on: it is left out with one warning that names it, or the error is
        raised. All failing raises.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the draws and of every partition.
    progress : callable or None, default=None
        Called as ``progress(done, total)`` after every resample, by the calling thread. An error that it raises ends
        the work. No result depends on it.

    Returns
    -------
    ClusterStability
        ``table`` with a row per cluster (mean Jaccard similarity, resamples in which it was dissolved and recovered,
        verdict, sentence), ``jaccard``, ``noise``; ``to_frame()``, ``plot()``.

    Raises
    ------
    ValueError
        If a parameter is out of its range, X has fewer than 2 rows, the labels do not fit, or every resample fails.
    TypeError
        If the estimator has no ``fit_predict`` or ``resamples`` is no list.

    See Also
    --------
    partition_stability : The same for the members of an ensemble: other methods instead of other data.
    prediction_strength : Whether a number of clusters is supported.

    Notes
    -----
    A mean of .85 or more is "very stable", of .75 "stable", from .6 to .75 "doubtful": there is a pattern, but which
    objects belong to it is open. The bounds are conventions. Stability is necessary and not sufficient: two halves of
    an elongated cloud are reproduced, too; and of two clusters that are merged in a resample, the larger looks stable.
    On Gaussian designs, bootstrap and subsamples called 97 % or more of the planted clusters stable, 15 to 30 % of the
    parts of one (docs/CONFIDENCE.md). "jitter" with its default ``tuning`` is too little noise to tell.

    The objects in no cluster (-1, noise of DBSCAN) are compared with those of the resample, and with no cluster.

    Time: ``n_resamples`` fits and O(n) for each comparison, by threads; "jitter" and "noise" O(n d min(n, d)) once.
    Memory: O(n d) for each resample that is being clustered, and what the estimator itself takes.

    References
    ----------
    C. Hennig, "Cluster-wise assessment of cluster stability", Computational Statistics & Data Analysis 52, 2007.
    C. Hennig, fpc: flexible procedures for clustering, R package: ``clusterboot``.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> from ensemblage.stability import cluster_stability
    >>> X = load_iris().data
    >>> found = cluster_stability(KMeans(2, n_init=10), X, n_resamples=20, random_state=0)
    >>> found
    ClusterStability: 2 clusters in 20 bootstraps: clusters 0 and 1 very stable.
    cluster  size  mean Jaccard  dissolved  recovered  not drawn      verdict
          0    97         0.998          0         20          0  very stable
          1    53         0.997          0         20          0  very stable
    >>> found.table[0].sentence
    'Cluster 0 (97 objects) is very stable; mean Jaccard 1.00, dissolved in 0 and recovered in 20 of 20 bootstraps.'
    """
    name = "cluster_stability"
    check_value(estimator, f"estimator of {name}", [CLUSTERER])
    check_choice(scheme, f"scheme of {name}", tuple(FRACTIONS))
    check_whole(n_resamples, f"n_resamples of {name}", 1, MOST_TASKS)
    check_flag(keep_duplicates, f"keep_duplicates of {name}")
    check_choice(not_drawn, f"not_drawn of {name}", ("skip", "zero"))
    check_choice(on_error, f"on_error of {name}", ("warn", "raise"))
    check_value(n_jobs, f"n_jobs of {name}", [Jobs()])
    check_progress(progress, f"progress of {name}")
    data = check_data(X, estimator, name)
    if resamples is not None and (tuning is not None or scheme != "bootstrap"):
        raise ValueError(
            f"resamples of {name} must be None if scheme or tuning is given. Got resamples with "
            f"scheme={scheme!r} and tuning={tuning}. Leave these out."
        )
    drawn = Scheme(scheme, data, tuning, keep_duplicates)
    given = None if resamples is None else check_resamples(resamples, len(data), name)
    n = n_resamples if given is None else len(given)
    reference_seed, *draws = task_seeds(random_state, 1 + 2 * n).tolist()
    if partition is None:
        reference = _fit_reference(estimator, data, reference_seed)
    else:
        reference = check_reference(partition, len(data), f"partition of {name}")

    def compare(i: int) -> NDArray[np.float64] | _Failure:
        resample = drawn.draw(draws[2 * i]) if given is None else drawn.resample_of(given[i])
        try:
            again = labels_of(fresh(estimator, draws[2 * i + 1]), resample.X, len(resample.objects))
        except Exception as error:
            return _Failure(f"resample {i} ({len(resample.objects)} of {len(data)} objects)", error)
        return _similarities(reference, resample, again)

    def ends(outcome: Any) -> bool:
        return on_error == "raise" and isinstance(outcome, _Failure)

    with fold_warnings():
        outcomes = run_all(compare, range(n), n_jobs, ends, progress, "resample")
        similar = np.array(_drop_failures(outcomes, n, on_error)).T
    places = PLACES[scheme if given is None else "given"]
    return _stability(reference, similar, np.ones(similar.shape[1]), places, backend_of(X), not_drawn == "zero")


@renamed_parameters(clustering="partition")
def partition_stability(
    partition: Any, labels: ArrayLike | Any = None, *, weights: ArrayLike | None = None
) -> ClusterStability:
    """Use it to check clusters without new fits: how often the members of an ensemble reproduce each one.

    Parameters
    ----------
    partition : array-like of shape (n_objects,) or fitted clusterer
        The clusters, numbers or text, -1 and NaN in none; or a model with ``labels_``.
    labels : array-like, data frame or Ensemble of shape (n_objects, n_partitions), optional
        The ensemble. -1 and NaN mean missing. Default: ``ensemble_`` of the model.
    weights : array-like of shape (n_partitions,), optional
        Weights of the partitions in the means, ≥ 0; 0 leaves one out. Default: equal.

    Returns
    -------
    ClusterStability
        As of `cluster_stability`; a comparison is a member, and a cluster is not drawn where the member labels none of
        its objects.

    Raises
    ------
    ValueError
        If the partition has another number of objects, or the weights do not fit.

    See Also
    --------
    cluster_stability : The same for resamples: other data instead of other methods.

    Notes
    -----
    Members with more clusters than the partition have parts of its clusters: a low similarity says that the members
    do not have *this* cluster, not that they contradict it. Objects that a member does not label are left out of the
    comparison with it.

    O(n p) time; 8 bytes per cluster and label, or partition by partition where that is large.

    Examples
    --------
    >>> from ensemblage.stability import partition_stability
    >>> labels = [[0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 2, 1]]
    >>> partition_stability(["a", "a", "b", "b"], labels)
    ClusterStability: 2 clusters in 3 members: cluster a stable; cluster b doubtful.
    cluster  size  mean Jaccard  dissolved  recovered  not drawn   verdict
          a     2         0.833          1          2          0    stable
          b     2         0.722          1          1          0  doubtful
    """
    if labels is None and hasattr(partition, "fit") and hasattr(partition, "ensemble_"):
        labels = partition.ensemble_
    if hasattr(partition, "fit"):
        check_fitted(partition, "labels_")
        partition = partition.labels_
    if labels is None:
        raise ValueError(
            "labels of partition_stability must be an ensemble, unless the partition is a model with ensemble_. "
            "Got None. Give the label matrix."
        )
    ensemble = as_ensemble(labels)
    w = check_weights(weights, ensemble.shape[1], "partition_stability")
    ensemble, w = ensemble.select(w > 0), w[w > 0]
    reference = check_reference(partition, len(ensemble), "partition of partition_stability")
    sizes, k = np.diff(ensemble.offsets) - 1, len(reference.names)
    similar = [
        best_jaccard(cells, k, int(size)) for cells, size in zip(_tables(ensemble, reference), sizes, strict=True)
    ]
    return _stability(reference, np.array(similar).T, w, "members", backend_of(labels))


def _tables(ensemble: Ensemble, reference: Reference) -> Iterator[SharedCounts]:
    """The contingency table of the clusters with each partition, on the objects that this one labels."""
    height, n = len(reference.names) + 1, len(ensemble)
    counts = np.ones(n, dtype=np.int64)
    if height * ensemble.offsets[-1] <= min(LARGE_TABLE, n * ensemble.shape[1]):
        profile = count_labels(ensemble.rows, reference.clusters, counts, ensemble.offsets, height)
        for start, stop in pairwise(ensemble.offsets.tolist()):
            yield SharedCounts.of_table(profile[:, start : stop - 1])
        return
    for j, width in enumerate(ensemble.n_clusters.tolist()):
        column = np.ascontiguousarray(ensemble.rows[:, j])
        labelled = column < width
        yield cells_of(reference.clusters[labelled], column[labelled], counts[labelled], height, width)


def _fit_reference(estimator: Any, data: Data, seed: int) -> Reference:
    try:
        labels = labels_of(fresh(estimator, seed), data.whole, len(data))
    except Exception as error:
        raise ValueError(
            f"The estimator of cluster_stability must cluster X. Got {error_text(error)}. Change the estimator or X."
        ) from error
    names, clusters = np.unique(labels[labels >= 0], return_inverse=True)
    placed = np.full(len(labels), len(names), dtype=np.int32)
    placed[labels >= 0] = clusters
    return Reference(names.tolist(), placed)


def check_reference(labels: ArrayLike | Any, n: int, subject: str) -> Reference:
    coded_labels = Ensemble.from_partitions([labels], names=[subject])
    if len(coded_labels) != n:
        raise ValueError(
            f"{subject} must be one for each of the {n} objects. Got {len(coded_labels)}. "
            "Mark objects without a cluster as -1."
        )
    return Reference(coded_labels.categories[0].tolist(), coded_labels.codes[:, 0].astype(np.int32))


def _similarities(reference: Reference, resample: Resample, again: NDArray[np.int32]) -> NDArray[np.float64]:
    """(k + 1,) of each cluster in a resample, noise last."""
    k, kept = len(reference.names), resample.objects >= 0
    found, n_found = encode_noise(again)
    before, found = reference.clusters[resample.objects[kept]], found[kept]
    cells = cells_of(before, found, np.ones(len(found), dtype=np.int64), k + 1, n_found + 1)
    return best_jaccard(cells, k, n_found)


def _drop_failures(outcomes: Sequence[Any], n: int, on_error: str) -> list[NDArray[np.float64]]:
    failed = [outcome for outcome in outcomes if isinstance(outcome, _Failure)]
    failures_said = failures_text(failed)
    if failed and on_error == "raise":
        raise ValueError(
            f"cluster_stability must cluster every resample. Got an error for {failures_said}. "
            "Change the estimator, or leave such resamples out with on_error='warn'."
        ) from failed[0].error
    if failed and len(failed) == len(outcomes):
        raise ValueError(
            f"cluster_stability must cluster at least one resample. Got errors for all {n}: {failures_said}. "
            "Change the estimator."
        ) from failed[0].error
    if failed:
        text = f"{len(failed)} of {n} resamples failed and are left out: {failures_said}"
        warnings.warn(text, FitFailedWarning, stacklevel=4)  # at the caller of the decorated cluster_stability
    return [outcome for outcome in outcomes if not isinstance(outcome, _Failure)]


def _stability(
    reference: Reference,
    similar: NDArray[np.float64],
    weights: NDArray[np.float64],
    places: str,
    backend: str | None,
    zero: bool = False,
) -> ClusterStability:
    """The record of (k + 1, p) similarities, noise last, and (p,) weights of the comparisons."""
    k = len(reference.names)
    sizes = np.bincount(reference.clusters, minlength=k + 1).tolist()
    rows = [
        cluster_row(name, size, found, weights, places, zero=zero)
        for name, size, found in zip([*reference.names, None], sizes, similar, strict=True)
    ]
    noise = rows.pop() if places != "members" and sizes[k] else None
    labels = np.where(reference.clusters == k, -1, reference.clusters).astype(np.int32)
    jaccard = np.nan_to_num(similar[:k]) if zero else similar[:k]
    return ClusterStability(rows[:k], noise, jaccard, labels, places, backend)
