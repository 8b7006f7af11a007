"""Soft memberships, the hierarchy they come from, and how clear the number of clusters is."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage._validation import check_fraction, check_numbers

from ._arrays import check_chosen, check_mapping, check_sizes, whole_numbers
from ._axes import axes_or_new, label_ticks, without_frame
from ._colors import PALETTE, UNLABELLED_COLOR, cluster_colors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PIXELS = 600
_MOST_BARS = 15


def lifetimes(lives: Mapping[int, float], *, n_clusters: int | None = None, ax: "Axes | None" = None) -> "Axes":
    """Bars: how long each number of clusters lives in a hierarchy. One long bar is a clear choice.

    Parameters
    ----------
    lives : mapping of int to float
        ``lifetimes_`` of a consensus. Of more than 15 the longest are drawn.
    n_clusters : int, optional
        The number that was chosen: its bar is dark.
    {ax}

    Examples
    --------
    >>> from ensemblage.plotting import lifetimes
    >>> len(lifetimes({4: 0.03, 3: 0.0, 2: 0.53}, n_clusters=2).patches)
    3
    """
    ax = axes_or_new(ax)
    check_mapping(lives, "lives of lifetimes")
    check_chosen(n_clusters)
    ks = sorted(sorted(lives, key=lambda k: -lives[k])[:_MOST_BARS])
    colors = [PALETTE[0] if k == n_clusters else UNLABELLED_COLOR for k in ks]
    ax.bar(range(len(ks)), [lives[k] for k in ks], width=0.8, color=colors)
    label_ticks(ax, "x", range(len(ks)), ks)
    ax.set(xlabel="number of clusters", ylabel="lifetime")
    without_frame(ax)
    return ax


def voting_dendrogram(merges: ArrayLike, clusters: ArrayLike, *, ax: "Axes | None" = None) -> "Axes":
    """The hierarchy of the reference's clusters; the grey band is the lifetime of the number of clusters drawn.

    O(k²) time and memory for k reference clusters.

    Parameters
    ----------
    merges : array-like of float, shape (k - 1, 4)
        ``linkage_matrix_`` of a voting consensus, k ≥ 2.
    clusters : array-like of int, shape (k,)
        Cluster of the consensus that each reference cluster went to (``clusters_of_reference_``): gives its colour.
    {ax}

    Examples
    --------
    >>> from ensemblage.plotting import voting_dendrogram
    >>> ax = voting_dendrogram([[0, 1, 0.1, 2], [2, 3, 0.6, 3]], [0, 0, 1])
    >>> ax.get_ylabel()
    'Jensen–Shannon divergence (nats)'
    """
    from scipy.cluster.hierarchy import dendrogram

    ax = axes_or_new(ax)
    Z = check_numbers(merges, "merges of voting_dendrogram", ("k0 - 1", 4), least=1)
    cluster_of = whole_numbers(clusters, "clusters of voting_dendrogram", (len(Z) + 1,))
    tree = dendrogram(Z, no_plot=True)
    leaves = np.array(tree["leaves"])
    k, n_clusters = len(leaves), len(np.unique(cluster_of))
    heights = np.concatenate([[0.0], Z[:, 2]])
    if n_clusters > 1:
        ax.axhspan(heights[k - n_clusters], heights[k - n_clusters + 1], color="0.92", zorder=0, linewidth=0)
    for x, y in zip(tree["icoord"], tree["dcoord"], strict=True):
        below = leaves_between(x[0], x[-1], cluster_of[leaves])
        color = cluster_colors(below[0]) if len(below) == 1 else "0.35"
        ax.plot(x, y, color=color, linewidth=1.2)
    named = np.unique(cluster_of)
    label_ticks(ax, "x", [10 * np.flatnonzero(cluster_of[leaves] == c).mean() + 5 for c in named], named.tolist())
    ax.set(
        xlabel=f"cluster, made of {k} reference clusters",
        ylabel="Jensen–Shannon divergence (nats)",
        xlim=(0, 10 * k),
        ylim=(0, None),
    )
    without_frame(ax)
    return ax


def leaves_between(left: float, right: float, clusters: NDArray[np.int64]) -> NDArray[np.int64]:
    """The clusters of the leaves from x = left to right; SciPy puts leaf i at 10 i + 5."""
    found: NDArray[np.int64] = np.unique(clusters[int(left // 10) : int(right // 10) + 1])
    return found


def membership(
    shares: ArrayLike, clusters: ArrayLike, *, sizes: ArrayLike | None = None, ax: "Axes | None" = None
) -> "Axes":
    """Heat map of soft memberships: a row per object, ordered by cluster and, in it, from sure to unsure.

    O(r k + 600 k) time and memory for r rows.

    Parameters
    ----------
    shares : array-like of float, shape (r, k)
        ``membership_`` of a consensus, from 0 to 1; NaN is grey.
    clusters : array-like of int, shape (r,)
        ``labels_``; negative ones are drawn last.
    sizes : array-like of float, shape (r,), optional
        How many objects each row stands for: it is drawn that high. Default: one.
    {ax}

    Examples
    --------
    >>> from ensemblage.plotting import membership
    >>> membership([[0.9, 0.1], [0.4, 0.6]], [0, 1]).get_xlabel()
    'cluster'
    """
    from matplotlib import colormaps
    from matplotlib.ticker import MaxNLocator

    ax = axes_or_new(ax, 4.2, 4.1)
    rows = check_numbers(shares, "shares of membership", ("n", "k"), least=1)
    labels = whole_numbers(clusters, "clusters of membership", (len(rows),))
    if labels.max() >= rows.shape[1]:
        raise ValueError(
            f"clusters of membership must be columns of shares, below {rows.shape[1]}. Got {labels.max()}. "
            "Number them from 0."
        )
    heights = check_sizes(sizes, len(rows), "sizes of membership")
    own = rows[np.arange(len(rows)), np.maximum(labels, 0)]
    order = np.lexsort((-own, np.where(labels < 0, rows.shape[1], labels)))
    ends = np.cumsum(heights[order])
    n_pixels = min(_PIXELS, len(order)) if sizes is None else _PIXELS
    shown = order[np.searchsorted(ends[:-1], (np.arange(n_pixels) + 0.5) / n_pixels * ends[-1], side="right")]
    k = rows.shape[1]
    image = ax.imshow(
        rows[shown],
        cmap=colormaps["Blues"].with_extremes(bad="0.8"),
        vmin=0,
        vmax=1,
        extent=(-0.5, k - 0.5, float(ends[-1]), 0),
        interpolation="none",
        aspect="auto",
    )
    last = np.flatnonzero(np.diff(labels[order]))
    ax.hlines(ends[last], -0.5, k - 0.5, color="0.5", linewidth=0.5)
    ax.figure.colorbar(image, ax=ax, label="membership", fraction=0.05, pad=0.03)
    label_ticks(ax, "x", range(k), range(k))
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set(xlabel="cluster", ylabel="objects, ordered by cluster")
    ax.spines[:].set_visible(False)
    return ax


def estimated_clusters(counts: ArrayLike, *, share: float = 0.95, ax: "Axes | None" = None) -> "Axes":
    """Pareto chart of the number of clusters found over repeated runs (Ayad & Kamel, Figs. 1 and 2).

    Parameters
    ----------
    counts : array-like of int, shape (n_runs,)
        The number that each run found.
    share : float, default 0.95
        Bars are drawn, the most frequent number first, until they cover this share of the runs.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        Bars count runs; a twin axis on the right carries the cumulative percentage.

    Examples
    --------
    >>> from ensemblage.plotting import estimated_clusters
    >>> len(estimated_clusters([5, 5, 4, 5]).patches)
    2
    """
    ax = axes_or_new(ax)
    check_fraction(share, "share of estimated_clusters")
    found = whole_numbers(counts, "counts of estimated_clusters", ("runs",), least=1)
    ks, runs = np.unique(found, return_counts=True)
    order = np.lexsort((ks, -runs))
    covered = np.cumsum(runs[order]) / runs.sum()
    drawn = order[: int(np.searchsorted(covered, share - 1e-9)) + 1]
    places = np.arange(len(drawn))
    ax.bar(places, runs[drawn], width=0.8, color=PALETTE[0])
    right = ax.twinx()
    right.plot(places, 100 * covered[: len(drawn)], color=PALETTE[1], marker="o", markersize=3)
    right.set(ylim=(0, 105), ylabel="cumulative % of the runs")
    label_ticks(ax, "x", places.tolist(), ks[drawn].tolist())
    ax.set(xlabel="number of clusters found", ylabel="runs")
    ax.spines["top"].set_visible(False)
    right.spines["top"].set_visible(False)
    return ax


def entropy_scatter(points: ArrayLike, entropy: ArrayLike, *, ax: "Axes | None" = None) -> "Axes":
    """Objects as points, coloured by the entropy of their membership: dark where they lie between clusters.

    Parameters
    ----------
    points : array-like of float, shape (n, 2)
        Coordinates.
    entropy : array-like of float, shape (n,)
        ``metrics.membership_entropy``, from 0 to 1. NaN is drawn as a small grey dot.
    {ax}

    Examples
    --------
    >>> from ensemblage.plotting import entropy_scatter
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
    without_frame(ax)
    return ax
