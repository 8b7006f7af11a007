"""Evidence accumulation: the associations, thresholds on them, and the hierarchy that they make."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage._validation import check_number, check_numbers, shown

from ._arrays import whole_numbers
from ._axes import axes_or_new, label_ticks, printable, without_frame
from ._colors import PALETTE, UNLABELLED_COLOR, cluster_colors
from ._matrix import consensus_matrix
from ._voting import leaves_between

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_BINS = 100


def association_histogram(
    counts: ArrayLike, *, thresholds: Mapping[str, float] | None = None, ax: "Axes | None" = None
) -> "Axes":
    """Bars: how many pairs of objects have which positive association, and where thresholds lie on them.

    O(p²) time and memory.

    Parameters
    ----------
    counts : array-like of int, shape (p + 1,) or (p + 1, p + 1)
        What ``metrics.association_counts`` returns. Pairs that nothing joins are not drawn.
    thresholds : mapping of str to float, optional
        Name and value of each: a vertical line. Associations up to it are weak.
    {ax}

    Examples
    --------
    >>> from ensemblage.plotting import association_histogram
    >>> ax = association_histogram([40, 3, 1, 2, 6], thresholds={"kmeans": 0.5})
    >>> ax.get_xlabel(), len(ax.patches), len(ax.lines)
    ('association', 4, 1)
    """
    ax = axes_or_new(ax)
    edges, heights = _bins(_checked_counts(counts))
    ax.bar(edges[:-1], heights, width=0.9 * np.diff(edges), align="edge", color=UNLABELLED_COLOR)
    if thresholds is not None and not isinstance(thresholds, Mapping):
        raise TypeError(
            f"thresholds of association_histogram must be a dict of numbers by name. Got {shown(thresholds)}. "
            "Give {'kmeans': 0.3}, say."
        )
    for i, (name, given) in enumerate((thresholds or {}).items()):
        value = check_number(given, f"Threshold {name} of association_histogram", least=0)
        style = ("-", "--", ":", "-.")[i % 4]
        ax.axvline(value, color=PALETTE[i % len(PALETTE)], linestyle=style, label=f"{printable(name)}: {value:.3g}")
    if thresholds:
        ax.legend(frameon=False)
    ax.set(xlabel="association", ylabel="pairs of objects", xlim=(0, edges[-1]))
    ax.yaxis.set_major_formatter("{x:,.0f}")
    without_frame(ax)
    return ax


def _checked_counts(counts: ArrayLike) -> NDArray[np.int64]:
    shape = ("p + 1", "p + 1") if np.ndim(counts) == 2 else ("p + 1",)
    return whole_numbers(counts, "counts of association_histogram", shape, least=2)


def _bins(counts: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Edges of bars around the multiples of 1 / p (wider ones if there are very many), and the pairs in each."""
    p = len(counts) - 1
    joined = np.arange(p + 1)
    values = joined / p if counts.ndim == 1 else joined[:, None] / np.maximum(joined, 1)
    positive = (values > 0) & (counts > 0)
    n_bins = min(p, _MOST_BINS)
    edges = (np.arange(n_bins + 1) + 0.5) / n_bins
    # Up to the largest multiple of 1 / n_bins that is not more than half a bar away.
    places = np.clip(np.ceil(values[positive] * n_bins - 0.5 - 1e-9).astype(np.int64) - 1, 0, n_bins - 1)
    heights = np.zeros(n_bins, dtype=np.int64)
    np.add.at(heights, places, counts[positive])
    return edges, heights


class LastMerges(NamedTuple):
    """The end of a hierarchy as a hierarchy of its own."""

    merges: NDArray[np.float64]
    """(leaves - 1, 4) in SciPy's format: the last column counts leaves."""
    sizes: NDArray[np.int64]
    """(leaves,) objects of each leaf."""
    clusters: NDArray[np.int64]
    """(leaves,) cluster of each leaf."""


def last_merges(linkage_matrix: ArrayLike, clusters: ArrayLike, *, n_leaves: int = 40) -> LastMerges:
    """The last merges of a hierarchy, what `dendrogram` draws.

    Parameters
    ----------
    linkage_matrix : array-like of float, shape (n - 1, 4)
        ``linkage_matrix_`` of a consensus over n objects.
    clusters : array-like of int, shape (n,)
        Its ``labels_``. Objects with a negative one are left out (they merge last).
    n_leaves : int, default 40
        Leaves to begin with; more if there are more clusters, fewer if there are fewer objects.

    Returns
    -------
    LastMerges
        ``merges``, and the ``sizes`` and ``clusters`` of the leaves.

    Examples
    --------
    >>> from ensemblage.plotting import last_merges
    >>> last_merges([[0, 1, 0.1, 2], [2, 3, 0.2, 2], [4, 5, 0.9, 4]], [0, 0, 1, 1], n_leaves=3)
    LastMerges(merges=array([[0. , 1. , 0.2, 2. ],
           [2. , 3. , 0.9, 3. ]]), sizes=array([1, 1, 2]), clusters=array([1, 1, 0]))
    """
    labels = whole_numbers(clusters, "clusters of last_merges", ("n",))
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


