"""Matrices as heat maps, of objects ordered by cluster and of partitions; the associations of pairs, and thresholds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.base.renamed import renamed_parameters
from ensemblage.base.validation import check_number, check_numbers, format_value

from ._axes import (
    PALETTE,
    UNLABELLED_COLOR,
    Axes,
    axes_of,
    axes_or_new,
    check_length,
    check_sizes,
    cluster_colors,
    curve,
    heat_map,
    in_style,
    label_ticks,
    legend_above,
    printable,
    remove_frame,
    whole_numbers,
)
from ._models import association_of, is_model

_PIXELS = 600
_NARROWEST_NAMED = 0.035
_MOST_NAMES = 30
_STEPS = [digit * 10**zeros for zeros in range(9) for digit in (1, 2, 5)]


@in_style
def agreement(
    matrix: ArrayLike,
    consensus_agreement: ArrayLike | None = None,
    *,
    names: Sequence[object] | None = None,
    label: str = "adjusted Rand index",
    cmap: Any = "YlGnBu",
    ax: Axes | None = None,
) -> Axes:
    """Heat map of the agreement of all pairs of partitions, with a strip for the consensus on top.

    Members are drawn in the order given. Beyond 30 of them names give way to numbers.

    Parameters
    ----------
    matrix : array-like of float, shape (p, p)
        Agreement of the members with each other, 1 = equal. Values below 0 are drawn as 0.
    consensus_agreement : array-like of float, shape (p,), optional
        Agreement of each member with the consensus.
    names : sequence, optional
        Names of the members.
    label : str, default "adjusted Rand index"
        What the numbers are.
    cmap : str or matplotlib Colormap, default "YlGnBu"
        Colours from 0 to 1.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    Examples
    --------
    >>> from ensemblage.plotting import agreement
    >>> agreement([[1, 0.5], [0.5, 1]], [0.8, 0.9], names=["a", "b"]).get_xlabel()
    'partitions'
    """
    ax = axes_or_new(ax, 4.8, 4.1)
    values = check_numbers(matrix, "matrix of agreement", ("p", "p"), least=1)
    p = len(values)
    check_length(names, p, "names of agreement")
    strip_values = (
        None
        if consensus_agreement is None
        else check_numbers(consensus_agreement, "consensus_agreement of agreement", (p,))
    )
    style = {"cmap": _color_map(cmap, "agreement"), "vmin": 0, "vmax": 1, "interpolation": "none", "aspect": "auto"}
    image = ax.imshow(values, extent=(0, p, p, 0), **style)
    strip = max(1.0, p / 18)
    if strip_values is not None:
        ax.imshow(strip_values[None], extent=(0, p, -0.4 * strip, -1.4 * strip), **style)
    _name_members(ax, p, names, -0.9 * strip if consensus_agreement is not None else None)
    ax.set(xlim=(0, p), ylim=(p, 0 if consensus_agreement is None else -1.4 * strip), xlabel="partitions")
    ax.spines[:].set_visible(False)
    below = bool((values < 0).any())
    ax.figure.colorbar(image, ax=ax, label=label, fraction=0.05, pad=0.03, extend="min" if below else "neither")
    return ax


def _color_map(cmap: Any, owner: str) -> Any:
    """The colormap of that name, or the colormap itself."""
    from matplotlib import colormaps

    try:
        return colormaps.get_cmap(cmap)
    except (TypeError, ValueError):
        raise ValueError(
            f"cmap of {owner} must be a Colormap of matplotlib or the name of one. Got {format_value(cmap)}. Give one, "
            "such as 'Blues'."
        ) from None


def _name_members(ax: Axes, p: int, names: Sequence[object] | None, consensus_at: float | None) -> None:
    named = names is not None and p <= _MOST_NAMES
    step = 1 if named else next(step for step in _STEPS if p <= 10 * step)
    members = list(range(step - 1, p, step))
    labels = [names[i] if named and names is not None else i + 1 for i in members]
    positions = [i + 0.5 for i in members]
    label_ticks(ax, "x", positions, [""] * len(labels) if named else labels)
    if consensus_at is not None:
        positions, labels = [consensus_at, *positions], ["consensus", *labels]
    label_ticks(ax, "y", positions, labels, most=_MOST_NAMES + 1)
    ax.tick_params(length=0)


@renamed_parameters(clustering="partition")
@in_style
def consensus_matrix(
    matrix: ArrayLike | Any,
    partition: ArrayLike | Any = None,
    *,
    sizes: ArrayLike | None = None,
    label: str = "share of partitions that join the two objects",
    cmap: Any = "Blues",
    ax: Axes | None = None,
) -> Axes:
    """Co-association of objects ordered by cluster. Dark blocks on the diagonal are clusters of high agreement.

    The rows of a cluster stay in the order given. O(r² + 600²) time and memory for r rows.

    Parameters
    ----------
    matrix : array-like of float, shape (r, r), or label matrix, or fitted model
        Share of partitions that join rows i and j. NaN is grey. With a model as ``partition``, the label matrix that
        it was fitted to, of which at most 600 objects are drawn; a model of features can be given alone.
    partition : array-like of int, shape (r,), or fitted model
        Cluster of each row; negative: no partition labels it (drawn last).
    sizes : array-like of float, shape (r,), optional
        How many objects each row stands for: it is drawn that wide. Default: one.
    label : str
        What the numbers are.
    cmap : str or matplotlib Colormap, default "Blues"
        Colours from 0 to 1.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    Examples
    --------
    >>> from ensemblage.plotting import consensus_matrix
    >>> consensus_matrix([[1, 0.5], [0.5, 1]], [0, 1]).get_xlabel()
    'objects, ordered by cluster'
    """
    fitted = matrix if partition is None else partition
    if is_model(fitted):
        matrix, partition = association_of(matrix, fitted)
    ax = axes_or_new(ax, 4.8, 4.1)
    colors = _color_map(cmap, "consensus_matrix")
    shares = check_numbers(matrix, "matrix of consensus_matrix", ("r", "r"), least=1)
    labels = whole_numbers(partition, "partition of consensus_matrix", (len(shares),))
    widths = check_sizes(sizes, len(shares), "sizes of consensus_matrix")
    order = np.argsort(np.where(labels < 0, labels.max(initial=0) + 1, labels), kind="stable")
    labels, ends = labels[order], np.cumsum(widths[order])
    total = float(ends[-1])
    shown = order[_rows_of_pixels(ends)]
    heat_map(ax, shares[np.ix_(shown, shown)], (0, total, total, 0), label, colors)
    _mark_clusters(ax, labels, ends)
    ax.set(xlabel="objects, ordered by cluster", ylabel="cluster")
    return ax


def _rows_of_pixels(ends: NDArray[np.float64]) -> NDArray[np.int64]:
    """The row that each pixel of the picture shows, when row i ends at ``ends[i]``."""
    n_pixels = _PIXELS if len(ends) > _PIXELS or np.ptp(np.diff(ends, prepend=0)) > 0 else len(ends)
    centres = (np.arange(n_pixels) + 0.5) / n_pixels * ends[-1]
    rows: NDArray[np.int64] = np.searchsorted(ends[:-1], centres, side="right").astype(np.int64)
    return rows


def _mark_clusters(ax: Axes, labels: NDArray[np.int64], ends: NDArray[np.float64]) -> None:
    last = np.flatnonzero(np.append(labels[1:] != labels[:-1], True))
    stops, total = ends[last], float(ends[-1])
    starts = np.append(0, stops[:-1])
    colors = cluster_colors(labels[last])
    ax.hlines(stops[:-1], 0, total, color="0.7", linewidth=0.4)
    ax.vlines(stops[:-1], 0, total, color="0.7", linewidth=0.4)
    ax.bar(-0.025 * total, stops - starts, bottom=starts, width=0.03 * total, color=colors)
    ax.bar(starts, 0.03 * total, bottom=-0.04 * total, width=stops - starts, color=colors, align="edge")
    wide = stops - starts >= _NARROWEST_NAMED * total
    names = [str(cluster) if cluster >= 0 else "unlabelled" for cluster in labels[last][wide].tolist()]
    ax.set_yticks(((starts + stops) / 2)[wide], labels=names)
    ax.set_xticks([])
    ax.tick_params(length=0)
    ax.set(xlim=(-0.04 * total, total), ylim=(total, -0.04 * total))
    ax.spines[:].set_visible(False)


@renamed_parameters(clustering="partition")
@in_style
def thresholded_matrices(
    matrix: ArrayLike,
    partition: ArrayLike,
    association_threshold: float,
    *,
    sizes: ArrayLike | None = None,
    axes: tuple[Axes, Axes] | None = None,
) -> tuple[Axes, Axes]:
    """The consensus matrix before and after the associations up to a threshold are set to 0.

    O(r² + 600²) time and memory for r rows.

    Parameters
    ----------
    matrix : array-like of float, shape (r, r)
        Share of partitions that join rows i and j.
    partition : array-like of int, shape (r,)
        Cluster of each row.
    association_threshold : float
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
    >>> from ensemblage.plotting._matrices import thresholded_matrices
    >>> before, after = thresholded_matrices([[1, 0.2], [0.2, 1]], [0, 1], 0.3)
    >>> after.images[0].get_array().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    left, right = _two_axes(axes)
    shares = check_numbers(matrix, "matrix of thresholded_matrices", ("r", "r"), least=1)
    check_number(association_threshold, "association_threshold of thresholded_matrices", least=0)
    strong = np.where((shares <= association_threshold) & ~np.eye(len(shares), dtype=bool), 0.0, shares)
    consensus_matrix(shares, partition, sizes=sizes, ax=left)
    consensus_matrix(strong, partition, sizes=sizes, ax=right)
    left.set_title("before", fontsize="medium")
    right.set_title(f"without associations up to {association_threshold:.3g}", fontsize="medium")
    return left, right


def _two_axes(axes: Any) -> tuple[Axes, Axes]:
    """Those that were given, if they are two; of a new figure where there are none."""
    if axes is None:
        from matplotlib.figure import Figure

        left, right = Figure(figsize=(9.6, 4.1), layout="constrained").subplots(1, 2)
        return left, right
    try:
        left, right = axes
    except (TypeError, ValueError):
        raise TypeError(
            f"axes must be two matplotlib Axes, or None for a new figure. Got {format_value(axes)}. "
            "Give what plt.subplots(1, 2) returns as its second value."
        ) from None
    return axes_or_new(left), axes_or_new(right)


# -- associations of pairs, and thresholds -----------------------------------------------------------------------------


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
        Pairs by the number of partitions that join them. Pairs that nothing joins are not drawn.
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
    >>> from ensemblage.plotting._matrices import association_histogram
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
    >>> from ensemblage.plotting._matrices import threshold_search
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
