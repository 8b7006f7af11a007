"""Trees: hierarchies of merges, and where objects go from one number of clusters to the next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.base.renamed import renamed_parameters
from ensemblage.base.validation import check_numbers, check_whole

from ._axes import (
    PALETTE,
    Axes,
    axes_or_new,
    check_mapping,
    check_marked_k,
    cluster_colors,
    in_style,
    label_ticks,
    remove_frame,
    whole_numbers,
)
from ._models import consensus_of, is_model


class LastMerges(NamedTuple):
    """The end of a hierarchy as a hierarchy of its own."""

    merges: NDArray[np.float64]
    """(leaves - 1, 4) in SciPy's format: the last column counts leaves."""
    sizes: NDArray[np.int64]
    """(leaves,) objects of each leaf."""
    clusters: NDArray[np.int64]
    """(leaves,) cluster of each leaf."""


@renamed_parameters(clustering="partition")
def last_merges(linkage_matrix: ArrayLike, partition: ArrayLike, *, n_leaves: int = 40) -> LastMerges:
    """The last merges of a hierarchy, what `dendrogram` draws.

    Parameters
    ----------
    linkage_matrix : array-like of float, shape (n - 1, 4)
        ``linkage_matrix_`` of a consensus over n objects.
    partition : array-like of int, shape (n,)
        Its ``labels_``. Objects with a negative one are left out (they merge last).
    n_leaves : int, default 40
        Leaves to begin with; more if there are more clusters, fewer if there are fewer objects.

    Returns
    -------
    LastMerges
        ``merges``, and the ``sizes`` and ``clusters`` of the leaves.

    Examples
    --------
    >>> from ensemblage.plotting._dendrograms import last_merges
    >>> last_merges([[0, 1, 0.1, 2], [2, 3, 0.2, 2], [4, 5, 0.9, 4]], [0, 0, 1, 1], n_leaves=3)
    LastMerges(merges=array([[0. , 1. , 0.2, 2. ],
           [2. , 3. , 0.9, 3. ]]), sizes=array([1, 1, 2]), clusters=array([1, 1, 0]))
    """
    labels = whole_numbers(partition, "partition of last_merges", ("n",))
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
def dendrogram(
    merges: ArrayLike | Any,
    sizes: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    *,
    n_leaves: int = 40,
    ax: Axes | None = None,
) -> Axes:
    """A hierarchy of branches; the grey band is the lifetime of the number of clusters drawn.

    Parameters
    ----------
    merges : array-like of float, shape (leaves - 1, 4), or fitted model
        Merges in SciPy's format, such as ``linkage_matrix_``; or the model that has them, which needs nothing else.
    sizes : array-like of int, shape (leaves,), optional
        Objects of each leaf. Default: each leaf is an object, and the last merges are drawn.
    clusters : array-like of int, shape (leaves,), optional
        Cluster of each leaf, such as ``labels_``; not with a model. Objects with a negative one are left out.
    n_leaves : int, default 40
        Branches that are drawn where there are no sizes: more if there are more clusters.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    Examples
    --------
    >>> from ensemblage.plotting import dendrogram
    >>> Z = [[0, 1, 0.1, 2], [2, 3, 0.2, 2], [4, 5, 0.9, 4]]
    >>> dendrogram(Z, clusters=[0, 0, 1, 1]).get_ylabel()
    '1 − similarity'
    """
    check_whole(n_leaves, "n_leaves of dendrogram", 2)
    if is_model(merges):
        consensus = consensus_of(merges)
        merges = getattr(consensus, "linkage_matrix_", None)
        if merges is None or not len(merges):
            raise ValueError(
                f"A dendrogram must be of a method that makes a hierarchy. Got {type(consensus).__name__}, which makes "
                "none. Use consensus_matrix."
            )
        if hasattr(consensus, "clusters_of_reference_"):
            return voting_dendrogram(merges, consensus.clusters_of_reference_, ax=ax)
        clusters = consensus.labels_
    if sizes is None:
        linkage = check_numbers(merges, "merges of dendrogram", ("leaves - 1", 4), least=1)
        leaves_of = whole_numbers(clusters, "clusters of dendrogram", (len(linkage) + 1,))
        merges, sizes, clusters = last_merges(linkage, leaves_of, n_leaves=n_leaves)
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
    >>> from ensemblage.plotting._dendrograms import voting_dendrogram
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


# -- clustering tree ---------------------------------------------------------------------------------------------------


_LEAST_SHARE = 0.05
"""Of a cluster of the larger number, for its tie to one of the smaller number to be drawn."""
_LARGEST_NODE = 420.0


