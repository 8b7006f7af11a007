"""One colour per cluster, the same in every figure."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._checks import axes_of, whole_numbers

# Eight colours after Okabe & Ito and Tol; the others chosen one by one, each as far as possible (OKLab) from all
# before it and from grey, seen with normal vision and with the three colour blindnesses (Machado et al. 2009).
PALETTE = (
    *("#0072b2", "#d55e00", "#009e73", "#882255", "#56b4e9", "#e69f00", "#332288", "#cc79a7"),
    *("#8f7aff", "#7a5200", "#85c27a", "#ad3385", "#294700", "#4747cc", "#ff7acc", "#995252"),
    *("#c25cd6", "#ad9952", "#5c3d70", "#0a8f14", "#f5a3b8", "#997099", "#663da3", "#1f667a"),
    *("#8f0014", "#eb4770", "#705ce0", "#667ab8", "#7a99f5", "#00adc2", "#e08514", "#3d85e0"),
)
"""The colours of clusters 0, 1, …; after the last they start again."""

UNLABELLED_COLOR = "#8c8c8c"
"""The colour of objects that no partition labels."""


def cluster_colors(clusters: ArrayLike) -> NDArray[np.float64]:
    """The colour of each cluster number.

    Parameters
    ----------
    clusters : array-like of int, shape (n,)
        Cluster numbers; negative ones mean "unlabelled" and are grey.

    Returns
    -------
    ndarray of shape (n, 3)
        Red, green and blue in [0, 1].

    Examples
    --------
    >>> from ensemblage.plotting import cluster_colors
    >>> cluster_colors([0, 32, -1]).round(2)
    array([[0.  , 0.45, 0.7 ],
           [0.  , 0.45, 0.7 ],
           [0.55, 0.55, 0.55]])
    """
    numbers = whole_numbers(clusters, "clusters of cluster_colors", axes_of(clusters))
    table = np.array([[int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)] for c in (*PALETTE, UNLABELLED_COLOR)])
    return table[np.where(numbers < 0, len(PALETTE), numbers % len(PALETTE))]
