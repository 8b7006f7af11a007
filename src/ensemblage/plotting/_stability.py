"""How stable clusters are: each of them, by the number of clusters, and by the resolution of a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ensemblage.base.validation import check_number, check_numbers

from ._axes import Axes, axes_or_new, label_ticks, legend_above, remove_frame
from ._checks import check_length, check_mapping
from ._clusters import confidence_boxes, confidence_quantiles
from ._colors import PALETTE
from ._k_curves import curves_by_number
from ._style import in_style

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
        ``jaccard`` of a ``stability.ClusterStability``. NaN is left out.
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
    >>> from ensemblage.plotting import cluster_jaccards
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
    >>> from ensemblage.plotting import prediction_strengths
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
    """Agreement of the clusterings of resamples at each resolution, and the range of resolutions of each cluster.

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
    >>> from ensemblage.plotting import stability_by_resolution
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
