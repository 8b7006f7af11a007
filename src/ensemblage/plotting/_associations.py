"""The associations of pairs of objects, and thresholds on them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.base.validation import check_number, check_numbers, format_value

from ._axes import Axes, axes_or_new, curve, legend_above, printable, remove_frame
from ._checks import axes_of, whole_numbers
from ._colors import PALETTE, UNLABELLED_COLOR
from ._style import in_style

_MOST_BINS = 100


@in_style
def association_histogram(
    counts: ArrayLike, *, thresholds: Mapping[str, float] | None = None, ax: Axes | None = None
) -> Axes:
    """Bars: the number of pairs of objects with each positive co-association, and thresholds.

    O(p²) time and memory.

    Parameters
    ----------
    counts : array-like of int, shape (p + 1,) or (p + 1, p + 1)
        What ``metrics.association_counts`` returns. Pairs that nothing joins are not drawn.
    thresholds : mapping of str to float, optional
        Name and value of each: a vertical line. Associations up to it are weak.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    Examples
    --------
    >>> from ensemblage.plotting import association_histogram
    >>> ax = association_histogram([40, 3, 1, 2, 6], thresholds={"kmeans": 0.5})
    >>> ax.get_xlabel(), len(ax.patches), len(ax.lines)
    ('association', 4, 1)
    """
    ax = axes_or_new(ax)
    shape = ("p + 1", "p + 1") if len(axes_of(counts)) == 2 else ("p + 1",)
    edges, heights = _bins(whole_numbers(counts, "counts of association_histogram", shape, least=2))
    ax.bar(edges[:-1], heights, width=0.9 * np.diff(edges), align="edge", color=UNLABELLED_COLOR)
    if thresholds is not None and not isinstance(thresholds, Mapping):
        raise TypeError(
            f"thresholds of association_histogram must be a dict of numbers by name. Got {format_value(thresholds)}. "
            "Give {'kmeans': 0.3}, for example."
        )
    for i, (name, given) in enumerate((thresholds or {}).items()):
        value = check_number(given, f"Threshold {name} of association_histogram", least=0)
        style = ("-", "--", ":", "-.")[i % 4]
        ax.axvline(value, color=PALETTE[i % len(PALETTE)], linestyle=style, label=f"{printable(name)}: {value:.3g}")
    if thresholds:
        legend_above(ax)
    ax.yaxis.set_major_formatter("{x:,.0f}")
    return remove_frame(ax, xlabel="association", ylabel="pairs of objects", xlim=(0, edges[-1]))


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


@in_style
def threshold_search(thresholds: ArrayLike, indices: ArrayLike, *, ax: Axes | None = None) -> Axes:
    """The index of the consensus at each threshold on the associations; the least one is marked.

    Parameters
    ----------
    thresholds : array-like of float, shape (t,)
        Ascending.
    indices : array-like of float, shape (t,)
        `mm_index` of the consensus at each; thresholds where it is infinite are ticks at the upper edge.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

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
    curve(ax, x[finite], y[finite])
    if finite.any():
        best = int(np.argmin(np.where(finite, y, np.inf)))
        ax.plot(x[best], y[best], "o", markersize=9, markerfacecolor="none", color=PALETTE[1])
        ax.annotate(f"{x[best]:.2f}", (x[best], y[best]), textcoords="offset points", xytext=(8, 4))
    if not finite.all():
        top = ax.get_xaxis_transform()
        ax.plot(x[~finite], np.full(np.count_nonzero(~finite), 0.98), "|", color=UNLABELLED_COLOR, transform=top)
    return remove_frame(ax, xlabel="threshold", ylabel="MM index")
