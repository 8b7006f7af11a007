"""Figure of NegMM's search for a threshold."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ensemblage._validation import check_numbers
from ensemblage.plotting._axes import axes_or_new, without_frame
from ensemblage.plotting._colors import PALETTE, UNLABELLED_COLOR

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def threshold_search(thresholds: ArrayLike, indices: ArrayLike, *, ax: "Axes | None" = None) -> "Axes":
    """The index of the consensus at each threshold on the associations; the least one is marked.

    Parameters
    ----------
    thresholds : array-like of float, shape (t,)
        Ascending.
    indices : array-like of float, shape (t,)
        `mm_index` of the consensus at each; thresholds where it is infinite are ticks at the upper edge.
    {ax}

    Examples
    --------
    >>> from ensemblage.plotting import threshold_search
    >>> threshold_search([0.0, 0.1, 0.2], [2.0, 1.5, float("inf")]).get_xlabel()
    'threshold'
    """
    ax = axes_or_new(ax)
    x = check_numbers(thresholds, "thresholds of threshold_search", ("t",))
    y = check_numbers(indices, "indices of threshold_search", x.shape)
    finite = np.isfinite(y)
    ax.plot(x[finite], y[finite], color=PALETTE[0], marker="o", markersize=3.5, linewidth=1.2)
    if finite.any():
        best = int(np.argmin(np.where(finite, y, np.inf)))
        ax.plot(x[best], y[best], "o", markersize=9, markerfacecolor="none", color=PALETTE[1])
        ax.annotate(f"{x[best]:.2f}", (x[best], y[best]), textcoords="offset points", xytext=(8, 4))
    if not finite.all():
        top = ax.get_xaxis_transform()
        ax.plot(x[~finite], np.full(np.count_nonzero(~finite), 0.98), "|", color=UNLABELLED_COLOR, transform=top)
    ax.set(xlabel="threshold", ylabel="MM index")
    without_frame(ax)
    return ax
