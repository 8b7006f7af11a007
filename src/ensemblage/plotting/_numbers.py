"""How many clusters: against single clouds, from one number to the next, and by several criteria."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ensemblage.base.validation import check_numbers

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


def clustree(
    labels: Mapping[Any, ArrayLike],
    *,
    n_clusters: float | None = None,
    color: Mapping[Any, ArrayLike] | ArrayLike | None = None,
    ax: Axes | None = None,
) -> Axes:
    """From one number of clusters to the next: a row per number, a dot per cluster, lines where its objects come from.

    The width of a line is the share of the lower cluster that comes from the upper one; a cluster with one thick line
    is a part of one cluster, one with several takes parts of several.

    Parameters
    ----------
    labels : mapping of number to array-like of int, shape (n,)
        Clusters of the same objects for each number of clusters, or for each resolution; -1 for none.
    n_clusters : number, optional
        The row that was chosen: where there are no colours it stands out, else it is marked.
    color : array-like of shape (n,), or mapping of number to array-like of shape (n_clusters,), optional
        A variable, of which a cluster has the mean of its objects; or a value for each cluster, as its stability.
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
    if n_clusters is not None and n_clusters not in labels:
        check_chosen(n_clusters)
    ks = sorted(labels)
    first = whole_numbers(labels[ks[0]], "labels of clustree", ("n",))
    columns = {k: whole_numbers(labels[k], "labels of clustree", (len(first),)) for k in ks}
    values = _values_of_clusters(color, columns)
    from matplotlib.colors import Normalize

    shown = Normalize(*_limits(values, is_share=isinstance(color, Mapping))) if values else None
    places: dict[Any, np.ndarray] = {}
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
        plain = PALETTE[0] if n_clusters in (None, k) else "0.7"
        given: dict[str, Any] = (
            {"color": plain} if shown is None else {"c": values[k], "cmap": "viridis_r", "norm": shown}
        )
        area = _LARGEST_NODE * sizes / max(1, sizes.sum()) + 12
        edge = "black" if shown is not None and n_clusters == k else "white"
        drawn = ax.scatter(places[k], [row] * len(x), s=area, edgecolors=edge, linewidths=0.8, zorder=2, **given)
    if shown is not None:
        ax.figure.colorbar(drawn, ax=ax, shrink=0.6, label="stability" if isinstance(color, Mapping) else "mean")
    ax.set_yticks(range(len(ks)), labels=[f"{k:g}" for k in ks])
    ax.set_xticks([])
    ax.set_ylim(len(ks) - 0.5, -0.5)
    are_numbers = all(isinstance(k, int | np.integer) for k in ks)
    return without_frame(ax, xlabel="", ylabel="number of clusters" if are_numbers else "resolution")


def _values_of_clusters(color: Any, columns: Mapping[Any, np.ndarray]) -> dict[Any, np.ndarray]:
    """By number a value for each cluster; empty without any."""
    if color is None:
        return {}
    subject = "color of clustree"
    if isinstance(color, Mapping):
        if missing := [k for k in columns if k not in color]:
            raise ValueError(f"{subject} must have the numbers of the labels. Got none for {missing[0]:g}. Add it.")
        return {k: check_numbers(color[k], subject, (max(1, int(z.max()) + 1),)) for k, z in columns.items()}
    n = len(next(iter(columns.values())))
    given = check_numbers(color, subject, (n,))
    means = {}
    for k, labels in columns.items():
        has = (labels >= 0) & ~np.isnan(given)
        sizes = np.bincount(labels[has], minlength=max(1, int(labels.max()) + 1))
        means[k] = np.bincount(labels[has], given[has], len(sizes)) / np.where(sizes > 0, sizes, np.nan)
    return means


def _limits(values: Mapping[Any, np.ndarray], is_share: bool) -> tuple[float, float]:
    """Of the colours: the least to the largest; 0 to 1 where shares are given."""
    known = np.concatenate(list(values.values()))
    low, high = np.nanmin(known), np.nanmax(known)
    return (0.0, 1.0) if is_share and low >= 0 and high <= 1 else (float(low), float(high))
