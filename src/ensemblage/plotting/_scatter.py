"""The objects: in two dimensions, and their soft memberships in clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.base.renamed import renamed_parameters
from ensemblage.base.validation import check_numbers, check_whole

from ._axes import (
    UNLABELLED_COLOR,
    Axes,
    axes_or_new,
    check_length,
    check_sizes,
    cluster_colors,
    heat_map,
    in_style,
    label_ticks,
    remove_frame,
    whole_numbers,
    whole_ticks,
)
from ._models import is_model, two_components

_FAINTEST = 0.12
_NAME_DISTANCE = 0.06
_MOST_NAMED = 60


@renamed_parameters(clustering="partition")
@in_style
def scatter(
    points: ArrayLike, partition: ArrayLike | Any, confidence: ArrayLike | None = None, *, ax: Axes | None = None
) -> Axes:
    """Objects as points: the colour is the cluster, the opacity the confidence, a number marks each cluster.

    Of more than 60 clusters the largest 60 are marked. The points are rasterised, so that a figure saved as SVG or PDF
    stays small. O(n) time and memory.

    Parameters
    ----------
    points : array-like of float, shape (n, 2)
        Coordinates.
    partition : array-like of int, shape (n,), or fitted model
        ``labels_`` of a consensus; negative ones are grey and named "unlabelled". With a model, ``points`` may be more
        than two features: their first two principal components are drawn.
    confidence : array-like of float, shape (n,), optional
        ``confidence_`` of the consensus; that of the model, if there is one. The largest is drawn opaque, 0 and NaN
        faintest.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    Examples
    --------
    >>> from ensemblage.plotting import scatter
    >>> len(scatter([[0, 0], [1, 1]], [0, 1], [0.9, 0.4]).texts)
    2
    """
    if is_model(partition):
        confidence = partition.confidence_ if confidence is None else confidence
        points, partition = two_components(points), partition.labels_
    ax = axes_or_new(ax, 4.8, 4.1)
    xy = check_numbers(points, "points of scatter", ("n", 2))
    labels = whole_numbers(partition, "partition of scatter", (len(xy),))
    given = np.ones(len(xy)) if confidence is None else check_numbers(confidence, "confidence of scatter", (len(xy),))
    sure = np.nan_to_num(given)
    top = float(sure.max(initial=0)) or 1.0
    opacity = np.where(labels < 0, 0.6, _opacity(sure / top))
    size = float(np.clip(12_000 / max(len(labels), 1), 6, 30))
    ax.scatter(
        xy[:, 0], xy[:, 1], s=size, c=np.column_stack([cluster_colors(labels), opacity]), linewidths=0, rasterized=True
    )
    for cluster, i in name_places(xy, labels):
        x, y = xy[i].tolist()
        box = {"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": cluster_colors(cluster), "alpha": 0.85}
        ax.text(x, y, str(cluster), ha="center", va="center", fontsize="small", bbox=box)
    _explain(ax, None if confidence is None else top, bool((labels < 0).any()))
    return remove_frame(ax)


def name_places(xy: NDArray[np.float64], labels: NDArray[np.int64]) -> list[tuple[int, int]]:
    """The largest 60 clusters, and the point of each at which its number is drawn, (n, 2)."""
    span = np.ptp(xy, axis=0, keepdims=True) if len(xy) else np.ones((1, 2))
    scaled = xy / np.where(span > 0, span, 1)
    taken: list[int] = []
    clusters, sizes = np.unique(labels[labels >= 0], return_counts=True)
    named = np.sort(clusters[np.argsort(-sizes, kind="stable")[:_MOST_NAMED]]).tolist()
    for cluster in named:
        taken.append(_name_place(scaled, np.flatnonzero(labels == cluster), taken))
    return list(zip(named, taken, strict=True))


def _name_place(xy: NDArray[np.float64], members: NDArray[np.intp], taken: list[int]) -> int:
    """The member nearest to the cluster's median that hides no other name; else the one farthest from them."""
    order = members[np.argsort(((xy[members] - np.median(xy[members], axis=0)) ** 2).sum(axis=1), kind="stable")]
    if not taken:
        return int(order[0])
    free = np.min([((xy[order] - xy[other]) ** 2).sum(axis=1) for other in taken], axis=0)
    clear = free >= _NAME_DISTANCE**2
    return int(order[np.argmax(clear) if clear.any() else np.argmax(free)])


