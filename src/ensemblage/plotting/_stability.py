"""How stable clusters are, and which numbers of clusters are supported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ensemblage.base.validation import check_number, check_numbers

from ._axes import Axes, axes_or_new, label_ticks, remove_frame
from ._checks import check_length, check_mapping
from ._clusters import confidence_boxes, confidence_quantiles
from ._colors import PALETTE
from ._k_curves import curves_by_number

_BOUNDS = {0.6: "doubtful", 0.75: "stable", 0.85: "very stable"}


def cluster_jaccards(jaccard: ArrayLike, *, clusters: Sequence[object] | None = None, ax: Axes | None = None) -> Axes:
    """Jaccard similarities of each cluster with what was found again, and the bounds of its verdict.

    Boxes are those of `confidence_by_cluster`; a diamond is the mean, which decides on the verdict.

    Parameters
    ----------
    jaccard : array-like of float, shape (k, n_comparisons)
        ``jaccard`` of a ``stability.ClusterStability``. NaN is left out.
    clusters : sequence, optional
        Names of the clusters. Default: their numbers.
    {ax}

    Examples
    --------
    >>> from ensemblage.plotting import cluster_jaccards
    >>> cluster_jaccards([[1.0, 0.9, 1.0], [0.4, 0.7, 0.5]]).get_ylabel()
    'Jaccard similarity'
    """
    ax = axes_or_new(ax)
    similar = check_numbers(jaccard, "jaccard of cluster_jaccards", ("k", "n_comparisons"))
    k, p = similar.shape
    check_length(clusters, k, "clusters of cluster_jaccards")
    confidence_boxes(confidence_quantiles(similar.ravel(), np.repeat(np.arange(k), p)), ax=ax)
    means = [row[~np.isnan(row)].mean() if (~np.isnan(row)).any() else np.nan for row in similar]
    ax.scatter(range(k), means, marker="D", s=28, color="white", edgecolors="black", zorder=3)
    for bound, word in _BOUNDS.items():
        ax.axhline(bound, color="0.75", linewidth=0.8, linestyle="--", zorder=0)
        ax.annotate(
            word, (1, bound), xycoords=("axes fraction", "data"), xytext=(3, 1), textcoords="offset points",
            fontsize="x-small", color="0.4", va="bottom",
        )  # fmt: skip
    label_ticks(ax, "x", range(k), range(k) if clusters is None else clusters, most=20)
    return remove_frame(ax, xlabel="cluster", ylabel="Jaccard similarity", ylim=(0, 1.02))


def prediction_strengths(
    strengths: Mapping[int, float],
    errors: Mapping[int, float] | None = None,
    *,
    supported: float = 0.8,
    n_clusters: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Prediction strength by the number of clusters. What reaches above the line with its error is supported.

    Parameters
    ----------
    strengths : mapping of int to float
        Mean strength of each number of clusters.
    errors : mapping of int to float, optional
        Standard errors of the means.
    supported : float, default 0.8
        Where the line is.
    {number_chosen}
    {ax}

    Examples
    --------
    >>> from ensemblage.plotting import prediction_strengths
    >>> prediction_strengths({2: 0.9, 3: 0.95, 4: 0.4}, n_clusters=3).get_ylabel()
    'prediction strength'
    """
    check_number(supported, "supported of prediction_strengths", least=0)
    ax = curves_by_number(ax, {"": strengths}, "prediction strength", n_clusters)
    if errors is not None:
        check_mapping(errors, "errors of prediction_strengths")
        ks = sorted(strengths)
        ax.errorbar(
            ks, [strengths[k] for k in ks], [errors.get(k, 0.0) for k in ks], fmt="none", color=PALETTE[0], capsize=3
        )
    ax.axhline(supported, color="0.6", linewidth=1, linestyle="--")
    ax.set_ylim(0, 1.05)
    return ax
