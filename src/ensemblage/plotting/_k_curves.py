"""Curves and bars by the number of clusters: stability, lifetimes, losses, evidence against single clouds, criteria."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from ensemblage.base.validation import FRACTION, check_numbers, check_value

from ._axes import Axes, axes_or_new, curve, label_ticks, legend_above, remove_frame, whole_ticks
from ._checks import check_mapping, check_marked_k, whole_numbers
from ._colors import PALETTE, UNLABELLED_COLOR
from ._style import in_style

_MOST_BARS = 15


@in_style
def consensus_cdfs(
    distributions: Mapping[int, tuple[ArrayLike, ArrayLike]], *, n_clusters: int | None = None, ax: Axes | None = None
) -> Axes:
    """One curve per number of clusters: share of the pairs with at most that consensus. Flat in the middle is stable.

    Parameters
    ----------
    distributions : mapping of int to pair of array-like
        For each k what ``metrics.consensus_cdf`` returns.
    n_clusters : int, optional
        The number that was chosen: its curve is thick.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    Examples
    --------
    >>> from ensemblage.plotting import consensus_cdfs
    >>> ax = consensus_cdfs({2: ([0, 1], [0.5, 1]), 3: ([0, 1], [0.7, 1])}, n_clusters=2)
    >>> [line.get_label() for line in ax.lines]
    ['k = 2', 'k = 3']
    """
    ax = axes_or_new(ax)
    check_mapping(distributions, "distributions of consensus_cdfs")
    check_marked_k(n_clusters)
    for i, (k, distribution) in enumerate(sorted(distributions.items())):
        values, cdf = check_numbers(distribution, f"values and distribution of k = {k}", (2, "n"))
        width = 3 if k == n_clusters else 1.2
        ax.step(values, cdf, where="post", label=f"k = {k}", color=PALETTE[i % len(PALETTE)], linewidth=width)
    legend_above(ax)
    return remove_frame(ax, xlabel="consensus", ylabel="share of the pairs", xlim=(0, 1), ylim=(0, 1.02))


@in_style
def delta_areas(growth: Mapping[int, float], *, n_clusters: int | None = None, ax: Axes | None = None) -> Axes:
    """Relative growth of the area under the consensus distribution, by the number of clusters.

    Parameters
    ----------
    growth : mapping of int to float
        What ``metrics.delta_area`` returns.
    n_clusters : int, optional
        The number that was chosen: a vertical line.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    Examples
    --------
    >>> from ensemblage.plotting import delta_areas
    >>> delta_areas({2: 0.5, 3: 0.3, 4: 0.02}, n_clusters=3).get_xlabel()
    'number of clusters'
    """
    return curves_by_number({"": growth}, "growth of the area under the curve", n_clusters, ax=ax)


@in_style
def stability_curves(
    pac: Mapping[int, float],
    reference_pac: Mapping[int, float] | None = None,
    *,
    n_clusters: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Share of ambiguous pairs by the number of clusters, on the data and on data without clusters.

    Parameters
    ----------
    pac : mapping of int to float
        PAC of each number of clusters.
    reference_pac : mapping of int to float, optional
        Mean PAC of data without clusters (``choose_k``).
    n_clusters : int, optional
        The number that was chosen: a vertical line.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    Examples
    --------
    >>> from ensemblage.plotting import stability_curves
    >>> len(stability_curves({2: 0.4, 3: 0.01}, {2: 0.5, 3: 0.3}).lines)
    2
    """
    curves = {"these data": pac, **({} if reference_pac is None else {"data without clusters": reference_pac})}
    return curves_by_number(curves, "share of ambiguous pairs (PAC)", n_clusters, ax=ax)


@in_style
def curves_by_number(
    curves: Mapping[str, Mapping[int, float]], title: str, n_clusters: int | None, *, ax: Axes | None = None
) -> Axes:
    """Lines by the number of clusters, named if there are several."""
    ax = axes_or_new(ax)
    check_marked_k(n_clusters)
    if n_clusters is not None:
        ax.axvline(n_clusters, color="0.85", linewidth=4, zorder=0)
    for color, (name, by_k) in zip((PALETTE[0], UNLABELLED_COLOR), curves.items(), strict=False):
        check_mapping(by_k, "Numbers by the number of clusters")
        ks = sorted(by_k)
        ax.plot(ks, [by_k[k] for k in ks], marker="o", markersize=4, color=color, label=name)
    if len(curves) > 1:
        legend_above(ax)
    whole_ticks(ax.xaxis)
    return remove_frame(ax, xlabel="number of clusters", ylabel=title)


@in_style
def lifetimes(lives: Mapping[int, float], *, n_clusters: int | None = None, ax: Axes | None = None) -> Axes:
    """Bars: the lifetime of each number of clusters in a hierarchy. One long bar is a clear choice.

    Parameters
    ----------
    lives : mapping of int to float
        ``lifetimes_`` of a consensus. Of more than 15 the longest are drawn.
    n_clusters : int, optional
        The number that was chosen: its bar is dark.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    Examples
    --------
    >>> from ensemblage.plotting import lifetimes
    >>> len(lifetimes({4: 0.03, 3: 0.0, 2: 0.53}, n_clusters=2).patches)
    3
    """
    ax = axes_or_new(ax)
    check_mapping(lives, "lives of lifetimes")
    check_marked_k(n_clusters)
    ks = sorted(sorted(lives, key=lambda k: -lives[k])[:_MOST_BARS])
    colors = [PALETTE[0] if k == n_clusters else UNLABELLED_COLOR for k in ks]
    ax.bar(range(len(ks)), [lives[k] for k in ks], width=0.8, color=colors)
    label_ticks(ax, "x", range(len(ks)), ks)
    return remove_frame(ax, xlabel="number of clusters", ylabel="lifetime")


