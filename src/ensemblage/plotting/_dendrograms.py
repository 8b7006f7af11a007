"""Hierarchies as trees of branches."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.base.validation import check_numbers

from ._axes import Axes, axes_or_new, label_ticks, remove_frame
from ._checks import whole_numbers
from ._colors import cluster_colors
from ._style import in_style


class LastMerges(NamedTuple):
    """The end of a hierarchy as a hierarchy of its own."""

    merges: NDArray[np.float64]
    """(leaves - 1, 4) in SciPy's format: the last column counts leaves."""
    sizes: NDArray[np.int64]
    """(leaves,) objects of each leaf."""
    clusters: NDArray[np.int64]
    """(leaves,) cluster of each leaf."""


def last_merges(linkage_matrix: ArrayLike, clustering: ArrayLike, *, n_leaves: int = 40) -> LastMerges:
    """The last merges of a hierarchy, what `dendrogram` draws.

    Parameters
    ----------
    linkage_matrix : array-like of float, shape (n - 1, 4)
        ``linkage_matrix_`` of a consensus over n objects.
    clustering : array-like of int, shape (n,)
        Its ``labels_``. Objects with a negative one are left out (they merge last).
    n_leaves : int, default 40
        Leaves to begin with; more if there are more clusters, fewer if there are fewer objects.

    Returns
    -------
    LastMerges
        ``merges``, and the ``sizes`` and ``clustering`` of the leaves.

    Examples
    --------
    >>> from ensemblage.plotting import last_merges
    >>> last_merges([[0, 1, 0.1, 2], [2, 3, 0.2, 2], [4, 5, 0.9, 4]], [0, 0, 1, 1], n_leaves=3)
    LastMerges(merges=array([[0. , 1. , 0.2, 2. ],
           [2. , 3. , 0.9, 3. ]]), sizes=array([1, 1, 2]), clusters=array([1, 1, 0]))
    """
    labels = whole_numbers(clustering, "clustering of last_merges", ("n",))
    merges = check_numbers(linkage_matrix, "linkage_matrix of last_merges", (max(len(labels) - 1, 0), 4))
    n, n_labelled = len(labels), int(np.count_nonzero(labels >= 0))
    Z = merges[: max(n_labelled - 1, 0)]
    leaves_wanted = max(n_leaves, len(np.unique(labels[labels >= 0])))
    kept = Z[max(n_labelled - leaves_wanted, 0) :].copy()
    first = n + len(Z) - len(kept)  # the number of the first cluster that the kept merges make
    used = kept[:, :2].astype(np.int64)
    leaves = np.sort(used[used < first])
    kept[:, :2] = np.where(used < first, np.searchsorted(leaves, used), used - first + len(leaves))
    sizes = np.concatenate([np.ones(n), Z[:, 3]]).astype(np.int64)[leaves]
    below = np.ones(2 * len(leaves), dtype=np.int64)
    for s, (a, b) in enumerate(kept[:, :2].astype(np.int64)):
        kept[s, 3] = below[len(leaves) + s] = below[a] + below[b]
    member = leaves.copy()
    while (above := member >= n).any():
        member[above] = Z[member[above] - n, 0]
    return LastMerges(kept, sizes, labels[member])


@in_style
def dendrogram(merges: ArrayLike, sizes: ArrayLike, clusters: ArrayLike, *, ax: Axes | None = None) -> Axes:
    """A hierarchy of branches; the grey band is the lifetime of the number of clusters drawn.

    Parameters
    ----------
    merges : array-like of float, shape (leaves - 1, 4)
        What `last_merges` returns, as the next two; at least two leaves.
    sizes, clusters : array-like of int, shape (leaves,)
        Objects and cluster of each leaf.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    Examples
    --------
    >>> from ensemblage.plotting import dendrogram, last_merges
    >>> Z = [[0, 1, 0.1, 2], [2, 3, 0.2, 2], [4, 5, 0.9, 4]]
    >>> dendrogram(*last_merges(Z, [0, 0, 1, 1])).get_ylabel()
    '1 − similarity'
    """
    ax = axes_or_new(ax, 6.4, 3.6)
    Z = check_numbers(merges, "merges of dendrogram", ("leaves - 1", 4), least=1)
    counts = whole_numbers(sizes, "sizes of dendrogram", (len(Z) + 1,))
    leaves = _draw_tree(ax, Z, whole_numbers(clusters, "clusters of dendrogram", (len(Z) + 1,)), "1 − similarity")
    label_ticks(ax, "x", (10 * np.arange(len(leaves)) + 5).tolist(), [f"{c:,}" for c in counts[leaves]], most=40)
    ax.tick_params(axis="x", rotation=90)
    ax.set(xlabel="objects in each branch")
    return ax


@in_style
def voting_dendrogram(linkage_matrix: ArrayLike, clusters: ArrayLike, *, ax: Axes | None = None) -> Axes:
    """The hierarchy of the reference's clusters; the grey band is the lifetime of the number of clusters drawn.

    O(k²) time and memory for k reference clusters.

    Parameters
    ----------
    linkage_matrix : array-like of float, shape (k - 1, 4)
        ``linkage_matrix_`` of a voting consensus, k ≥ 2.
    clusters : array-like of int, shape (k,)
        Cluster of the consensus that each reference cluster went to (``clusters_of_reference_``): gives its colour.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    Examples
    --------
    >>> from ensemblage.plotting import voting_dendrogram
    >>> ax = voting_dendrogram([[0, 1, 0.1, 2], [2, 3, 0.6, 3]], [0, 0, 1])
    >>> ax.get_ylabel()
    'Jensen–Shannon divergence (nats)'
    """
    ax = axes_or_new(ax)
    Z = check_numbers(linkage_matrix, "linkage_matrix of voting_dendrogram", ("k0 - 1", 4), least=1)
    cluster_of = whole_numbers(clusters, "clusters of voting_dendrogram", (len(Z) + 1,))
    leaves, named = _draw_tree(ax, Z, cluster_of, "Jensen–Shannon divergence (nats)"), np.unique(cluster_of)
    label_ticks(ax, "x", [10 * np.flatnonzero(cluster_of[leaves] == c).mean() + 5 for c in named], named.tolist())
    ax.set(xlabel=f"cluster, made of {len(leaves)} reference clusters")
    return ax


def _draw_tree(ax: Axes, merges: NDArray[np.float64], cluster_of: NDArray[np.int64], height: str) -> NDArray[np.int64]:
    """Branches coloured by cluster, and a grey band: the lifetime of the number of clusters. The order of the leaves.

    SciPy puts leaf i at x = 10 i + 5.
    """
    from scipy.cluster.hierarchy import dendrogram as layout

    tree = layout(merges, no_plot=True)
    leaves = np.array(tree["leaves"])
    heights, n_clusters = np.concatenate([[0.0], merges[:, 2]]), len(np.unique(cluster_of))
    if n_clusters > 1:
        k = len(leaves) - n_clusters
        ax.axhspan(heights[k], heights[k + 1], color="0.92", zorder=0, linewidth=0)
    for x, y in zip(tree["icoord"], tree["dcoord"], strict=True):
        below = np.unique(cluster_of[leaves][int(x[0] // 10) : int(x[-1] // 10) + 1])
        ax.plot(x, y, color=cluster_colors(below[0]) if len(below) == 1 else "0.35", linewidth=1.2)
    remove_frame(ax, ylabel=height, xlim=(0, 10 * len(leaves)), ylim=(0, None))
    return leaves
