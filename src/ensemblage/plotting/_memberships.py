"""Soft memberships of objects in clusters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.base.validation import check_numbers, check_whole

from ._axes import Axes, axes_or_new, heat_map, label_ticks, remove_frame, whole_ticks
from ._checks import check_length, check_sizes, whole_numbers
from ._colors import cluster_colors
from ._style import in_style

_PIXELS = 600


@in_style
def membership(
    membership: ArrayLike,
    clustering: ArrayLike,
    *,
    sizes: ArrayLike | None = None,
    names: Sequence[object] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Heat map of soft memberships: a row per object, ordered by cluster and then by certainty.

    O(r k + 600 k) time and memory for r rows.

    Parameters
    ----------
    membership : array-like of float, shape (r, k)
        ``membership_`` of a consensus, from 0 to 1; NaN is grey.
    clustering : array-like of int, shape (r,)
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
    rows, labels, own = _check_shares(membership, clustering, "membership", "membership")
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


@in_style
def item_consensus_bars(
    item_consensus: ArrayLike, clustering: ArrayLike, *, most: int = 200, ax: Axes | None = None
) -> Axes:
    """Stacked bars: the consensus of each object with every cluster, objects ordered by their own cluster.

    Within a cluster the surest object is on the left. Of more than ``most`` objects an even choice is drawn.

    Parameters
    ----------
    item_consensus : array-like of float, shape (n, k)
        What ``metrics.item_consensus`` returns; objects with NaN are left out.
    clustering : array-like of int, shape (n,)
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
    shares, labels, own = _check_shares(item_consensus, clustering, "item_consensus", "item_consensus_bars")
    check_whole(most, "most of item_consensus_bars", 1)
    order = np.lexsort((-own, labels))
    order = order[(labels[order] >= 0) & np.isfinite(own[order])]
    order = order[np.linspace(0, len(order) - 1, min(most, len(order))).round().astype(np.int64)]
    below = np.zeros(len(order))
    for c, color in enumerate(cluster_colors(np.arange(shares.shape[1]))):
        ax.bar(np.arange(len(order)), shares[order, c], bottom=below, width=1.0, color=color)
        below += shares[order, c]
    _name_clusters(ax, labels[order].tolist())
    return remove_frame(
        ax, xlabel="objects, ordered by cluster", ylabel="consensus with each cluster", xlim=(-0.5, len(order) - 0.5)
    )


def _check_shares(
    shares: ArrayLike, clusters: ArrayLike, name: str, figure: str
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
    """(n, k) shares, (n,) clusters, one of the columns each, and (n,) the share in it."""
    rows = check_numbers(shares, f"{name} of {figure}", ("n", "k"), least=1)
    labels = whole_numbers(clusters, f"clustering of {figure}", (len(rows),))
    if labels.max() >= rows.shape[1]:
        raise ValueError(
            f"clustering of {figure} must be columns of {name}, below {rows.shape[1]}. Got {labels.max()}. "
            "Number them from 0."
        )
    return rows, labels, rows[np.arange(len(rows)), np.maximum(labels, 0)]


def _name_clusters(ax: Axes, labels: Sequence[int]) -> None:
    """Name every run of a cluster in its middle, and draw lines between them."""
    numbers, starts, counts = np.unique(labels, return_index=True, return_counts=True)
    ax.vlines(starts[1:] - 0.5, 0, 1, color="black", linewidth=0.6, transform=ax.get_xaxis_transform())
    label_ticks(ax, "x", (starts + (counts - 1) / 2).tolist(), numbers.tolist(), most=20)