@in_style
def clustree(
    labels: Mapping[Any, ArrayLike],
    *,
    n_clusters: float | None = None,
    color: Mapping[Any, ArrayLike] | ArrayLike | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Tree over numbers of clusters: a row per number, a dot per cluster, lines for the objects that they share.

    The width of a line is the share of the lower cluster that comes from the upper one; a cluster with one thick line
    is a part of one cluster, one with several takes parts of several.

    Parameters
    ----------
    labels : mapping of number to array-like of int, shape (n,)
        Clusters of the same objects for each number of clusters, or for each resolution; -1 for none.
    n_clusters : number, optional
        The row that was chosen: where there are no colours it stands out, else it is marked.
    color : array-like of shape (n,), or mapping of number to array-like of shape (n_clusters,), optional
        A variable, of which a cluster has the mean of its objects; or a value for each cluster, as its stability.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    References
    ----------
    L. Zappia and A. Oshlack, "Clustering trees: a visualization for evaluating clusterings at multiple resolutions",
    GigaScience 7, 2018.

    Examples
    --------
    >>> from ensemblage.plotting import clustree
    >>> ax = clustree({2: [0, 0, 1, 1], 3: [0, 0, 1, 2]}, n_clusters=2)
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['2', '3']
    """
    ax = axes_or_new(ax)
    check_mapping(labels, "labels of clustree")
    if n_clusters is not None and n_clusters not in labels:
        check_marked_k(n_clusters)
    ks = sorted(labels)
    first = whole_numbers(labels[ks[0]], "labels of clustree", ("n",))
    columns = {k: whole_numbers(labels[k], "labels of clustree", (len(first),)) for k in ks}
    values = _values_of_clusters(color, columns)
    from matplotlib.colors import Normalize

    shown = Normalize(*_limits(values, is_share=isinstance(color, Mapping))) if values else None
    places: dict[Any, np.ndarray] = {}
    for row, k in enumerate(ks):
        sizes = np.bincount(columns[k][columns[k] >= 0], minlength=1)
        x = np.arange(len(sizes), dtype=float)
        shares = None
        if row:
            table = np.zeros((len(places[ks[row - 1]]), len(sizes)))
            both = (columns[ks[row - 1]] >= 0) & (columns[k] >= 0)
            np.add.at(table, (columns[ks[row - 1]][both], columns[k][both]), 1)
            shares = table / np.maximum(table.sum(axis=0), 1)
            x = places[ks[row - 1]] @ shares  # below where its objects come from
        places[k] = np.empty(len(x))
        places[k][np.argsort(x, kind="stable")] = np.arange(len(x)) - (len(x) - 1) / 2
        if shares is not None:
            for a, c in np.argwhere(shares >= _LEAST_SHARE):
                ends = [places[ks[row - 1]][a], places[k][c]], [row - 1, row]
                ax.plot(*ends, color="0.55", lw=0.4 + 3.6 * shares[a, c], alpha=0.25 + 0.75 * shares[a, c], zorder=1)
        plain = PALETTE[0] if n_clusters in (None, k) else "0.7"
        given: dict[str, Any] = (
            {"color": plain} if shown is None else {"c": values[k], "cmap": "viridis_r", "norm": shown}
        )
        area = _LARGEST_NODE * sizes / max(1, sizes.sum()) + 12
        edge = "black" if shown is not None and n_clusters == k else "white"
        drawn = ax.scatter(places[k], [row] * len(x), s=area, edgecolors=edge, linewidths=0.8, zorder=2, **given)
    if shown is not None:
        ax.figure.colorbar(drawn, ax=ax, shrink=0.6, label="stability" if isinstance(color, Mapping) else "mean")
    ax.set_yticks(range(len(ks)), labels=[f"{k:g}" for k in ks])
    ax.set_xticks([])
    ax.set_ylim(len(ks) - 0.5, -0.5)
    are_numbers = all(isinstance(k, int | np.integer) for k in ks)
    return remove_frame(ax, xlabel="", ylabel="number of clusters" if are_numbers else "resolution")


def _values_of_clusters(color: Any, columns: Mapping[Any, np.ndarray]) -> dict[Any, np.ndarray]:
    """By number a value for each cluster; empty without any."""
    if color is None:
        return {}
    subject = "color of clustree"
    if isinstance(color, Mapping):
        if missing := [k for k in columns if k not in color]:
            raise ValueError(
                f"{subject} must have the numbers of the labels. Got none for {missing[0]:g}. Add that partition."
            )
        return {k: check_numbers(color[k], subject, (max(1, int(z.max()) + 1),)) for k, z in columns.items()}
    n = len(next(iter(columns.values())))
    given = check_numbers(color, subject, (n,))
    means = {}
    for k, labels in columns.items():
        has = (labels >= 0) & ~np.isnan(given)
        sizes = np.bincount(labels[has], minlength=max(1, int(labels.max()) + 1))
        means[k] = np.bincount(labels[has], given[has], len(sizes)) / np.where(sizes > 0, sizes, np.nan)
    return means


def _limits(values: Mapping[Any, np.ndarray], is_share: bool) -> tuple[float, float]:
    """Of the colours: the least to the largest; 0 to 1 where shares are given."""
    known = np.concatenate(list(values.values()))
    low, high = np.nanmin(known), np.nanmax(known)
    return (0.0, 1.0) if is_share and low >= 0 and high <= 1 else (float(low), float(high))