def _explain(ax: Axes, top: float | None, unlabelled: bool) -> None:
    shares = () if top is None else (0.0, 0.5, 1.0)
    entries = [("0.3", float(_opacity(share)), f"{share * (top or 1):.2f}") for share in shares]
    if unlabelled:
        entries.append((UNLABELLED_COLOR, 0.6, "unlabelled"))
    for color, alpha, name in entries:
        ax.scatter([], [], s=30, color=color, alpha=alpha, linewidths=0, label=name)
    if entries:
        title = "confidence" if shares else None
        ax.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=4, title=title)


def _opacity(share: ArrayLike) -> NDArray[np.float64]:
    return _FAINTEST + (1 - _FAINTEST) * np.clip(share, 0, 1)


@in_style
def entropy_scatter(points: ArrayLike, entropy: ArrayLike, *, ax: Axes | None = None) -> Axes:
    """Objects as points, coloured by the entropy of their membership: dark where they lie between clusters.

    Parameters
    ----------
    points : array-like of float, shape (n, 2)
        Coordinates.
    entropy : array-like of float, shape (n,)
        ``metrics.membership_entropy``, from 0 to 1. NaN is drawn as a small grey dot.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    Examples
    --------
    >>> from ensemblage.plotting._scatter import entropy_scatter
    >>> len(entropy_scatter([[0, 0], [1, 1]], [0.0, 1.0]).collections)
    1
    """
    ax = axes_or_new(ax, 4.8, 4.1)
    xy = check_numbers(points, "points of entropy_scatter", ("n", 2))
    values = check_numbers(entropy, "entropy of entropy_scatter", (len(xy),))
    known = ~np.isnan(values)
    order = np.flatnonzero(known)[np.argsort(values[known], kind="stable")]
    size = float(np.clip(12_000 / max(len(xy), 1), 6, 30))
    style: dict[str, Any] = {"linewidths": 0, "rasterized": True}
    if not known.all():
        ax.scatter(xy[~known, 0], xy[~known, 1], s=size / 3, color=UNLABELLED_COLOR, **style)
    drawn = ax.scatter(xy[order, 0], xy[order, 1], s=size, c=values[order], cmap="viridis_r", vmin=0, vmax=1, **style)
    ax.figure.colorbar(drawn, ax=ax, label="entropy of the membership (1 = undecided)", fraction=0.05, pad=0.03)
    return remove_frame(ax)


# -- soft memberships --------------------------------------------------------------------------------------------------


_PIXELS = 600


