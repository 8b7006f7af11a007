"""Monti's consensus clustering: how stable each number of clusters is, and each object's place."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ensemblage._validation import check_numbers, check_whole

from ._arrays import check_chosen, check_mapping, whole_numbers
from ._axes import axes_or_new, label_ticks, without_frame
from ._colors import PALETTE, UNLABELLED_COLOR, cluster_colors

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def consensus_cdfs(
    distributions: Mapping[int, tuple[ArrayLike, ArrayLike]], *, n_clusters: int | None = None, ax: "Axes | None" = None
) -> "Axes":
    """One curve per number of clusters: share of the pairs with at most that consensus. Flat in the middle is stable.

    Parameters
    ----------
    distributions : mapping of int to pair of array-like
        For each k what ``metrics.consensus_cdf`` returns.
    n_clusters : int, optional
        The number that was chosen: its curve is thick.
    {ax}

    Examples
    --------
    >>> from ensemblage.plotting import consensus_cdfs
    >>> ax = consensus_cdfs({2: ([0, 1], [0.5, 1]), 3: ([0, 1], [0.7, 1])}, n_clusters=2)
    >>> [line.get_label() for line in ax.lines]
    ['k = 2', 'k = 3']
    """
    ax = axes_or_new(ax)
    check_mapping(distributions, "distributions of consensus_cdfs")
    check_chosen(n_clusters)
    for i, (k, curve) in enumerate(sorted(distributions.items())):
        values, cdf = check_numbers(curve, f"values and distribution of k = {k}", (2, "n"))
        width = 3 if k == n_clusters else 1.2
        ax.step(values, cdf, where="post", label=f"k = {k}", color=PALETTE[i % len(PALETTE)], linewidth=width)
    ax.legend(frameon=False, fontsize="small")
    ax.set(xlabel="consensus", ylabel="share of the pairs", xlim=(0, 1), ylim=(0, 1.02))
    without_frame(ax)
    return ax


def delta_areas(growth: Mapping[int, float], *, n_clusters: int | None = None, ax: "Axes | None" = None) -> "Axes":
    """Relative growth of the area under the consensus distribution, by the number of clusters.

    Parameters
    ----------
    growth : mapping of int to float
        What ``metrics.delta_area`` returns.
    {number_chosen}
    {ax}

    Examples
    --------
    >>> from ensemblage.plotting import delta_areas
    >>> delta_areas({2: 0.5, 3: 0.3, 4: 0.02}, n_clusters=3).get_xlabel()
    'number of clusters'
    """
    return _by_number(ax, {"": growth}, "growth of the area under the curve", n_clusters)


def stability_curves(
    pac: Mapping[int, float],
    reference_pac: Mapping[int, float] | None = None,
    *,
    n_clusters: int | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Share of ambiguous pairs by the number of clusters, on the data and on data without clusters.

    Parameters
    ----------
    pac : mapping of int to float
        PAC of each number of clusters.
    reference_pac : mapping of int to float, optional
        Mean PAC of data without clusters (``choose_k``).
    {number_chosen}
    {ax}

    Examples
    --------
    >>> from ensemblage.plotting import stability_curves
    >>> len(stability_curves({2: 0.4, 3: 0.01}, {2: 0.5, 3: 0.3}).lines)
    2
    """
    curves = {"these data": pac, **({} if reference_pac is None else {"data without clusters": reference_pac})}
    return _by_number(ax, curves, "share of ambiguous pairs (PAC)", n_clusters)


def _by_number(
    ax: "Axes | None", curves: Mapping[str, Mapping[int, float]], title: str, n_clusters: int | None
) -> "Axes":
    from matplotlib.ticker import MaxNLocator

    ax = axes_or_new(ax)
    check_chosen(n_clusters)
    if n_clusters is not None:
        ax.axvline(n_clusters, color="0.85", linewidth=4, zorder=0)
    for color, (name, by_k) in zip((PALETTE[0], UNLABELLED_COLOR), curves.items(), strict=False):
        check_mapping(by_k, "Numbers by the number of clusters")
        ks = sorted(by_k)
        ax.plot(ks, [by_k[k] for k in ks], marker="o", markersize=4, color=color, label=name)
    if len(curves) > 1:
        ax.legend(frameon=False)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set(xlabel="number of clusters", ylabel=title)
    without_frame(ax)
    return ax


def item_consensus_bars(
    consensus: ArrayLike, clusters: ArrayLike, *, most: int = 200, ax: "Axes | None" = None
) -> "Axes":
    """Stacked bars: the consensus of each object with every cluster, objects ordered by their own cluster.

    Within a cluster the surest object is on the left. Of more than ``most`` objects an even choice is drawn.

    Parameters
    ----------
    consensus : array-like of float, shape (n, k)
        What ``metrics.item_consensus`` returns; objects with NaN are left out.
    clusters : array-like of int, shape (n,)
        Cluster of each object, columns of ``consensus``; negative ones are left out.
    most : int, default 200
        Objects to draw.
    {ax}

    Examples
    --------
    >>> from ensemblage.plotting import item_consensus_bars
    >>> len(item_consensus_bars([[0.9, 0.2], [0.8, 0.1], [0.1, 0.7]], [0, 0, 1]).patches)
    6
    """
    ax = axes_or_new(ax, 6.4, 3.6)
    shares = check_numbers(consensus, "consensus of item_consensus_bars", ("n", "k"), least=1)
    labels = whole_numbers(clusters, "clusters of item_consensus_bars", (len(shares),))
    if labels.max() >= shares.shape[1]:
        raise ValueError(
            f"clusters of item_consensus_bars must be columns of consensus, below {shares.shape[1]}. "
            f"Got {labels.max()}. Number them from 0."
        )
    check_whole(most, "most of item_consensus_bars", 1)
    own = shares[np.arange(len(labels)), np.maximum(labels, 0)]
    order = np.lexsort((-own, labels))
    order = order[(labels[order] >= 0) & np.isfinite(own[order])]
    order = order[np.linspace(0, len(order) - 1, min(most, len(order))).round().astype(np.int64)]
    below = np.zeros(len(order))
    for c, color in enumerate(cluster_colors(np.arange(shares.shape[1]))):
        ax.bar(np.arange(len(order)), shares[order, c], bottom=below, width=1.0, color=color)
        below += shares[order, c]
    _name_clusters(ax, labels[order].tolist())
    ax.set(xlabel="objects, ordered by cluster", ylabel="consensus with each cluster", xlim=(-0.5, len(order) - 0.5))
    without_frame(ax)
    return ax


def _name_clusters(ax: "Axes", labels: Sequence[int]) -> None:
    """Name every run of a cluster in its middle, and draw lines between them."""
    numbers, starts, counts = np.unique(labels, return_index=True, return_counts=True)
    ax.vlines(starts[1:] - 0.5, 0, 1, color="black", linewidth=0.6, transform=ax.get_xaxis_transform())
    label_ticks(ax, "x", (starts + (counts - 1) / 2).tolist(), numbers.tolist(), most=20)
