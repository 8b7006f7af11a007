"""Figures of bisecting k-means."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ensemblage._validation import check_numbers
from ensemblage.plotting._axes import axes_or_new, without_frame
from ensemblage.plotting._colors import PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def split_losses(losses: ArrayLike, *, ax: "Axes | None" = None) -> "Axes":
    """Curve: the k-means loss that is left after each split of a tree. Where it bends, further splits tell less.

    Parameters
    ----------
    losses : array-like of float, shape (k,)
        Loss of 1, 2, …, k clusters.
    {ax}

    Examples
    --------
    >>> from ensemblage.plotting import split_losses
    >>> split_losses([8.0, 2.0, 1.0]).lines[0].get_ydata().tolist()
    [100.0, 25.0, 12.5]
    """
    ax = axes_or_new(ax)
    left = check_numbers(losses, "losses of split_losses", ("k",), least=1)
    shares = 100 * left / left[0] if left[0] > 0 else np.zeros(len(left))
    ax.plot(np.arange(1, len(left) + 1), shares, color=PALETTE[0], marker="o", markersize=3.5, linewidth=1.2)
    ax.set(xlabel="number of clusters", ylabel="loss left (%)", ylim=(0, 105))
    ax.locator_params(axis="x", integer=True)
    without_frame(ax)
    return ax