def dendrogram(merges: ArrayLike, sizes: ArrayLike, clusters: ArrayLike, *, ax: "Axes | None" = None) -> "Axes":
    """A hierarchy of branches; the grey band is the lifetime of the number of clusters drawn.

    Parameters
    ----------
    merges : array-like of float, shape (leaves - 1, 4)
        What `last_merges` returns, as the next two; at least two leaves.
    sizes, clusters : array-like of int, shape (leaves,)
        Objects and cluster of each leaf.
    {ax}

    Examples
    --------
    >>> from ensemblage.plotting import dendrogram, last_merges
    >>> Z = [[0, 1, 0.1, 2], [2, 3, 0.2, 2], [4, 5, 0.9, 4]]
    >>> dendrogram(*last_merges(Z, [0, 0, 1, 1])).get_ylabel()
    '1 − similarity'
    """
    from scipy.cluster.hierarchy import dendrogram as layout

    ax = axes_or_new(ax, 6.4, 3.6)
    Z = check_numbers(merges, "merges of dendrogram", ("leaves - 1", 4), least=1)
    counts = whole_numbers(sizes, "sizes of dendrogram", (len(Z) + 1,))
    cluster_of = whole_numbers(clusters, "clusters of dendrogram", (len(Z) + 1,))
    tree = layout(Z, no_plot=True)
    leaves = np.array(tree["leaves"])
    heights, n_clusters = np.concatenate([[0.0], Z[:, 2]]), len(np.unique(cluster_of))
    if n_clusters > 1:
        k = len(leaves) - n_clusters
        ax.axhspan(heights[k], heights[k + 1], color="0.92", zorder=0, linewidth=0)
    for x, y in zip(tree["icoord"], tree["dcoord"], strict=True):
        below = leaves_between(x[0], x[-1], cluster_of[leaves])
        ax.plot(x, y, color=cluster_colors(below[0]) if len(below) == 1 else "0.35", linewidth=1.2)
    label_ticks(ax, "x", (10 * np.arange(len(leaves)) + 5).tolist(), [f"{c:,}" for c in counts[leaves]], most=40)
    ax.tick_params(axis="x", rotation=90)
    ax.set(xlabel="objects in each branch", ylabel="1 − similarity", xlim=(0, 10 * len(leaves)), ylim=(0, None))
    without_frame(ax)
    return ax


def thresholded_matrices(
    matrix: ArrayLike,
    clusters: ArrayLike,
    threshold: float,
    *,
    sizes: ArrayLike | None = None,
    axes: "tuple[Axes, Axes] | None" = None,
) -> "tuple[Axes, Axes]":
    """The consensus matrix before and after the associations up to a threshold are set to 0.

    O(r² + 600²) time and memory for r rows.

    Parameters
    ----------
    matrix : array-like of float, shape (r, r)
        Share of partitions that join rows i and j.
    clusters : array-like of int, shape (r,)
        Cluster of each row.
    threshold : float
        Shares up to it are weak. The diagonal stays.
    sizes : array-like of float, shape (r,), optional
        How many objects each row stands for. Default: one.
    axes : pair of matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    pair of matplotlib Axes
        Before and after.

    Examples
    --------
    >>> from ensemblage.plotting import thresholded_matrices
    >>> before, after = thresholded_matrices([[1, 0.2], [0.2, 1]], [0, 1], 0.3)
    >>> after.images[0].get_array().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    left, right = _pair_of_axes() if axes is None else _checked_pair(axes)
    shares = check_numbers(matrix, "matrix of thresholded_matrices", ("r", "r"), least=1)
    check_number(threshold, "threshold of thresholded_matrices", least=0)
    strong = np.where((shares <= threshold) & ~np.eye(len(shares), dtype=bool), 0.0, shares)
    consensus_matrix(shares, clusters, sizes=sizes, ax=left)
    consensus_matrix(strong, clusters, sizes=sizes, ax=right)
    left.set_title("before", fontsize="medium")
    right.set_title(f"without associations up to {threshold:.3g}", fontsize="medium")
    return left, right


def _checked_pair(axes: Any) -> "tuple[Axes, Axes]":
    try:
        left, right = axes
    except (TypeError, ValueError):
        raise TypeError(
            f"axes must be two matplotlib Axes, or None for a new figure. Got {shown(axes)}. "
            "Give what plt.subplots(1, 2) returns as its second value."
        ) from None
    return axes_or_new(left), axes_or_new(right)


def _pair_of_axes() -> "tuple[Axes, Axes]":
    from matplotlib.figure import Figure

    left, right = Figure(figsize=(9.6, 4.1), layout="constrained").subplots(1, 2)
    return left, right
