"""The clusters of a consensus: their sizes and their confidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.base.renamed import renamed_parameters
from ensemblage.base.validation import MOST_OBJECTS, check_numbers, check_whole, format_value

from ._axes import (
    UNLABELLED_COLOR,
    Axes,
    axes_or_new,
    cluster_colors,
    in_style,
    label_ticks,
    remove_frame,
    whole_numbers,
)
from ._models import is_model

_MOST_NUMBERS = 12
_TINY = 10
"""Up to this many objects are drawn one by one: quartiles of so few say nothing."""
_QUANTILES = (5, 25, 50, 75, 95)


@in_style
def cluster_sizes(sizes: ArrayLike | Any, *, unlabelled: int = 0, ax: Axes | None = None) -> Axes:
    """Bars of the sizes of the clusters.

    Parameters
    ----------
    sizes : array-like of int, shape (k,), or fitted model
        Objects in cluster 0, 1, and so on; or the model of them.
    unlabelled : int, default 0
        Objects that no partition labels: one grey bar at the end.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    Examples
    --------
    >>> from ensemblage.plotting import cluster_sizes
    >>> cluster_sizes([50, 62, 38]).get_ylabel()
    'objects'
    """
    if is_model(sizes):
        labels = sizes.labels_
        sizes, unlabelled = np.bincount(labels[labels >= 0]), int((labels < 0).sum())
    ax = axes_or_new(ax)
    counts = whole_numbers(sizes, "sizes of cluster_sizes", ("k",))
    unlabelled = check_whole(unlabelled, "unlabelled of cluster_sizes", 0, MOST_OBJECTS)
    clusters = np.arange(len(counts))
    bars = ax.bar(clusters, counts, width=0.8, color=cluster_colors(clusters))
    if len(counts) <= _MOST_NUMBERS:
        ax.bar_label(bars, labels=[f"{count:,}" for count in counts.tolist()], padding=2)
    if unlabelled:
        rest = ax.bar(len(counts) + 0.3, unlabelled, width=0.8, color=UNLABELLED_COLOR)
        ax.bar_label(rest, labels=[f"{unlabelled:,} unlabelled"], padding=4, rotation=90)
    label_ticks(ax, "x", clusters.tolist(), clusters.tolist(), most=20)
    ax.yaxis.set_major_formatter("{x:,.0f}")
    ax.margins(x=0.02, y=0.1)
    return remove_frame(ax, xlabel="cluster", ylabel="objects")


@renamed_parameters(clustering="partition")
@in_style
def confidence_by_cluster(
    confidence: ArrayLike | Any, partition: ArrayLike | None = None, *, ax: Axes | None = None
) -> Axes:
    """Distribution of the confidence of the objects, cluster by cluster.

    A cluster of more than ten objects is a box (middle half), a line (median) and whiskers (5 % and 95 %); the objects
    of a smaller one are drawn one by one. O(n log n) time, O(n) memory.

    Parameters
    ----------
    confidence : array-like of float, shape (n,), or fitted model
        ``confidence_`` of a consensus; or the consensus itself.
    partition : array-like of int, shape (n,), optional
        Its ``labels_``; not with a model. Objects without a cluster, negative, and without a confidence are left out.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    Examples
    --------
    >>> from ensemblage.plotting import confidence_by_cluster
    >>> confidence_by_cluster([0.9, 0.8, 0.4, 0.5], [0, 0, 1, 1]).get_ylabel()
    'confidence'
    """
    if is_model(confidence):
        confidence, partition = confidence.confidence_, confidence.labels_
    return confidence_boxes(confidence_quantiles(confidence, [] if partition is None else partition), ax=ax)


def confidence_quantiles(confidence: ArrayLike, partition: ArrayLike) -> list[dict[str, Any]]:
    """The numbers that `confidence_by_cluster` draws.

    Parameters
    ----------
    confidence : array-like of float, shape (n,)
        ``confidence_`` of a consensus. NaN is left out.
    partition : array-like of int, shape (n,)
        ``labels_`` of the consensus. Objects with a negative label are left out.

    Returns
    -------
    list of dict
        For each cluster from 0 to the largest number: ``cluster``, ``mean``, ``q5``, ``q25``, ``q50``, ``q75``, ``q95``
        (None where no object has a confidence), and ``values``, the sorted confidences of at most ten objects, else
        None.

    Examples
    --------
    >>> from ensemblage.plotting._clusters import confidence_quantiles
    >>> confidence_quantiles([0.25, 0.75], [0, 0])[0]["mean"]
    0.5
    """
    values = check_numbers(confidence, "confidence", ("n",))
    labels = whole_numbers(partition, "clusters, one per confidence,", (len(values),))
    known = (labels >= 0) & np.isfinite(values)
    order = np.lexsort((values[known], labels[known]))
    values, known_labels = values[known][order], labels[known][order]
    n_clusters = int(labels.max(initial=-1)) + 1
    cuts = np.searchsorted(known_labels, np.arange(1, n_clusters))
    return [_quantiles(cluster, part) for cluster, part in enumerate(np.split(values, cuts)) if cluster < n_clusters]


def _quantiles(cluster: int, values: NDArray[np.float64]) -> dict[str, Any]:
    found = np.percentile(values, _QUANTILES).tolist() if len(values) else [None] * len(_QUANTILES)
    return {
        "cluster": cluster,
        "mean": float(values.mean()) if len(values) else None,
        **{f"q{q}": value for q, value in zip(_QUANTILES, found, strict=True)},
        "values": values.tolist() if len(values) <= _TINY else None,
    }


@in_style
def confidence_boxes(quantiles: Sequence[dict[str, Any]], *, ax: Axes | None = None) -> Axes:
    """Draw what `confidence_quantiles` returns.

    Parameters
    ----------
    quantiles : sequence of dict
        One entry per cluster, in order.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    Examples
    --------
    >>> from ensemblage.plotting._clusters import confidence_boxes, confidence_quantiles
    >>> confidence_boxes(confidence_quantiles([0.9, 0.4], [0, 1])).get_xlabel()
    'cluster'
    """
    ax = axes_or_new(ax)
    if not isinstance(quantiles, Sequence) or not all(
        isinstance(q, dict) and {"cluster", "values", "mean", "q95"} <= q.keys() for q in quantiles
    ):
        raise TypeError(
            f"quantiles of confidence_boxes must be what confidence_quantiles returns. Got {format_value(quantiles)}. "
            "Call confidence_quantiles first."
        )
    boxes = [q for q in quantiles if q["values"] is None]
    x = np.array([q["cluster"] for q in boxes], dtype=np.int64)
    draw_boxes(ax, x, np.array([[q[f"q{p}"] for q in boxes] for p in _QUANTILES]), cluster_colors(x))
    few = [q for q in quantiles if q["values"]]
    small_clusters = np.repeat([q["cluster"] for q in few], [len(q["values"]) for q in few])
    values = np.array([value for q in few for value in q["values"]])
    ax.scatter(small_clusters, values, s=18, color=cluster_colors(small_clusters), alpha=0.8, linewidths=0)
    clusters = [q["cluster"] for q in quantiles]
    label_ticks(ax, "x", clusters, clusters, most=20)
    top = max([value for q in quantiles for value in q["values"] or [q["q95"] or 0.0]], default=0.0)
    ax.set_xlim(-0.6, max(len(clusters), 1) - 0.4)
    return remove_frame(ax, xlabel="cluster", ylabel="confidence", ylim=(0, 1.02 if top > 0.5 else 1.2 * top or 1.02))


def draw_boxes(ax: Axes, x: NDArray[Any], quantiles: NDArray[np.float64], colors: NDArray[np.float64]) -> None:
    """Boxes at k places from their (5, k) quantiles."""
    q5, q25, q50, q75, q95 = quantiles
    ax.vlines(x, q5, q95, color=colors, linewidth=1.5)
    ax.bar(x, q75 - q25, bottom=q25, width=0.6, color=0.55 + 0.45 * colors, edgecolor=colors, linewidth=1.2)
    ax.hlines(q50, x - 0.3, x + 0.3, color="black", linewidth=1.8)