@renamed_parameters(clustering="partition")
@in_style
def membership(
    membership: ArrayLike,
    partition: ArrayLike,
    *,
    sizes: ArrayLike | None = None,
    names: Sequence[object] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Heat map of soft memberships: a row per object, ordered by cluster and then by confidence.

    O(r k + 600 k) time and memory for r rows.

    Parameters
    ----------
    membership : array-like of float, shape (r, k)
        ``membership_`` of a consensus, from 0 to 1; NaN is grey.
    partition : array-like of int, shape (r,)
        ``labels_``; negative ones are drawn last.
    sizes : array-like of float, shape (r,), optional
        How many objects each row stands for: it is drawn that high. Default: one.
    names : sequence of k, optional
        What the clusters are called. Default: their numbers from 0.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    Examples
    --------
    >>> from ensemblage.plotting import membership
    >>> membership([[0.9, 0.1], [0.4, 0.6]], [0, 1]).get_xlabel()
    'cluster'
    """
    ax = axes_or_new(ax, 4.2, 4.1)
    rows, labels, own = _check_shares(membership, partition, "membership", "membership")
    heights = check_sizes(sizes, len(rows), "sizes of membership")
    order = np.lexsort((-own, np.where(labels < 0, rows.shape[1], labels)))
    ends = np.cumsum(heights[order])
    n_pixels = min(_PIXELS, len(order)) if sizes is None else _PIXELS
    shown = order[np.searchsorted(ends[:-1], (np.arange(n_pixels) + 0.5) / n_pixels * ends[-1], side="right")]
    k = rows.shape[1]
    heat_map(ax, rows[shown], (-0.5, k - 0.5, float(ends[-1]), 0), "membership", "Blues")
    last = np.flatnonzero(np.diff(labels[order]))
    ax.hlines(ends[last], -0.5, k - 0.5, color="0.5", linewidth=0.5)
    check_length(names, k, "names of membership")
    label_ticks(ax, "x", range(k), range(k) if names is None else names)
    whole_ticks(ax.yaxis)
    ax.set(xlabel="cluster", ylabel="objects, ordered by cluster")
    ax.spines[:].set_visible(False)
    return ax


@renamed_parameters(clustering="partition")
@in_style
def item_consensus_bars(
    item_consensus: ArrayLike, partition: ArrayLike, *, most: int = 200, ax: Axes | None = None
) -> Axes:
    """Stacked bars: the consensus of each object with every cluster, objects ordered by their own cluster.

    Within a cluster the surest object is on the left. Of more than ``most`` objects an even choice is drawn.

    Parameters
    ----------
    item_consensus : array-like of float, shape (n, k)
        What ``metrics.item_consensus`` returns; objects with NaN are left out.
    partition : array-like of int, shape (n,)
        Cluster of each object, columns of ``item_consensus``; negative ones are left out.
    most : int, default 200
        Objects to draw.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    Examples
    --------
    >>> from ensemblage.plotting import item_consensus_bars
    >>> len(item_consensus_bars([[0.9, 0.2], [0.8, 0.1], [0.1, 0.7]], [0, 0, 1]).patches)
    6
    """
    ax = axes_or_new(ax, 6.4, 3.6)
    shares, labels, own = _check_shares(item_consensus, partition, "item_consensus", "item_consensus_bars")
    check_whole(most, "most of item_consensus_bars", 1)
    order = np.lexsort((-own, labels))
    order = order[(labels[order] >= 0) & np.isfinite(own[order])]
    order = order[np.linspace(0, len(order) - 1, min(most, len(order))).round().astype(np.int64)]
    below = np.zeros(len(order))
    for c, color in enumerate(cluster_colors(np.arange(shares.shape[1]))):
        ax.bar(np.arange(len(order)), shares[order, c], bottom=below, width=1.0, color=color)
        below += shares[order, c]
    # Every run of a cluster is named in its middle; lines are between them.
    numbers, starts, counts = np.unique(labels[order], return_index=True, return_counts=True)
    ax.vlines(starts[1:] - 0.5, 0, 1, color="black", linewidth=0.6, transform=ax.get_xaxis_transform())
    label_ticks(ax, "x", (starts + (counts - 1) / 2).tolist(), numbers.tolist(), most=20)
    return remove_frame(
        ax, xlabel="objects, ordered by cluster", ylabel="consensus with each cluster", xlim=(-0.5, len(order) - 0.5)
    )


def _check_shares(
    shares: ArrayLike, clusters: ArrayLike, name: str, figure: str
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
    """(n, k) shares, (n,) clusters, one of the columns each, and (n,) the share in it."""
    rows = check_numbers(shares, f"{name} of {figure}", ("n", "k"), least=1)
    labels = whole_numbers(clusters, f"partition of {figure}", (len(rows),))
    if labels.max() >= rows.shape[1]:
        raise ValueError(
            f"partition of {figure} must be columns of {name}, below {rows.shape[1]}. Got {labels.max()}. "
            "Number them from 0."
        )
    return rows, labels, rows[np.arange(len(rows)), np.maximum(labels, 0)]
