"""The clustering tree: where the objects of each cluster go from one number of clusters to the next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ensemblage.base.validation import check_numbers

from ._axes import Axes, axes_or_new, remove_frame
from ._checks import check_mapping, check_marked_k, whole_numbers
from ._colors import PALETTE
from ._style import in_style

_LEAST_SHARE = 0.05
"""Of a cluster of the larger number, for its tie to one of the smaller number to be drawn."""
_LARGEST_NODE = 420.0


@in_style
def clustree(
    labels: Mapping[Any, ArrayLike],
    *,
    n_clusters: float | None = None,
    color: Mapping[Any, ArrayLike] | ArrayLike | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Tree over numbers of clusters: a row per number, a dot per cluster, lines for the objects that they share.

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
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

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
        check_marked_k(n_clusters)
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
    return remove_frame(ax, xlabel="", ylabel="number of clusters" if are_numbers else "resolution")


def _values_of_clusters(color: Any, columns: Mapping[Any, np.ndarray]) -> dict[Any, np.ndarray]:
    """By number a value for each cluster; empty without any."""
    if color is None:
        return {}
    subject = "color of clustree"
    if isinstance(color, Mapping):
        if missing := [k for k in columns if k not in color]:
            raise ValueError(
                f"{subject} must have the numbers of the labels. Got none for {missing[0]:g}. Add that clustering."
            )
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
