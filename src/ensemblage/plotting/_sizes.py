"""How large the clusters are."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ensemblage._validation import MOST_OBJECTS, check_whole

from ._arrays import whole_numbers
from ._axes import axes_or_new, label_ticks, without_frame
from ._colors import UNLABELLED_COLOR, cluster_colors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_NUMBERS = 12


def cluster_sizes(sizes: ArrayLike, *, unlabelled: int = 0, ax: "Axes | None" = None) -> "Axes":
    """Bars of the sizes of the clusters.

    Parameters
    ----------
    sizes : array-like of int, shape (k,)
        Objects in cluster 0, 1, and so on.
    unlabelled : int, default 0
        Objects that no partition labels: one grey bar at the end.
    {ax}

    Examples
    --------
    >>> from ensemblage.plotting import cluster_sizes
    >>> cluster_sizes([50, 62, 38]).get_ylabel()
    'objects'
    """
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
    ax.set(xlabel="cluster", ylabel="objects")
    ax.yaxis.set_major_formatter("{x:,.0f}")
    ax.margins(x=0.02, y=0.1)
    without_frame(ax)
    return ax