@in_style
def estimated_clusters(counts: ArrayLike, *, share: float = 0.95, ax: Axes | None = None) -> Axes:
    """Pareto chart of the number of clusters found over repeated runs (Ayad & Kamel, Figs. 1 and 2).

    Parameters
    ----------
    counts : array-like of int, shape (n_runs,)
        The number that each run found.
    share : float, default 0.95
        Bars are drawn, the most frequent number first, until they cover this share of the runs.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        Bars count runs; a twin axis on the right carries the cumulative percentage.

    Examples
    --------
    >>> from ensemblage.plotting import estimated_clusters
    >>> len(estimated_clusters([5, 5, 4, 5]).patches)
    2
    """
    ax = axes_or_new(ax)
    check_value(share, "share of estimated_clusters", [FRACTION])
    found = whole_numbers(counts, "counts of estimated_clusters", ("runs",), least=1)
    ks, runs = np.unique(found, return_counts=True)
    order = np.lexsort((ks, -runs))
    covered = np.cumsum(runs[order]) / runs.sum()
    drawn = order[: int(np.searchsorted(covered, share - 1e-9)) + 1]
    places = np.arange(len(drawn))
    ax.bar(places, runs[drawn], width=0.8, color=PALETTE[0])
    right = ax.twinx()
    right.plot(places, 100 * covered[: len(drawn)], color=PALETTE[1], marker="o", markersize=3)
    right.set(ylim=(0, 105), ylabel="cumulative % of the runs")
    label_ticks(ax, "x", places.tolist(), ks[drawn].tolist())
    whole_ticks(ax.yaxis)
    ax.set(xlabel="number of clusters found", ylabel="runs")
    ax.spines["top"].set_visible(False)
    right.spines["top"].set_visible(False)
    return ax


@in_style
def split_losses(losses: ArrayLike, *, ax: Axes | None = None) -> Axes:
    """Curve of the k-means loss after each split of a tree. After a bend, further splits add little.

    Parameters
    ----------
    losses : array-like of float, shape (k,)
        Loss of 1, 2, …, k clusters.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    Examples
    --------
    >>> from ensemblage.plotting import split_losses
    >>> split_losses([8.0, 2.0, 1.0]).lines[0].get_ydata().tolist()
    [100.0, 25.0, 12.5]
    """
    ax = axes_or_new(ax)
    left = check_numbers(losses, "losses of split_losses", ("k",), least=1)
    shares = 100 * left / left[0] if left[0] > 0 else np.zeros(len(left))
    curve(ax, np.arange(1, len(left) + 1), shares)
    whole_ticks(ax.xaxis)
    return remove_frame(ax, xlabel="number of clusters", ylabel="loss left (%)", ylim=(0, 105))


@in_style
def evidence_by_number(
    log_within: Mapping[int, float],
    references: Mapping[int, ArrayLike],
    *,
    n_clusters: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Separation of the clusters against single clouds of the same shape, by the number of clusters.

    Parameters
    ----------
    log_within : mapping of int to float
        Logarithm of W_k / W_1 for each number of clusters.
    references : mapping of int to (low, mean, high)
        Of the clouds: the band and the line in it.
    n_clusters : int, optional
        The number that was chosen: a vertical line.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

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
        {"these data": log_within, "their mean": means}, "ln of the spread in clusters", n_clusters, ax=ax
    )


@in_style
def criteria_by_number(
    criteria: Mapping[str, Mapping[int, float]], *, n_clusters: int | None = None, ax: Axes | None = None
) -> Axes:
    """A line per criterion by the number of clusters, all of them at most 1.

    Parameters
    ----------
    criteria : mapping of str to mapping of int to float
        Values by number of clusters, under the name of each criterion.
    n_clusters : int, optional
        The number that was chosen: a vertical line.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    Examples
    --------
    >>> from ensemblage.plotting import criteria_by_number
    >>> ax = criteria_by_number({"silhouette": {2: 0.5, 3: 0.7}, "strength": {2: 0.9, 3: 1.0}}, n_clusters=3)
    >>> [line.get_label() for line in ax.lines[1:]]
    ['silhouette', 'strength']
    """
    ax = axes_or_new(ax)
    check_mapping(criteria, "criteria of criteria_by_number")
    check_marked_k(n_clusters)
    if n_clusters is not None:
        ax.axvline(n_clusters, color="0.85", linewidth=4, zorder=0)
    for i, (name, by_k) in enumerate(criteria.items()):
        check_mapping(by_k, f"criteria of criteria_by_number, {name},")
        values = check_numbers([by_k[k] for k in sorted(by_k)], f"criteria of criteria_by_number, {name},", ("k",))
        marker, style = "osD^v<>"[i % 7], ("-", "--", ":", "-.")[i % 4]
        ax.plot(sorted(by_k), values, style, marker=marker, markersize=4, color=PALETTE[i % len(PALETTE)], label=name)
    legend_above(ax)
    whole_ticks(ax.xaxis)
    ax.set_ylim(top=1.03)
    return remove_frame(ax, xlabel="number of clusters", ylabel="criterion")
