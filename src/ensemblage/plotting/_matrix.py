"""The co-association matrix, ordered by cluster."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage._validation import check_numbers

from ._arrays import check_sizes, whole_numbers
from ._axes import axes_or_new, cluster_name
from ._colors import cluster_colors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PIXELS = 600
_NARROWEST_NAMED = 0.035


def consensus_matrix(
    matrix: ArrayLike,
    clusters: ArrayLike,
    *,
    sizes: ArrayLike | None = None,
    label: str = "share of partitions that join the two objects",
    cmap: Any = "Blues",
    ax: "Axes | None" = None,
) -> "Axes":
    """Co-association of objects ordered by cluster: dark blocks on the diagonal are clusters the partitions agree on.

    The rows of a cluster stay in the order given. O(r² + 600²) time and memory for r rows.

    Parameters
    ----------
    matrix : array-like of float, shape (r, r)
        Share of partitions that join rows i and j. NaN is grey.
    clusters : array-like of int, shape (r,)
        Cluster of each row; negative: no partition labels it (drawn last).
    sizes : array-like of float, shape (r,), optional
        How many objects each row stands for: it is drawn that wide. Default: one.
    label : str
        What the numbers are.
    cmap : str or matplotlib Colormap, default "Blues"
        Colours from 0 to 1.
    {ax}

    Examples
    --------
    >>> from ensemblage.plotting import consensus_matrix
    >>> consensus_matrix([[1, 0.5], [0.5, 1]], [0, 1]).get_xlabel()
    'objects, ordered by cluster'
    """
    from matplotlib import colormaps

    ax = axes_or_new(ax, 4.8, 4.1)
    colors = colormaps.get_cmap(cmap).with_extremes(bad="0.8")
    shares = check_numbers(matrix, "matrix of consensus_matrix", ("r", "r"), least=1)
    labels = whole_numbers(clusters, "clusters of consensus_matrix", (len(shares),))
    widths = check_sizes(sizes, len(shares), "sizes of consensus_matrix")
    order = np.argsort(np.where(labels < 0, labels.max(initial=0) + 1, labels), kind="stable")
    labels, ends = labels[order], np.cumsum(widths[order])
    total = float(ends[-1])
    shown = order[_rows_of_pixels(ends)]
    image = ax.imshow(
        shares[np.ix_(shown, shown)],
        cmap=colors,
        vmin=0,
        vmax=1,
        extent=(0, total, total, 0),
        interpolation="none",
        aspect="auto",
    )
    _mark_clusters(ax, labels, ends)
    ax.figure.colorbar(image, ax=ax, label=label, fraction=0.05, pad=0.03)
    ax.set(xlabel="objects, ordered by cluster", ylabel="cluster")
    return ax


def _rows_of_pixels(ends: NDArray[np.float64]) -> NDArray[np.int64]:
    """The row that each pixel of the picture shows, when row i ends at ``ends[i]``."""
    n_pixels = _PIXELS if len(ends) > _PIXELS or np.ptp(np.diff(ends, prepend=0)) > 0 else len(ends)
    centres = (np.arange(n_pixels) + 0.5) / n_pixels * ends[-1]
    rows: NDArray[np.int64] = np.searchsorted(ends[:-1], centres, side="right").astype(np.int64)
    return rows


def _mark_clusters(ax: "Axes", labels: NDArray[np.int64], ends: NDArray[np.float64]) -> None:
    last = np.flatnonzero(np.append(labels[1:] != labels[:-1], True))
    stops, total = ends[last], float(ends[-1])
    starts = np.append(0, stops[:-1])
    colors = cluster_colors(labels[last])
    ax.hlines(stops[:-1], 0, total, color="0.7", linewidth=0.4)
    ax.vlines(stops[:-1], 0, total, color="0.7", linewidth=0.4)
    ax.bar(-0.025 * total, stops - starts, bottom=starts, width=0.03 * total, color=colors)
    ax.bar(starts, 0.03 * total, bottom=-0.04 * total, width=stops - starts, color=colors, align="edge")
    wide = stops - starts >= _NARROWEST_NAMED * total
    names = [cluster_name(int(cluster)) for cluster in labels[last][wide]]
    ax.set_yticks(((starts + stops) / 2)[wide], labels=names)
    ax.set_xticks([])
    ax.tick_params(length=0)
    ax.set(xlim=(-0.04 * total, total), ylim=(total, -0.04 * total))
    ax.spines[:].set_visible(False)
