"""How many clusters, and how stable they are: figures by the number of clusters, by cluster and by resolution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ensemblage.base.validation import FRACTION, check_number, check_numbers, check_value

from ._axes import (
    PALETTE,
    UNLABELLED_COLOR,
    Axes,
    axes_or_new,
    check_length,
    check_mapping,
    check_marked_k,
    curve,
    in_style,
    label_ticks,
    legend_above,
    remove_frame,
    whole_numbers,
    whole_ticks,
)
from ._clusters import confidence_boxes, confidence_quantiles

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
    >>> from ensemblage.plotting._k_curves import consensus_cdfs
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
    >>> from ensemblage.plotting._k_curves import delta_areas
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
    >>> from ensemblage.plotting._k_curves import stability_curves
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
    >>> from ensemblage.plotting._k_curves import lifetimes
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
    >>> from ensemblage.plotting._k_curves import estimated_clusters
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
    >>> from ensemblage.plotting._k_curves import split_losses
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
    >>> from ensemblage.plotting._k_curves import evidence_by_number
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
    >>> from ensemblage.plotting._k_curves import criteria_by_number
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


# -- stability of clusters ---------------------------------------------------------------------------------------------


_OF_JACCARD = {0.6: "doubtful", 0.75: "stable", 0.85: "very stable"}
_OF_RESAMPLES = {0.7: "doubtful", 0.85: "stable"}
"""From which value on a word holds: of Jaccard similarities, of Rand indices of two resamples."""


@in_style
def cluster_jaccards(jaccard: ArrayLike, *, names: Sequence[object] | None = None, ax: Axes | None = None) -> Axes:
    """Jaccard similarities of each cluster with its matches in resamples, and the bounds of its verdict.

    Boxes are those of `confidence_by_cluster`; a diamond is the mean, which decides on the verdict.

    Parameters
    ----------
    jaccard : array-like of float, shape (k, n_comparisons)
        ``jaccard`` of what ``stability.cluster_stability`` returns. NaN is left out.
    names : sequence, optional
        Names of the clusters. Default: their numbers.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    Examples
    --------
    >>> from ensemblage.plotting._k_curves import cluster_jaccards
    >>> cluster_jaccards([[1.0, 0.9, 1.0], [0.4, 0.7, 0.5]]).get_ylabel()
    'Jaccard similarity'
    """
    ax = axes_or_new(ax)
    similar = check_numbers(jaccard, "jaccard of cluster_jaccards", ("k", "n_comparisons"))
    k, p = similar.shape
    check_length(names, k, "names of cluster_jaccards")
    confidence_boxes(confidence_quantiles(similar.ravel(), np.repeat(np.arange(k), p)), ax=ax)
    means = [row[~np.isnan(row)].mean() if (~np.isnan(row)).any() else np.nan for row in similar]
    ax.scatter(range(k), means, marker="D", s=28, color="white", edgecolors="black", zorder=3)
    _draw_bounds(ax, _OF_JACCARD)
    label_ticks(ax, "x", range(k), range(k) if names is None else names, most=20)
    return remove_frame(ax, xlabel="cluster", ylabel="Jaccard similarity", ylim=(0, 1.02))


@in_style
def prediction_strengths(
    strengths: Mapping[int, float],
    errors: Mapping[int, float] | None = None,
    *,
    supported: float = 0.8,
    n_clusters: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Prediction strength by the number of clusters. Values above the line, with their error, are supported.

    Parameters
    ----------
    strengths : mapping of int to float
        Mean strength of each number of clusters.
    errors : mapping of int to float, optional
        Standard errors of the means.
    supported : float, default 0.8
        Where the line is.
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
    >>> from ensemblage.plotting._k_curves import prediction_strengths
    >>> prediction_strengths({2: 0.9, 3: 0.95, 4: 0.4}, n_clusters=3).get_ylabel()
    'prediction strength'
    """
    check_number(supported, "supported of prediction_strengths", least=0)
    ax = curves_by_number({"": strengths}, "prediction strength", n_clusters, ax=ax)
    if errors is not None:
        check_mapping(errors, "errors of prediction_strengths")
        ks = sorted(strengths)
        ax.errorbar(
            ks, [strengths[k] for k in ks], [errors.get(k, 0.0) for k in ks], fmt="none", color=PALETTE[0], capsize=3
        )
    ax.axhline(supported, color="0.6", linewidth=1, linestyle="--")
    ax.set_ylim(0, 1.05)
    return ax


@in_style
def stability_by_resolution(
    stability: Mapping[float, float],
    found_again: Mapping[float, float] | None = None,
    *,
    plateaus: Sequence[tuple[float, float]] = (),
    best: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Agreement of the partitions of resamples at each resolution, and the range of resolutions of each cluster.

    Parameters
    ----------
    stability : mapping of float to float
        Mean adjusted Rand index of two resamples at each resolution.
    found_again : mapping of float to float, optional
        Share of the objects in reproduced clusters.
    plateaus : sequence of (low, high), optional
        The resolutions from which to which the clusters are about the same: a bar each.
    best : int, optional
        The plateau that was taken.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    Examples
    --------
    >>> from ensemblage.plotting._k_curves import stability_by_resolution
    >>> ax = stability_by_resolution({0.5: 0.9, 1.0: 0.95, 2.0: 0.6}, plateaus=[(0.5, 1.0), (2.0, 2.0)], best=0)
    >>> ax.get_xlabel(), ax.get_xscale()
    ('resolution', 'log')
    """
    ax = axes_or_new(ax)
    check_mapping(stability, "stability of stability_by_resolution")
    check_numbers([list(ends) for ends in plateaus] or [[1, 1]], "plateaus of stability_by_resolution", ("n", 2))
    curves = {"mean ARI of two resamples": stability, "objects in reproduced clusters": found_again or {}}
    for i, (name, by_resolution) in enumerate(curves.items()):
        known = sorted(by_resolution)
        values = check_numbers([by_resolution[r] for r in known], f"{name} of stability_by_resolution", ("n",))
        if len(known):
            ax.plot(known, values, ("o-", "s:")[i], markersize=4, color=PALETTE[i], label=name)
    _draw_bounds(ax, _OF_RESAMPLES)
    for number, (low, high) in enumerate(plateaus):
        color = PALETTE[2] if number == best else "0.7"
        ax.plot([low * 0.96, high * 1.04], [-0.06, -0.06], color=color, linewidth=5, solid_capstyle="butt", zorder=1)
    ax.set_xscale("log")
    ticks = sorted(stability)
    shown = ticks[:: -(-len(ticks) // 8)]
    ax.set_xticks(shown, labels=[f"{r:g}" for r in shown])
    ax.minorticks_off()
    legend_above(ax)
    return remove_frame(ax, xlabel="resolution", ylabel="stability", ylim=(-0.1, 1.03))


def _draw_bounds(ax: Axes, bounds: Mapping[float, str]) -> None:
    """A dashed line at each bound, its word at the right end."""
    for bound, word in bounds.items():
        ax.axhline(bound, color="0.75", linewidth=0.8, linestyle="--", zorder=0)
        ax.annotate(
            word, (1, bound), xycoords=("axes fraction", "data"), xytext=(3, 1), textcoords="offset points",
            fontsize="x-small", color="0.4", va="bottom",
        )  # fmt: skip
