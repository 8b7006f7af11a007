"""How many clusters: against single clouds, from one number to the next, and by several criteria."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from ensemblage._validation import check_numbers

from ._arrays import check_chosen, check_mapping, whole_numbers
from ._axes import Axes, axes_or_new, without_frame
from ._by_number import curves_by_number
from ._colors import PALETTE, UNLABELLED_COLOR

_LEAST_SHARE = 0.05
"""Of a cluster of the larger number, for its tie to one of the smaller number to be drawn."""
_LARGEST_NODE = 420.0


def evidence_by_number(
    log_within: Mapping[int, float],
    references: Mapping[int, ArrayLike],
    *,
    n_clusters: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """How far the objects are from their centres, against single clouds of the same shape, by the number of clusters.

    Parameters
    ----------
    log_within : mapping of int to float
        Logarithm of W_k / W_1 for each number of clusters.
    references : mapping of int to (low, mean, high)
        Of the clouds: the band and the line in it.
    {number_chosen}
    {ax}

    Examples
    --------
    >>> from ensemblage.plotting import evidence_by_number
    >>> evidence_by_number({2: 4.0, 3: 2.0}, {2: (4.0, 4.1, 4.2), 3: (3.6, 3.7, 3.8)}).get_xlabel()
    'number of clusters'
    """
    ax = axes_or_new(ax)
    check_mapping(references, "references of evidence_by_number")
    ks = sorted(references)
    bands = check_numbers([references[k] for k in ks], "references of evidence_by_number", ("k", 3))
    ax.fill_between(ks, bands[:, 0], bands[:, 2], color=UNLABELLED_COLOR, alpha=0.35, lw=0, label="single clouds, 90 %")
    means = dict(zip(ks, bands[:, 1].tolist(), strict=True))
    return curves_by_number(
        ax, {"these data": log_within, "their mean": means}, "ln of the spread in clusters", n_clusters
    )


def criteria_by_number(
    criteria: Mapping[str, Mapping[int, float]], *, n_clusters: int | None = None, ax: Axes | None = None
) -> Axes:
    """A line per criterion by the number of clusters, all of them at most 1.

    Parameters
    ----------
    criteria : mapping of str to mapping of int to float
        Values by number of clusters, under the name of each criterion.
    {number_chosen}
    {ax}

    Examples
    --------
    >>> from ensemblage.plotting import criteria_by_number
    >>> ax = criteria_by_number({"silhouette": {2: 0.5, 3: 0.7}, "strength": {2: 0.9, 3: 1.0}}, n_clusters=3)
    >>> [line.get_label() for line in ax.lines[1:]]
    ['silhouette', 'strength']
    """
    from matplotlib.ticker import MaxNLocator

    ax = axes_or_new(ax)
    check_mapping(criteria, "criteria of criteria_by_number")
    check_chosen(n_clusters)
    if n_clusters is not None:
        ax.axvline(n_clusters, color="0.85", linewidth=4, zorder=0)
    for i, (name, by_k) in enumerate(criteria.items()):
        check_mapping(by_k, f"criteria of criteria_by_number, {name},")
        values = check_numbers([by_k[k] for k in sorted(by_k)], f"criteria of criteria_by_number, {name},", ("k",))
        marker, style = "osD^v<>"[i % 7], ("-", "--", ":", "-.")[i % 4]
        ax.plot(sorted(by_k), values, style, marker=marker, markersize=4, color=PALETTE[i % len(PALETTE)], label=name)
    ax.legend(frameon=False, fontsize="small")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_ylim(top=1.03)
    return without_frame(ax, xlabel="number of clusters", ylabel="criterion")


def clustree(labels: Mapping[int, ArrayLike], *, n_clusters: int | None = None, ax: Axes | None = None) -> Axes:
    """From one number of clusters to the next: a row per number, a dot per cluster, lines where its objects come from.

    The width of a line is the share of the lower cluster that comes from the upper one; a cluster with one thick line
    is a part of one cluster, one with several takes parts of several.

    Parameters
    ----------
    labels : mapping of int to array-like of int, shape (n,)
        Clusters of the same objects for each number, -1 for none.
    {number_chosen}
    {ax}

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
    check_chosen(n_clusters)
    ks = sorted(labels)
    first = whole_numbers(labels[ks[0]], "labels of clustree", ("n",))
    columns = {k: whole_numbers(labels[k], "labels of clustree", (len(first),)) for k in ks}
    places: dict[int, np.ndarray] = {}
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
        color = PALETTE[0] if n_clusters in (None, k) else "0.7"
        area = _LARGEST_NODE * sizes / max(1, sizes.sum()) + 12
        ax.scatter(places[k], np.full(len(x), row), s=area, color=color, edgecolors="white", linewidths=0.8, zorder=2)
    ax.set_yticks(range(len(ks)), labels=[str(k) for k in ks])
    ax.set_xticks([])
    ax.set_ylim(len(ks) - 0.5, -0.5)
    return without_frame(ax, xlabel="", ylabel="number of clusters")
